import type { ErrorCode } from "../codes.ts";
import type {
  ConnectResult,
  Expiry,
  Reply,
  SubscribeResult,
  HistoryResult,
  PresenceResult,
  PresenceStatsResult,
  Push,
} from "../reply.ts";
import { trustedJsonText, type JsonText } from "./text.ts";
import type { Publication, StreamPosition, ClientInfo } from "../publication.ts";
import type { Message } from "../codec.ts";
import { payloadJson } from "../payload.ts";

/**
 * A reply as JSON on one line. Fields stand in the order of their numbers, and what is zero, false or empty is left
 * out but where docs/protocol.md 1.3 says "always": SDKs read those without asking whether they are there.
 */
export function encodeReply(reply: Reply): string {
  if ("error" in reply) return `{"id":${reply.id},"error":${encodeError(reply.error)}}`;
  return `{"id":${reply.id},"${reply.method}":${encodeResult(reply)}}`;
}

function encodeError(error: ErrorCode): string {
  const temporary = error.temporary ? ',"temporary":true' : "";
  return `{"code":${error.code},"message":${JSON.stringify(error.message)}${temporary}}`;
}

function encodeResult(reply: Exclude<Reply, { readonly error: ErrorCode }>): string {
  switch (reply.method) {
    case "connect":
      return encodeConnect(reply.result);
    case "subscribe":
      return encodeSubscribe(reply.result);
    case "presence":
      return encodePresence(reply.result);
    case "presence_stats":
      return encodePresenceStats(reply.result);
    case "history":
      return encodeHistory(reply.result);
    case "refresh":
    case "sub_refresh":
      return braced(expiryFields(reply.result));
    case "unsubscribe":
    case "publish":
    case "rpc":
      return "{}";
  }
}

function encodeConnect(result: ConnectResult): string {
  let fields = `,"client":${JSON.stringify(result.client)}`;
  fields += `,"version":${JSON.stringify(result.version)}`;
  fields += expiryFields(result);
  if (result.subscriptions !== undefined && result.subscriptions.size > 0) {
    fields += `,"subs":${encodeSubscriptions(result.subscriptions)}`;
  }
  if (result.pingSeconds > 0) fields += `,"ping":${result.pingSeconds}`;
  if (result.pong) fields += ',"pong":true';
  if (result.session !== undefined) fields += `,"session":${JSON.stringify(result.session)}`;
  if (result.node !== undefined) fields += `,"node":${JSON.stringify(result.node)}`;
  if (result.timeMs !== undefined) fields += `,"time":${result.timeMs}`;
  return braced(fields);
}

function encodeSubscriptions(subscriptions: ReadonlyMap<string, SubscribeResult>): string {
  const members = Array.from(
    subscriptions,
    ([channel, result]) => `${JSON.stringify(channel)}:${encodeSubscribe(result)}`,
  );
  return `{${members.join(",")}}`;
}

function encodeSubscribe(result: SubscribeResult): string {
  const { position, publications } = result;
  let fields = expiryFields(result);
  if (result.recoverable) fields += ',"recoverable":true';
  if (position !== undefined && position.epoch !== "") {
    fields += `,"epoch":${JSON.stringify(position.epoch)}`;
  }
  if (publications.length > 0) fields += `,"publications":${encodePublications(publications)}`;
  if (result.recovered) fields += ',"recovered":true';
  if (position !== undefined && position.offset > 0) fields += `,"offset":${position.offset}`;
  if (result.positioned) fields += ',"positioned":true';
  if (result.data !== undefined) fields += `,"data":${result.data}`;
  if (result.wasRecovering) fields += ',"was_recovering":true';
  if (result.delta === true) fields += ',"delta":true';
  return braced(fields);
}

function expiryFields(expiry: Expiry): string {
  return expiry.ttlSeconds > 0 ? `,"expires":true,"ttl":${expiry.ttlSeconds}` : "";
}

/** An object of fields that each begin with a comma. */
function braced(fields: string): string {
  return `{${fields.slice(1)}}`;
}

/**
 * Results that clients and the HTTP API are given alike, as JSON on one line. SDKs read these fields without asking
 * whether they are there, so all of them always are (docs/protocol.md 1.3). Only `incomplete`, which is ours, comes when it is
 * true.
 */
export function encodeHistory({ publications, position }: HistoryResult): JsonText {
  const epoch = JSON.stringify(position.epoch);
  return trustedJsonText(
    `{"publications":${encodePublications(publications)},"epoch":${epoch},"offset":${position.offset}}`,
  );
}

/** Everybody present, by connection ID. */
export function encodePresence({ clients, incomplete }: PresenceResult): JsonText {
  const members = clients.map((info) => `${JSON.stringify(info.client)}:${encodeClientInfo(info)}`);
  return trustedJsonText(`{"presence":{${members.join(",")}}${incompleteField(incomplete)}}`);
}

/** How many are present. */
export function encodePresenceStats(result: PresenceStatsResult): JsonText {
  const { clientCount, userCount, incomplete } = result;
  return trustedJsonText(
    `{"num_clients":${clientCount},"num_users":${userCount}${incompleteField(incomplete)}}`,
  );
}

/** Where a publication went; `{}` for one without history. Only the HTTP API tells. */
export function encodePosition(position: StreamPosition | undefined): JsonText {
  if (position === undefined) return trustedJsonText("{}");
  return trustedJsonText(`{"offset":${position.offset},"epoch":${JSON.stringify(position.epoch)}}`);
}

/** Publications in their order, as an array. */
function encodePublications(publications: readonly Publication[]): JsonText {
  return trustedJsonText(`[${publications.map(encodePublication).join(",")}]`);
}

function incompleteField(incomplete: boolean | undefined): string {
  return incomplete === true ? ',"incomplete":true' : "";
}

/** A push as JSON on one line (docs/protocol.md 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  return `{"push":${encodeBare(push)}}`;
}

/** The same without the wrapper that tells pushes from replies. */
export function encodeBare(push: Push): JsonText {
  if (push.type === "disconnect") {
    const { code, reason } = push.code;
    return trustedJsonText(`{"disconnect":{"code":${code},"reason":${JSON.stringify(reason)}}}`);
  }
  return trustedJsonText(`{"channel":${JSON.stringify(push.channel)},${encodeContent(push)}}`);
}

function encodeContent(push: Exclude<Push, { readonly type: "disconnect" }>): string {
  switch (push.type) {
    case "publication":
      return `"pub":${encodePublication(push.publication)}`;
    case "unsubscribe":
      return `"unsubscribe":{"code":${push.code.code},"reason":${JSON.stringify(push.code.reason)}}`;
    case "join":
    case "leave":
      break;
  }
  return `"${push.type}":{"info":${encodeClientInfo(push.info)}}`;
}

/**
 * A publication as JSON, fields in the order of their numbers (docs/protocol.md 1.3), payload spliced in untouched (rule W2).
 * The text stands on one line. On the way of every publication, so it is written plainly.
 */
export function encodePublication(publication: Publication): string {
  const { data } = publication;
  let json = `{"data":${typeof data === "string" ? data : payloadJson(data)}`;
  if (publication.info !== undefined) json += `,"info":${encodeClientInfo(publication.info)}`;
  if (publication.offset > 0) json += `,"offset":${publication.offset}`;
  if (publication.tags !== undefined) {
    const tags = JSON.stringify(publication.tags);
    if (tags !== "{}") json += `,"tags":${tags}`;
  }
  if (publication.delta === true) json += ',"delta":true';
  if (publication.epoch !== undefined && publication.epoch !== "") {
    json += `,"epoch":${JSON.stringify(publication.epoch)}`;
  }
  return `${json}}`;
}

/** Who a client is, as JSON on one line. `user` and `client` are there even when empty: SDKs rely on both. */
export function encodeClientInfo(info: ClientInfo): string {
  let json = `{"user":${JSON.stringify(info.user)},"client":${JSON.stringify(info.client)}`;
  if (info.connInfo !== undefined) json += `,"conn_info":${info.connInfo}`;
  if (info.chanInfo !== undefined) json += `,"chan_info":${info.chanInfo}`;
  return `${json}}`;
}
