import type { Message } from "../codec.ts";
import type { ErrorCode } from "../codes.ts";
import { writeHistory, writePresence, writePresenceStats } from "./messagepack-result.ts";
import { writePublications } from "./messagepack-publication.ts";
import { MessagePackWriter, type OpenMap } from "./writer.ts";
import { payloadBytes } from "../payload.ts";
import type { ConnectResult, Expiry, Reply, SubscribeResult } from "../reply.ts";

/**
 * A reply as a map. It has the fields that the reply in JSON has, in the same order: what is zero, false or empty is left
 * out but where the reference says "always" (1.3).
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
