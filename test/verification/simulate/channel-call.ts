import type {
  ChannelAnswer,
  ChannelAnswers,
  ChannelOperation,
} from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * A backend calls the HTTP API about a channel.
 *
 * @param answered takes undefined if the outcome is unknown
 */
export function callChannel(
  context: WorldContext,
  channel: string,
  operation: ChannelOperation,
  answered: (answer: ChannelAnswer | undefined) => void,
): void {
  context.network.call<readonly ChannelOperation[], ChannelAnswers>({
    kind: "api",
    from: "backend",
    to: channel,
    request: [operation],
    waitMs: limits.objectAnswerMs,
    carryOut: (operations, answer) => context.channel(channel).execute(operations, answer),
    answered: (answers) =>
      answered(answers?.outcome === "answers" ? answers.answers[0] : undefined),
  });
}
