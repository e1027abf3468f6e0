import type { Message } from "../codec.ts";
import type { ErrorCode } from "../codes.ts";
import { ProtobufWriter } from "./writer.ts";
import type { ConnectResult, Expiry, Reply, SubscribeResult, Push } from "../reply.ts";
import { payloadBytes } from "../payload.ts";
import type { ClientInfo, Publication } from "../publication.ts";

/** A reply after its length, fields in the order of their numbers (docs/protocol.md 1.2 and 1.3). */
export function encodeReply(reply: Reply): Message {
  const writer = new ProtobufWriter();
  writer.unsigned(1, reply.id);
  if ("error" in reply) {
    writer.begin(2);
    writeError(writer, reply.error);
  } else {
    writer.begin(numbers[reply.method]);
    writeResult(writer, reply);
  }
  writer.end();
  return writer.delimited();
}

function writeError(writer: ProtobufWriter, error: ErrorCode): void {
  writer.unsigned(1, error.code);
  writer.text(2, error.message);
  writer.flag(3, error.temporary);
}

function writeResult(
  writer: ProtobufWriter,
  reply: Exclude<Reply, { readonly error: ErrorCode }>,
): void {
  switch (reply.method) {
    case "connect":
      writeConnect(writer, reply.result);
      break;
    case "subscribe":
      writeSubscribe(writer, reply.result);
      break;
    case "presence":
      for (const info of reply.result.clients) {
        writer.beginEntry(1, info.client);
        writeClientInfoFields(writer, info);
        writer.end();
        writer.end();
      }
      writer.flag(incompleteNumber, reply.result.incomplete === true);
      break;
    case "presence_stats":
      writer.unsigned(1, reply.result.clientCount);
      writer.unsigned(2, reply.result.userCount);
      writer.flag(incompleteNumber, reply.result.incomplete === true);
      break;
    case "history":
      writePublications(writer, 1, reply.result.publications);
      writer.text(2, reply.result.position.epoch);
      writer.unsigned(3, reply.result.position.offset);
      break;
    case "refresh":
      writeExpiry(writer, 3, reply.result);
      break;
    case "sub_refresh":
      writeExpiry(writer, 1, reply.result);
      break;
    case "unsubscribe":
    case "publish":
    case "rpc":
      break; // Their results are empty.
  }
}

function writeConnect(writer: ProtobufWriter, result: ConnectResult): void {
  writer.text(1, result.client);
  writer.text(2, result.version);
  writeExpiry(writer, 3, result);
  for (const [channel, subscription] of result.subscriptions ?? []) {
    writer.beginEntry(6, channel);
    writeSubscribe(writer, subscription);
    writer.end();
    writer.end();
  }
  writer.seconds(7, result.pingSeconds);
  writer.flag(8, result.pong);
  if (result.session !== undefined) writer.text(9, result.session);
  if (result.node !== undefined) writer.text(10, result.node);
  if (result.timeMs !== undefined) writer.unsigned(11, result.timeMs);
}

function writeSubscribe(writer: ProtobufWriter, result: SubscribeResult): void {
  const { position } = result;
  writeExpiry(writer, 1, result);
  writer.flag(3, result.recoverable);
  if (position !== undefined) writer.text(6, position.epoch);
  writePublications(writer, 7, result.publications);
  writer.flag(8, result.recovered);
  if (position !== undefined) writer.unsigned(9, position.offset);
  writer.flag(10, result.positioned);
  if (result.data !== undefined) writer.text(11, result.data);
  writer.flag(12, result.wasRecovering);
  writer.flag(13, result.delta === true);
}

/** `ttl` has the number after that of `expires`. */
function writeExpiry(writer: ProtobufWriter, expiresNumber: number, expiry: Expiry): void {
  writer.flag(expiresNumber, expiry.ttlSeconds > 0);
  writer.seconds(expiresNumber + 1, expiry.ttlSeconds);
}

const numbers = {
  connect: 5,
  subscribe: 6,
  unsubscribe: 7,
  publish: 8,
  presence: 9,
  presence_stats: 10,
  history: 11,
  rpc: 13,
  refresh: 14,
  sub_refresh: 15,
} as const;

/** Of our own field `incomplete`. */
const incompleteNumber = 1000;

/** A push as a Reply after its length (docs/protocol.md 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  const writer = new ProtobufWriter();
  writer.begin(4);
  writeContent(writer, push);
  writer.end();
  return writer.delimited();
}

function writeContent(writer: ProtobufWriter, push: Push): void {
  if (push.type !== "disconnect") writer.text(2, push.channel);
  switch (push.type) {
    case "publication":
      writer.begin(4);
      writePublication(writer, push.publication);
      break;
    case "join":
      writer.begin(5);
      writeClientInfo(writer, 1, push.info);
      break;
    case "leave":
      writer.begin(6);
      writeClientInfo(writer, 1, push.info);
      break;
    case "unsubscribe":
      writer.begin(7);
      writer.unsigned(2, push.code.code);
      writer.text(3, push.code.reason);
      break;
    case "disconnect":
      writer.begin(11);
      writer.unsigned(1, push.code.code);
      writer.text(2, push.code.reason);
      break;
  }
  writer.end();
}

/**
 * Writes a publication's fields, in the order of their numbers (docs/protocol.md 1.3), the payload byte for byte (rule W5). On the
 * way of every publication, so it is written plainly.
 */
function writePublication(writer: ProtobufWriter, publication: Publication): void {
  writer.bytes(4, payloadBytes(publication.data));
  if (publication.info !== undefined) writeClientInfo(writer, 5, publication.info);
  writer.unsigned(6, publication.offset);
  if (publication.tags !== undefined) {
    for (const [key, value] of Object.entries(publication.tags)) writer.textEntry(7, key, value);
  }
  writer.flag(8, publication.delta === true);
  if (publication.epoch !== undefined) writer.text(14, publication.epoch);
}

/** Writes publications in their order, as a repeated field of that number. */
function writePublications(
  writer: ProtobufWriter,
  number: number,
  publications: readonly Publication[],
): void {
  for (const publication of publications) {
    writer.begin(number);
    writePublication(writer, publication);
    writer.end();
  }
}

/** Writes who a client is as the field of that number. */
function writeClientInfo(writer: ProtobufWriter, number: number, info: ClientInfo): void {
  writer.begin(number);
  writeClientInfoFields(writer, info);
  writer.end();
}

/** Writes who a client is into the message that was begun. */
function writeClientInfoFields(writer: ProtobufWriter, info: ClientInfo): void {
  writer.text(1, info.user);
  writer.text(2, info.client);
  if (info.connInfo !== undefined) writer.text(3, info.connInfo);
  if (info.chanInfo !== undefined) writer.text(4, info.chanInfo);
}
