import type { ChannelAnswers, ChannelOperation } from "../../../src/contract/channel-call.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { limits } from "../../../src/limits.ts";
import type {
  CursorRules,
  DeliveredAnswer,
  KnownMarks,
  MarkAnswer,
  UnreadAnswer,
} from "./cursor-rules.ts";
import type { WorldContext } from "./world-context.ts";

/** Marks what users have read through the HTTP API, and asks what is unread. */
export class CursorBackend {
  readonly #context: WorldContext;
  readonly #rules: CursorRules;

  constructor(context: WorldContext) {
    this.#context = context;
    this.#rules = context.cursors;
  }

  /** @param epoch "" for the epoch of now */
  mark(channel: string, user: string, offset: number, epoch: string): void {
    this.#rules.marks(channel, user, { epoch, offset }, false);
    const known = this.#rules.known(channel, user);
    const operation = { method: "mark_read", request: { user, offset, epoch } } as const;
    this.#call(known, operation, (text) => {
      const answer: MarkAnswer = JSON.parse(text);
      this.#rules.marked(known, answer);
    });
  }

  countUnread(channel: string, user: string): void {
    const known = this.#rules.known(channel, user);
    const operation = { method: "unread", request: { user } } as const;
    this.#call(known, operation, (text) => {
      const answer: UnreadAnswer = JSON.parse(text);
      this.#rules.counted(known, answer);
    });
  }

  /** Asks what the user is known to have got. @param heard takes the answer */
  askDelivered(channel: string, user: string, heard?: (answer: DeliveredAnswer) => void): void {
    const known = this.#rules.known(channel, user);
    const operation = { method: "delivered", request: { user } } as const;
    this.#call(known, operation, (text) => {
      const answer: DeliveredAnswer = JSON.parse(text);
      this.#rules.delivered(known, answer);
      heard?.(answer);
    });
  }

  #call(
    { channel }: KnownMarks,
    operation: ChannelOperation,
    answered: (result: string) => void,
  ): void {
    const { network, publicationLog } = this.#context;
    network.call<readonly ChannelOperation[], ChannelAnswers>({
      kind: "api",
      from: "backend",
      to: channel,
      request: [operation],
      waitMs: limits.objectAnswerMs,
      carryOut: (operations, answer) => this.#context.channel(channel).execute(operations, answer),
      answered: (answers) => {
        const answer = answers?.outcome === "answers" ? answers.answers[0] : undefined;
        if (answer === undefined) return;
        if ("result" in answer) answered(answer.result);
        else if (!refusals.has(answer.error.code))
          publicationLog.complain(`${operation.method} was refused: ${answer.error.code}`);
      },
    });
  }
}

/** A mark may be beyond the top, or of another epoch (rule CU3). */
const refusals: ReadonlySet<number> = new Set([
  errorCodes.badRequest.code,
  errorCodes.unrecoverablePosition.code,
]);
