import type { Channel } from "./channel.ts";
import { replyTo } from "./carry-out.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import { isPublishing } from "../contract/channel-call.ts";
import { type RelayEntry, publicationBytes } from "../contract/relay-batch.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";

/**
 * Carries out the requests of one call of a gateway, in order, and returns their replies in that order. All
 * publications in the replies together stay within `limits.answerBytesMax`. A read beyond that is refused, unless it
 * reads a single publication that the gateway itself has missed.
 *
 * @param gateway        the name of the calling gateway
 * @param publishRefused whether the channel object is overloaded (rule B3). Then a publish is answered 111. Every other
 *                       request is carried out, because a refused leave would be lost
 */
export function replyToRequests(
  channel: Channel,
  gateway: string,
  requests: readonly RelayRequest[],
  nowMs: number,
  publishRefused = false,
): readonly RelayReply[] {
  let roomBytes: number = limits.answerBytesMax;
  return requests.map((request) => {
    const reply =
      publishRefused && isPublishing(request)
        ? failed(errorCodes.tooManyRequests)
        : answer(channel, gateway, request, roomBytes, nowMs);
    roomBytes = Math.max(0, roomBytes - bytesOf(reply));
    return reply;
  });
}

/** The bytes of what a reply has read, whichever feature it is of. */
function bytesOf({ publications = [], newer = publications }: ReadReply): number {
  return newer.reduce((sum, each) => sum + publicationBytes(each), 0);
}

/** A reply, as far as it may be large. */
interface ReadReply extends Pick<RelayReply, "outcome"> {
  readonly publications?: readonly Publication[];
  readonly newer?: readonly Publication[];
}

function answer(
  channel: Channel,
  gateway: string,
  request: RelayRequest,
  roomBytes: number,
  nowMs: number,
): RelayReply {
  if ("request" in request) return replyTo(channel, request, nowMs, roomBytes);
  const { method } = request;
  if (method === "follow") return follow(channel, gateway, request.onlooks === true, nowMs);
  if (method === "recover")
    return request.whole === true
      ? (channel.recoverPage(request.since, nowMs, roomBytes) ?? failed(errorCodes.notAvailable))
      : recover(channel, request.since, "stream", roomBytes, nowMs);
  if (method === "newest") return recover(channel, noPosition, "cache", roomBytes, nowMs);
  if (method === "announce") {
    for (const entry of request.entries) announce(channel, entry, nowMs);
    return { outcome: "announced" };
  }
  if (method === "check") {
    channel.relay.check(gateway);
    return { outcome: "checking" };
  }
  for (const part of channel.parts) {
    const reply = part.reply?.(gateway, request, roomBytes, nowMs);
    if (reply !== undefined) return reply;
  }
  // A newer release may send a request that this release doesn't know yet, and may send it again (rule V1).
  return failed(errorCodes.internal);
}

function follow(channel: Channel, gateway: string, onlooks: boolean, nowMs: number): RelayReply {
  // A stream that has ended is deleted first: once the gateway follows the channel, the stream would stay.
  channel.deleteExpired(nowMs);
  const following = channel.relay.follow(gateway, nowMs, onlooks);
  if (following.outcome === "full") return failed(errorCodes.tooManyRequests);
  const position = channel.position(nowMs);
  return position === undefined ? following : { ...following, position };
}

function recover(
  channel: Channel,
  since: StreamPosition,
  mode: "stream" | "cache",
  roomBytes: number,
  nowMs: number,
): RelayReply {
  return channel.recover(since, mode, nowMs, roomBytes) ?? failed(errorCodes.notAvailable);
}

/** Collects an announced entry, or has the features take it. */
export function announce(channel: Channel, entry: RelayEntry, nowMs: number): void {
  if (entry.type === "join" || entry.type === "leave") channel.announce(entry.type, entry.info);
  else if (entry.type === "sole") channel.makeExclusive(entry.user, entry.client);
  else for (const part of channel.parts) part.announced?.(entry, nowMs);
}

function failed(error: ErrorCode): RelayReply {
  return { outcome: "failed", error };
}

/** A position that is never the top, so that a request for the newest publication gets it in any case. */
const noPosition: StreamPosition = { offset: 0, epoch: "" };
