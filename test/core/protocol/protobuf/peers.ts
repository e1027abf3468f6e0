import { readFileSync } from "node:fs";
import { Centrifuge } from "centrifuge/build/protobuf";
import { parse, type Type } from "protobufjs";

/** The messages of our own client.proto, as protobufjs understands them: it shares nothing with our encoder. */
export const proto = parse(
  readFileSync(new URL("../../../../src/protocol/client.proto", import.meta.url), "utf8"),
  { keepCase: true },
).root;

/** The fields of client.proto that the server never sends, by message (docs/protocol.md 1.2 and 1.3). */
export const neverSentFields = {
  Reply: ["ping"],
  Push: ["id", "message", "connect"],
  SubscribeResult: ["id"],
  RefreshResult: ["client", "version"],
  Disconnect: ["reconnect"],
  Publication: ["time", "channel"],
};

/** The fields of client.proto that Dormouse ignores, by message (docs/protocol.md 1.3). */
export const ignoredFields = {
  ConnectRequest: ["flag"],
};

/** Messages in a frame, read with client.proto. */
export function readFrame(type: Type, frame: Uint8Array): unknown[] {
  const messages: unknown[] = [];
  let rest = frame;
  while (rest.length > 0) {
    // The length is read here and not by decodeDelimited, which doesn't say how far it came.
    let length = 0;
    let at = 0;
    for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7, at++) {
      byte = rest[at] ?? 0;
      length += (byte & 0x7f) * 2 ** shift;
    }
    messages.push(type.decode(rest.subarray(at, at + length)));
    rest = rest.subarray(at + length);
  }
  return messages;
}

/** Messages as a frame, written with client.proto. */
export function writeFrame(type: Type, messages: readonly unknown[]): Uint8Array {
  return Buffer.concat(messages.map((message) => type.encodeDelimited(Object(message)).finish()));
}

/** The codec inside the official SDK's Protobuf build. */
export interface SdkCodec {
  encodeCommands(commands: readonly unknown[]): Uint8Array;
  decodeCommands(frame: Uint8Array): unknown[];
  decodeReplies(frame: Uint8Array): unknown[];
  encodeEmulationRequest(request: object): Uint8Array;
}

export const sdkCodec: SdkCodec = Reflect.get(new Centrifuge("ws://localhost"), "_codec");

/**
 * The content of a message, which is the same for every decoder: without fields that are zero, false or empty; 64-bit integers
 * as numbers; and bytes, which the test knows to be JSON, parsed. Parsed JSON is treated likewise, so both can be compared.
 */
export function contentOf(value: unknown, name = ""): unknown {
  if (value instanceof Uint8Array) return contentOf(JSON.parse(Buffer.from(value).toString()));
  if (Array.isArray(value)) return value.map((element) => contentOf(element));
  if (typeof value !== "object" || value === null) return value;
  if ("low" in value && "high" in value) return fromWords(Number(value.high), Number(value.low));
  const entries = Object.entries(value)
    .map(
      ([key, member]) => [key, isMap(name) ? contentOf(member) : contentOf(member, key)] as const,
    )
    .filter(([key, member]) => isMap(name) || !isNothing(key, member));
  return Object.fromEntries(entries);
}

function fromWords(high: number, low: number): number {
  return high * 2 ** 32 + (low >>> 0);
}

function isNothing(key: string, value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    return (Array.isArray(value) || isMap(key)) && Object.keys(value).length === 0;
  }
  return value === "" || value === 0 || value === false || value === null || value === undefined;
}

/** An empty map has no content, but an empty message has; and all entries of a map have content. */
function isMap(field: string): boolean {
  return ["subs", "headers", "presence", "tags"].includes(field);
}

/** Bytes written as hexadecimal digits, with spaces where they help. */
export function bytes(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits.replaceAll(" ", ""), "hex"));
}

export function hex(message: Uint8Array | string): string {
  if (typeof message === "string") throw new Error("not bytes");
  return Buffer.from(message).toString("hex");
}
