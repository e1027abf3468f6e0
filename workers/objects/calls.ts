import type { Delivery } from "../../src/channel/follower-progress.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import type { RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  ChannelPresenceReply,
  GatewayPresence,
  RelayReplies,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import type { Env } from "../platform/env.ts";
import { inTime, parseCallFailure } from "../platform/object-call.ts";

/**
 * Tells a gateway what happened, once. What a call came to that failed or took too long nobody knows; to repeat it is the
 * relay's decision, and harmless (rule L1). That what it tells is durable is the output gate's doing (rule O2).
 */
export async function deliver(
  gateways: Env["GATEWAYS"],
  { gateway, batch }: Delivery,
): Promise<RelayBatchReply | "failed"> {
  try {
    const answer = gateways.getByName(gateway).deliver(batch);
    return await inTime<RelayBatchReply | "failed">(answer, limits.objectAnswerMs, "failed");
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) return { outcome: "busy" };
    console.warn(`call to a gateway failed: ${failure.summary}`);
    return "failed";
  }
}

/** Asks all gateways at once who of their clients is present on the channel, for `limits.presenceGatherMs` (rule G6). */
export async function gatherPresence(
  gateways: Env["GATEWAYS"],
  names: readonly string[],
  channel: string,
): Promise<GatheredPresence> {
  const answers = await Promise.all(
    names.map(async (name): Promise<GatewayPresence | undefined> => {
      try {
        const answer = gateways.getByName(name).present(channel);
        return await inTime<GatewayPresence | undefined>(
          answer,
          limits.presenceGatherMs,
          undefined,
        );
      } catch (error) {
        console.warn(`a gateway didn't say who is present: ${parseCallFailure(error).summary}`);
        return undefined;
      }
    }),
  );
  return {
    clients: answers.flatMap((answer) => answer?.clients ?? []),
    complete: answers.every((answer) => answer !== undefined),
  };
}

/**
 * Asks a channel's object on behalf of a gateway, once.
 *
 * @param gateway the name of the one that asks
 * @returns undefined when nobody knows whether the questions were understood
 */
export async function ask(
  channels: Env["CHANNELS"],
  channel: string,
  gateway: string,
  requests: readonly RelayRequest[],
): Promise<RelayReplies | undefined> {
  try {
    const answers = channels.getByName(channel).ask(gateway, requests);
    return await inTime<RelayReplies | undefined>(answers, limits.objectAnswerMs, undefined);
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) return { outcome: "overloaded", retryAfterSeconds: 1 };
    console.warn(`call to a channel failed: ${failure.summary}`);
    return undefined;
  }
}

/** Asks a channel's object who is present, on its own sockets and on those of all its gateways. */
export async function askPresence(
  channels: Env["CHANNELS"],
  channel: string,
): Promise<GatheredPresence | { readonly error: ErrorCode }> {
  try {
    const answer = channels.getByName(channel).present();
    const late = { outcome: "error", error: errorCodes.internal } as const;
    return await inTime<ChannelPresenceReply>(answer, limits.objectAnswerMs, late);
  } catch (error) {
    const failure = parseCallFailure(error);
    console.warn(`call to a channel failed: ${failure.summary}`);
    const { tooManyRequests, internal } = errorCodes;
    return { error: failure.overloaded ? tooManyRequests : internal };
  }
}
