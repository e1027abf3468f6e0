import type { JoinWish } from "../channel/channel.ts";
import type { ChannelOptions } from "../config/config.ts";
import { flagErrorOnUnrecoverable } from "../protocol/command.ts";
import type { SubscribeResult } from "../protocol/reply.ts";
import type { JoinAnswer } from "./ports.ts";
import { ttlSeconds } from "./connect-command.ts";
import type { Grant } from "./grant.ts";

/** What a client says of where it was, in a subscribe or in a connect. */
export interface Recovering {
  readonly recover: boolean;
  readonly epoch: string;
  readonly offset: number;
  readonly flag: number;
}

/** For whom there is nothing to recover. */
export const notRecovering: Recovering = { recover: false, epoch: "", offset: 0, flag: 0 };

/** How a subscriber wants to take up the stream, from what it was granted and what it says of itself. */
export function joinWish(grant: Grant, options: ChannelOptions, request: Recovering): JoinWish {
  const { recoveryMode: mode, autoCacheRecover } = options;
  const since = sinceOf(grant, request, mode === "cache" && autoCacheRecover);
  return {
    positioned: grant.positioned,
    mode,
    // Who asks for nothing isn't refused for want of it: automatic cache recovery is a gift.
    orFail: request.recover && (request.flag & flagErrorOnUnrecoverable) !== 0,
    ...(since === undefined ? {} : { since }),
  };
}

/** The result of a subscribe that was granted and has begun (reference 2.2). */
export function subscribeResult(
  grant: Grant,
  request: Recovering,
  joined: JoinAnswer & { readonly outcome: "joined" },
  nowMs: number,
): SubscribeResult {
  const { position, recovered, publications } = joined;
  return {
    ttlSeconds: ttlSeconds(grant.subscription.expireAtSeconds, nowMs),
    recoverable: grant.recoverable,
    positioned: grant.positioned,
    wasRecovering: grant.recoverable && request.recover,
    recovered,
    publications,
    // A client that recovered walks from where it was through the publications to the top.
    ...(position === undefined
      ? {}
      : { position: recovered ? { ...position, offset: request.offset } : position }),
    ...(grant.subscription.delta === true ? { delta: true } : {}),
    ...(grant.data === undefined ? {} : { data: grant.data }),
  };
}

/** With automatic cache recovery whoever asks for nothing asks for the newest publication. */
function sinceOf(
  grant: Grant,
  { recover, epoch, offset }: Recovering,
  automatic: boolean,
): JoinWish["since"] {
  if (!grant.recoverable) return undefined;
  if (recover) return { epoch, offset };
  return automatic ? { epoch: "", offset: 0 } : undefined;
}
