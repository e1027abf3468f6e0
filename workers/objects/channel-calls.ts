import type { GatheredPresence } from "../../src/channel/presence.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import type {
  RelayReplies,
  ChannelPresenceReply,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { Env } from "../platform/env.ts";
import { inTime, parseCallFailure } from "../platform/object-call.ts";

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
