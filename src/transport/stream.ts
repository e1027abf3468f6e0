/**
 * The formats of HTTP streams (docs/protocol.md 4): how the frames of an object become the bytes of a response, for
 * each transport and codec (rule T1).
 */
import type { CodecName, Message } from "../protocol/codec.ts";

/** The format of a client's HTTP stream. */
export interface StreamFormat {
  /** The response's Content-Type. */
  readonly contentType: string;
  /** The text before the first frame. */
  readonly opening: string;
  /** Bytes that may be written between frames and that clients ignore. */
  readonly filler: Uint8Array;
  /** Converts one whole frame of the object to bytes of the stream. A frame may hold several replies or pushes. */
  encode(frame: Message): Uint8Array;
}

/** Server-sent events: each reply is an event of its own (docs/protocol.md 4.1). */
export const eventFormat: StreamFormat = {
  // A comment line of an event stream.
  get filler() {
    return bytesOf([":\n\n"]);
  },
  contentType: "text/event-stream; charset=utf-8",
  // Some clients report a stream as open only when its first bytes arrive.
  opening: "\r\n",
  encode: (frame) => bytesOf(linesOf(frame).map((line) => `data: ${line}\n\n`)),
};

/** The format of an HTTP response stream in the client's codec (docs/protocol.md 4.2). */
export function responseFormat(codec: CodecName): StreamFormat {
  return codec === "protobuf" ? framedFormat : lineFormat;
}

/** JSON: a line break ends each reply. */
const lineFormat: StreamFormat = {
  // White space before the next reply.
  get filler() {
    return bytesOf([" "]);
  },
  contentType: "application/json; charset=utf-8",
  opening: "",
  encode: (frame) => bytesOf(linesOf(frame).map((line) => `${line}\n`)),
};

/** Protobuf: the frame has each reply's length before it already. */
const framedFormat: StreamFormat = {
  // A push of no kind to a channel without a name. An empty message would be a ping, which clients may have to answer.
  get filler() {
    return Uint8Array.of(2, 0x22, 0);
  },
  contentType: "application/octet-stream",
  opening: "",
  encode: (frame) => (typeof frame === "string" ? bytesOf([frame]) : frame),
};

/** The lines of a text frame. Line breaks separate its replies (docs/protocol.md 1.1), and no reply contains one. */
function linesOf(frame: Message): readonly string[] {
  const text = typeof frame === "string" ? frame : new TextDecoder().decode(frame);
  return text.split("\n").filter((line) => line !== "");
}

function bytesOf(parts: readonly string[]): Uint8Array {
  return new TextEncoder().encode(parts.join(""));
}

/**
 * Whether an object's first frame says that the client is connected. Any other first frame is an error, after which
 * nothing follows. The frame comes from our own codecs (docs/protocol.md 1.2), so its beginning is enough: the reply to
 * connect in JSON or Protobuf, or the connect push for a unidirectional client.
 */
export function isConnected(frame: Message): boolean {
  return typeof frame === "string"
    ? /^\{(?:"id":\d+,)?"connect":/.test(frame)
    : firstResultField(frame) === connectField;
}

/** The number of the first reply's first field after its id; undefined if there is none. */
function firstResultField(frame: Uint8Array): number | undefined {
  let position = afterVarint(frame, 0);
  if (frame[position] === idTag) position = afterVarint(frame, position + 1);
  const tag = frame[position];
  return tag === undefined ? undefined : tag >> 3;
}

/** The position after the varint that begins at a position. */
function afterVarint(bytes: Uint8Array, position: number): number {
  let end = position;
  while ((bytes[end] ?? 0) > 0x7f) end++;
  return end + 1;
}

/** Field 1, a varint. */
const idTag = 0x08;
const connectField = 5;
