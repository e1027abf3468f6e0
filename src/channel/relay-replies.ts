import { type Channel, historyError } from "./channel.ts";
import { clientPublication } from "./publication-request.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import { type RelayEntry, publicationBytes } from "../contract/relay-batch.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";

/**
 * Answers what a gateway asks for its clients, in order. All publications together stay within `limits.answerBytesMax`: a
 * read that would go beyond is refused, but for a single publication that a gateway has missed.
 *
 * @param gateway        who asks
 * @param publishRefused the channel's sockets are too far behind to take publications (rule B3): a publish is answered 111.
 *                       Everything else is carried out, or leaves would be lost
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
      publishRefused && request.method === "publish"
        ? failed(errorCodes.tooManyRequests)
        : replyTo(channel, gateway, request, roomBytes, nowMs);
    if ("publications" in reply) {
      const bytes = reply.publications.reduce((sum, each) => sum + publicationBytes(each), 0);
      roomBytes = Math.max(0, roomBytes - bytes);
    }
    return reply;
  });
}

function replyTo(
  channel: Channel,
  gateway: string,
  request: RelayRequest,
  roomBytes: number,
  nowMs: number,
): RelayReply {
  switch (request.method) {
    case "follow":
      return follow(channel, gateway, nowMs);
    case "recover":
      return request.whole === true
        ? (channel.recoverPage(request.since, nowMs, roomBytes) ?? failed(errorCodes.notAvailable))
        : recover(channel, request.since, "stream", roomBytes, nowMs);
    case "newest":
      return recover(channel, noPosition, "cache", roomBytes, nowMs);
    case "publish": {
      const outcome = channel.publish(clientPublication(request.data), request.info, nowMs);
      if (outcome.outcome === "too-many-keys") return failed(errorCodes.tooManyRequests);
      const { instance, sequence } = channel.relay;
      return { outcome: "published", instance, sequence };
    }
    case "history": {
      const bytesMax = Math.min(request.bytesMax, roomBytes);
      const outcome = channel.history(request.query, nowMs, bytesMax);
      return outcome.outcome === "history" ? outcome : failed(historyError(outcome.outcome));
    }
    case "announce":
      for (const entry of request.entries) announce(channel, entry);
      return { outcome: "announced" };
    default:
      // A newer release may ask what this one doesn't know yet; it may ask again.
      return failed(errorCodes.internal);
  }
}

function follow(channel: Channel, gateway: string, nowMs: number): RelayReply {
  // A stream that has ended goes first: once the gateway follows, it would stay.
  channel.deleteExpired(nowMs);
  const following = channel.relay.follow(gateway, nowMs);
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

function announce(channel: Channel, entry: RelayEntry): void {
  switch (entry.type) {
    case "join":
    case "leave":
      channel.announce(entry.type, entry.info);
      return;
    case "sole":
      channel.makeExclusive(entry.user, entry.client);
      return;
    case "publication":
    case "removed":
    // Only the channel itself knows of these.
  }
}

function failed(error: ErrorCode): RelayReply {
  return { outcome: "error", error };
}

/** Where nobody is who has the newest publication. */
const noPosition: StreamPosition = { offset: 0, epoch: "" };
