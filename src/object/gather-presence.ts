import type { GatheredPresence } from "../channel/presence.ts";
import { limits } from "../limits.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import { answerOf } from "./object-call.ts";
import type { Platform } from "./platform.ts";

/**
 * Asks all gateways at once which of their clients are present on a channel (rule G6).
 *
 * @param gateways their names
 * @param shown    whether those are meant that a presence map shows
 * @param done     takes the clients of all gateways that answered within `limits.presenceGatherMs`
 */
export function gatherPresence(
  { call }: Pick<Platform, "call">,
  gateways: readonly string[],
  channel: string,
  shown: boolean,
  done: (gathered: GatheredPresence) => void,
): void {
  const answers: (readonly ClientInfo[] | undefined)[] = [];
  let missing = gateways.length;
  const gathered = (): void =>
    done({
      clients: answers.flatMap((clients) => clients ?? []),
      complete: answers.every((clients) => clients !== undefined),
    });
  if (missing === 0) gathered();
  const request = [channel, shown] as const;
  for (const [index, gateway] of gateways.entries()) {
    call("presentOnGateway", gateway, request, limits.presenceGatherMs, (reply) => {
      answers[index] = answerOf(reply)?.clients;
      missing--;
      if (missing === 0) gathered();
    });
  }
}
