import type { Message } from "../codec.ts";
import type { ErrorCode } from "../codes.ts";
import { MessagePackWriter, type OpenMap } from "./writer.ts";
import { payloadBytes } from "../payload.ts";
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
import type { ClientInfo, Publication } from "../publication.ts";

/**
 * A reply as a map. It has the fields that the reply in JSON has, in the same order: what is zero, false or empty is left
 * out but where docs/protocol.md 1.3 says "always".
 */
export function encodeReply(reply: Reply): Message {
  const writer = new MessagePackWriter(256);
  const root = writer.openMap();
  writer.key(root, "id");
  writer.unsigned(reply.id);
  if ("error" in reply) {
    writer.key(root, "error");
    writeError(writer, reply.error);
  } else {
    writer.key(root, reply.method);
    writeResult(writer, reply);
  }
  return writer.finish();
}

function writeError(writer: MessagePackWriter, error: ErrorCode): void {
  const map = writer.openMap();
  writer.key(map, "code");
  writer.unsigned(error.code);
  writer.key(map, "message");
  writer.text(error.message);
  writeFlag(writer, map, "temporary", error.temporary);
}

function writeResult(
  writer: MessagePackWriter,
  reply: Exclude<Reply, { readonly error: ErrorCode }>,
): void {
  switch (reply.method) {
    case "connect":
      return writeConnect(writer, reply.result);
    case "subscribe":
      return writeSubscribe(writer, reply.result);
    case "presence":
      return writePresence(writer, reply.result);
    case "presence_stats":
      return writePresenceStats(writer, reply.result);
    case "history":
      return writeHistory(writer, reply.result);
    case "refresh":
    case "sub_refresh":
      return writeExpiry(writer, writer.openMap(), reply.result);
    case "unsubscribe":
    case "publish":
    case "rpc":
      return writer.map(0);
  }
}

function writeConnect(writer: MessagePackWriter, result: ConnectResult): void {
  const map = writer.openMap();
  writeText(writer, map, "client", result.client);
  writeText(writer, map, "version", result.version);
  writeExpiry(writer, map, result);
  if (result.subscriptions !== undefined && result.subscriptions.size > 0) {
    writer.key(map, "subs");
    writer.map(result.subscriptions.size);
    for (const [channel, subscription] of result.subscriptions) {
      writer.text(channel);
      writeSubscribe(writer, subscription);
    }
  }
  if (result.pingSeconds > 0) writeUnsigned(writer, map, "ping", result.pingSeconds);
  writeFlag(writer, map, "pong", result.pong);
  if (result.session !== undefined) writeText(writer, map, "session", result.session);
  if (result.node !== undefined) writeText(writer, map, "node", result.node);
  if (result.timeMs !== undefined) writeUnsigned(writer, map, "time", result.timeMs);
}

function writeSubscribe(writer: MessagePackWriter, result: SubscribeResult): void {
  const { position, publications } = result;
  const map = writer.openMap();
  writeExpiry(writer, map, result);
  writeFlag(writer, map, "recoverable", result.recoverable);
  if (position !== undefined && position.epoch !== "") {
    writeText(writer, map, "epoch", position.epoch);
  }
  if (publications.length > 0) {
    writer.key(map, "publications");
    writePublications(writer, publications);
  }
  writeFlag(writer, map, "recovered", result.recovered);
  if (position !== undefined && position.offset > 0) {
    writeUnsigned(writer, map, "offset", position.offset);
  }
  writeFlag(writer, map, "positioned", result.positioned);
  if (result.data !== undefined) {
    writer.key(map, "data");
    writer.binary(payloadBytes(result.data));
  }
  writeFlag(writer, map, "was_recovering", result.wasRecovering);
  writeFlag(writer, map, "delta", result.delta === true);
}

function writeExpiry(writer: MessagePackWriter, map: OpenMap, { ttlSeconds }: Expiry): void {
  if (ttlSeconds <= 0) return;
  writeFlag(writer, map, "expires", true);
  writeUnsigned(writer, map, "ttl", ttlSeconds);
}

function writeText(writer: MessagePackWriter, map: OpenMap, name: string, text: string): void {
  writer.key(map, name);
  writer.text(text);
}

function writeUnsigned(writer: MessagePackWriter, map: OpenMap, name: string, value: number): void {
  writer.key(map, name);
  writer.unsigned(value);
}

/** Only what is true is said. */
function writeFlag(writer: MessagePackWriter, map: OpenMap, name: string, flag: boolean): void {
  if (!flag) return;
  writer.key(map, name);
  writer.flag(true);
}

/** These results have all their fields always (docs/protocol.md 1.3). Only `incomplete`, which is ours, comes when it is true. */
function writeHistory(writer: MessagePackWriter, { publications, position }: HistoryResult): void {
  const map = writer.openMap();
  writer.key(map, "publications");
  writePublications(writer, publications);
  writer.key(map, "epoch");
  writer.text(position.epoch);
  writer.key(map, "offset");
  writer.unsigned(position.offset);
}

/** Everybody present, by connection ID. */
function writePresence(writer: MessagePackWriter, result: PresenceResult): void {
  const map = writer.openMap();
  writer.key(map, "presence");
  writer.map(result.clients.length);
  for (const info of result.clients) {
    writer.text(info.client);
    writeClientInfo(writer, info);
  }
  writeIncomplete(writer, map, result.incomplete);
}

/** How many are present. */
function writePresenceStats(writer: MessagePackWriter, result: PresenceStatsResult): void {
  const map = writer.openMap();
  writer.key(map, "num_clients");
  writer.unsigned(result.clientCount);
  writer.key(map, "num_users");
  writer.unsigned(result.userCount);
  writeIncomplete(writer, map, result.incomplete);
}

function writeIncomplete(
  writer: MessagePackWriter,
  map: OpenMap,
  incomplete: boolean | undefined,
): void {
  if (incomplete !== true) return;
  writer.key(map, "incomplete");
  writer.flag(true);
}

/** A push as a map (docs/protocol.md 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  // A payload is written into room that was made for it; all else is small as a rule.
  const payloadUnits = push.type === "publication" ? push.publication.data.length : 0;
  const writer = new MessagePackWriter(payloadUnits + restBytesExpected);
  const root = writer.openMap();
  writer.key(root, "push");
  writeBare(writer, push);
  return writer.finish();
}

function writeBare(writer: MessagePackWriter, push: Push): void {
  const map = writer.openMap();
  if (push.type !== "disconnect") {
    writer.key(map, "channel");
    writer.text(push.channel);
  }
  switch (push.type) {
    case "publication":
      writer.key(map, "pub");
      return writePublication(writer, push.publication);
    case "unsubscribe":
    case "disconnect":
      writer.key(map, push.type);
      return writeCode(writer, push.code);
    case "join":
    case "leave": {
      writer.key(map, push.type);
      const content = writer.openMap();
      writer.key(content, "info");
      return writeClientInfo(writer, push.info);
    }
  }
}

function writeCode(
  writer: MessagePackWriter,
  { code, reason }: { readonly code: number; readonly reason: string },
): void {
  const map = writer.openMap();
  writer.key(map, "code");
  writer.unsigned(code);
  writer.key(map, "reason");
  writer.text(reason);
}

const restBytesExpected = 256;

/**
 * Writes a publication as a map, fields in the order of their numbers (docs/protocol.md 1.3), payload bytes untouched (rule W2). On
 * the way of every publication, so it is written plainly.
 */
function writePublication(writer: MessagePackWriter, publication: Publication): void {
  const map = writer.openMap();
  writer.key(map, "data");
  writer.binary(payloadBytes(publication.data));
  if (publication.info !== undefined) {
    writer.key(map, "info");
    writeClientInfo(writer, publication.info);
  }
  if (publication.offset > 0) {
    writer.key(map, "offset");
    writer.unsigned(publication.offset);
  }
  const tags = Object.entries(publication.tags ?? {});
  if (tags.length > 0) {
    writer.key(map, "tags");
    writer.map(tags.length);
    for (const [name, value] of tags) {
      writer.text(name);
      writer.text(value);
    }
  }
  if (publication.delta === true) {
    writer.key(map, "delta");
    writer.flag(true);
  }
  if (publication.epoch !== undefined && publication.epoch !== "") {
    writer.key(map, "epoch");
    writer.text(publication.epoch);
  }
}

/** Writes publications in their order, as an array. */
function writePublications(writer: MessagePackWriter, publications: readonly Publication[]): void {
  writer.array(publications.length);
  for (const publication of publications) writePublication(writer, publication);
}

/** Writes who a client is, as a map. `user` and `client` are there even when empty: SDKs rely on both. */
function writeClientInfo(writer: MessagePackWriter, info: ClientInfo): void {
  const map = writer.openMap();
  writer.key(map, "user");
  writer.text(info.user);
  writer.key(map, "client");
  writer.text(info.client);
  if (info.connInfo !== undefined) {
    writer.key(map, "conn_info");
    writer.binary(payloadBytes(info.connInfo));
  }
  if (info.chanInfo !== undefined) {
    writer.key(map, "chan_info");
    writer.binary(payloadBytes(info.chanInfo));
  }
}
