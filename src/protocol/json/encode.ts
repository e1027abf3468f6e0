import {
  clientInfoFields,
  historyFields,
  presenceFields,
  presenceStatsFields,
  pushFields,
  pushReplyFields,
  replyFields,
} from "../reply-fields.ts";
import type { ClientInfo, StreamPosition } from "../publication.ts";
import type { HistoryResult, PresenceResult, PresenceStatsResult, Push, Reply } from "../reply.ts";
import { trustedJsonText, type JsonText } from "./text.ts";
import { jsonOf } from "./writer.ts";

/**
 * Replies and pushes in JSON, and the results that clients and the HTTP API get alike. Each is on one line; the fields
 * are those of `reply-fields.ts`.
 */

/** A reply as JSON. */
export function encodeReply(reply: Reply): string {
  return jsonOf(reply, replyFields);
}

/** A push as JSON, in the reply that carries it. */
export function encodePush(push: Push): string {
  return jsonOf(push, pushReplyFields);
}

/** A push as JSON without the reply around it, as unidirectional clients get it (rule T8). */
export function encodeBare(push: Push): string {
  return jsonOf(push, pushFields);
}

/** Publications of the history, and the top. */
export function encodeHistory(result: HistoryResult): JsonText {
  return trustedJsonText(jsonOf(result, historyFields));
}

/** The clients that are present, by connection ID. */
export function encodePresence(result: PresenceResult): JsonText {
  return trustedJsonText(jsonOf(result, presenceFields));
}

/** How many clients and users are present. */
export function encodePresenceStats(result: PresenceStatsResult): JsonText {
  return trustedJsonText(jsonOf(result, presenceStatsFields));
}

/** The position of a publication; `{}` for one without history. Only the HTTP API tells it. */
export function encodePosition(position: StreamPosition | undefined): JsonText {
  if (position === undefined) return trustedJsonText("{}");
  return trustedJsonText(`{"offset":${position.offset},"epoch":${JSON.stringify(position.epoch)}}`);
}

/** A client info as JSON. */
export function encodeClientInfo(info: ClientInfo): string {
  return jsonOf(info, clientInfoFields);
}
