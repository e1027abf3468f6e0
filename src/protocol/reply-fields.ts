/**
 * The fields of all that the server sends (docs/protocol.md 1.2 and 1.3), for the three formats at once: a new field is
 * one line here. The numbers and names are those of client.proto, to which a test holds them. Fields stand in the order
 * of their numbers, in which every format writes them. "always" marks the fields that SDKs read without checking for
 * their presence, and those that are absent only if they are undefined.
 */
import type { DisconnectCode, ErrorCode, UnsubscribeCode } from "./codes.ts";
import type { FieldWriter } from "./fields.ts";
import { isNoPayload, type Payload } from "./payload.ts";
import type { ClientInfo, Publication } from "./publication.ts";
import type {
  ChangeResult,
  ConnectResult,
  Expiry,
  HistoryResult,
  PresenceResult,
  PresenceStatsResult,
  Push,
  PushedSubscription,
  Reply,
  SubRefreshResult,
  SubscribeResult,
} from "./reply.ts";

/** The fields of a reply to a command. */
export function replyFields(out: FieldWriter, reply: Reply): void {
  out.unsigned(1, "id", reply.id, "always");
  if ("error" in reply) return out.message(2, "error", reply.error, errorFields);
  switch (reply.method) {
    case "connect":
      return out.message(5, "connect", reply.result, connectFields);
    case "subscribe":
      return out.message(6, "subscribe", reply.result, subscribeFields);
    case "unsubscribe":
      return out.message(7, "unsubscribe", reply, noFields);
    case "publish":
      return out.message(8, "publish", reply, noFields);
    case "presence":
      return out.message(9, "presence", reply.result, presenceFields);
    case "presence_stats":
      return out.message(10, "presence_stats", reply.result, presenceStatsFields);
    case "history":
      return out.message(11, "history", reply.result, historyFields);
    case "rpc":
      return out.message(13, "rpc", reply, rpcFields);
    case "refresh":
      return out.message(14, "refresh", reply.result, refreshFields);
    case "sub_refresh":
      return out.message(15, "sub_refresh", reply.result, subRefreshFields);
  }
}

/** The fields of the reply that carries a push. */
export function pushReplyFields(out: FieldWriter, push: Push): void {
  out.message(4, "push", push, pushFields);
}

/** The fields of a push. */
export function pushFields(out: FieldWriter, push: Push): void {
  if ("channel" in push) out.text(2, "channel", push.channel, "always");
  switch (push.type) {
    case "publication":
      return out.message(4, "pub", push.publication, publicationFields);
    case "join":
      return out.message(5, "join", push, joinFields);
    case "leave":
      return out.message(6, "leave", push, joinFields);
    case "unsubscribe":
      return out.message(7, "unsubscribe", push.code, unsubscribeFields);
    case "subscribe":
      return out.message(9, "subscribe", push.result, pushedSubscriptionFields);
    case "disconnect":
      return out.message(11, "disconnect", push.code, disconnectFields);
    case "refresh":
      return out.message(12, "refresh", push.expiry, pushedRefreshFields);
  }
}

function errorFields(out: FieldWriter, error: ErrorCode): void {
  out.unsigned(1, "code", error.code, "always");
  out.text(2, "message", error.message, "always");
  out.flag(3, "temporary", error.temporary);
}

function connectFields(out: FieldWriter, result: ConnectResult): void {
  out.text(1, "client", result.client, "always");
  out.text(2, "version", result.version, "always");
  out.flag(3, "expires", result.ttlSeconds > 0);
  out.seconds(4, "ttl", result.ttlSeconds);
  out.json(5, "data", result.data);
  out.map(6, "subs", [...(result.subscriptions ?? [])], subscribeFields);
  out.seconds(7, "ping", result.pingSeconds);
  out.flag(8, "pong", result.pong);
  out.text(9, "session", result.session, "always");
  out.text(10, "node", result.node, "always");
  out.unsigned(11, "time", result.timeMs, "always");
}

function subscribeFields(out: FieldWriter, result: SubscribeResult): void {
  out.flag(1, "expires", result.ttlSeconds > 0);
  out.seconds(2, "ttl", result.ttlSeconds);
  out.flag(3, "recoverable", result.recoverable);
  out.text(6, "epoch", result.position?.epoch);
  out.sharedMessages(7, "publications", result.publications, publicationFields);
  out.flag(8, "recovered", result.recovered);
  out.unsigned(9, "offset", result.position?.offset);
  out.flag(10, "positioned", result.positioned);
  out.json(11, "data", result.data);
  out.flag(12, "was_recovering", result.wasRecovering);
  out.flag(13, "delta", result.delta);
  out.unsigned(15, "type", result.type);
  out.unsigned(16, "phase", result.phase);
  out.text(17, "cursor", result.cursor);
  out.sharedMessages(18, "state", result.state ?? [], publicationFields);
  out.unsigned(19, "publish_debounce", result.publishDebounceMs);
}

/** The fields of a presence result: the clients that are present, by connection ID. */
export function presenceFields(out: FieldWriter, result: PresenceResult): void {
  out.sharedMap(1, "presence", result.parts, clientOf, clientInfoFields, "always");
  out.flag(1000, "incomplete", result.incomplete);
}

/** The fields of a presence-stats result: how many clients and users are present. */
export function presenceStatsFields(out: FieldWriter, result: PresenceStatsResult): void {
  out.unsigned(1, "num_clients", result.clientCount, "always");
  out.unsigned(2, "num_users", result.userCount, "always");
  out.flag(1000, "incomplete", result.incomplete);
}

/** The fields of the result of a change, which only the HTTP API tells. */
export function changeFields(out: FieldWriter, result: ChangeResult): void {
  const { offset, epoch, reason, currentOffset } = result;
  out.unsigned(1, "offset", offset, "always");
  out.text(2, "epoch", epoch, "always");
  out.flag(3, "suppressed", reason !== undefined);
  out.text(4, "suppress_reason", reason);
  out.unsigned(1000, "current_offset", currentOffset, "always");
}

/** The fields of a history result. */
export function historyFields(out: FieldWriter, result: HistoryResult): void {
  out.messages(1, "publications", result.publications, publicationFields, "always");
  out.text(2, "epoch", result.position.epoch, "always");
  out.unsigned(3, "offset", result.position.offset, "always");
}

function refreshFields(out: FieldWriter, result: Expiry): void {
  out.flag(3, "expires", result.ttlSeconds > 0);
  out.seconds(4, "ttl", result.ttlSeconds);
}

function pushedRefreshFields(out: FieldWriter, expiry: Expiry): void {
  out.flag(1, "expires", expiry.ttlSeconds > 0);
  out.seconds(2, "ttl", expiry.ttlSeconds);
}

function subRefreshFields(out: FieldWriter, result: SubRefreshResult): void {
  pushedRefreshFields(out, result);
  out.messages(3, "items", result.items ?? [], publicationFields);
}

function noFields(): void {
  // The results of unsubscribe and publish are empty.
}

function rpcFields(out: FieldWriter, { data }: { readonly data?: Payload }): void {
  if (data !== undefined) out.payload(1, "data", data);
}

/**
 * The fields of a publication. They are written for each publication, so this function and all that it calls must stay
 * fast.
 */
function publicationFields(out: FieldWriter, publication: Publication): void {
  const hasKey = publication.key !== undefined;
  if (!hasKey || (publication.removed !== true && !isNoPayload(publication.data)))
    out.payload(4, "data", publication.data);
  out.message(5, "info", publication.info, clientInfoFields);
  out.unsigned(6, "offset", publication.offset);
  out.textMap(7, "tags", publication.tags);
  out.flag(8, "delta", publication.delta);
  if (hasKey) keyFields(out, publication);
  out.text(14, "epoch", publication.epoch);
  if (hasKey) versionFields(out, publication);
}

function keyFields(out: FieldWriter, { key, removed, score }: Publication): void {
  out.text(11, "key", key);
  out.flag(12, "removed", removed);
  out.signed(13, "score", score);
}

function versionFields(out: FieldWriter, { prevData, version }: Publication): void {
  if (prevData !== undefined) out.payload(15, "prev_data", prevData);
  out.wide(16, "version", version);
}

function clientOf(info: ClientInfo): string {
  return info.client;
}

/** The fields of a client info. */
export function clientInfoFields(out: FieldWriter, info: ClientInfo): void {
  out.text(1, "user", info.user, "always");
  out.text(2, "client", info.client, "always");
  out.json(3, "conn_info", info.connInfo);
  out.json(4, "chan_info", info.chanInfo);
}

function joinFields(out: FieldWriter, push: { readonly info: ClientInfo }): void {
  out.message(1, "info", push.info, clientInfoFields);
}

function unsubscribeFields(out: FieldWriter, { code, reason }: UnsubscribeCode): void {
  out.unsigned(2, "code", code, "always");
  out.text(3, "reason", reason, "always");
}

function pushedSubscriptionFields(out: FieldWriter, result: PushedSubscription): void {
  out.flag(1, "recoverable", result.recoverable);
  out.text(4, "epoch", result.position?.epoch);
  out.unsigned(5, "offset", result.position?.offset);
  out.flag(6, "positioned", result.positioned);
  out.json(7, "data", result.data);
}

function disconnectFields(out: FieldWriter, { code, reason }: DisconnectCode): void {
  out.unsigned(1, "code", code, "always");
  out.text(2, "reason", reason, "always");
}
