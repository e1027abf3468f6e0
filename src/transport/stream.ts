import type { CodecName, Message } from "../protocol/codec.ts";

/** How frames are written to a client's HTTP stream (docs/protocol.md 4). */
export interface StreamFormat {
  /** The response's Content-Type. */
  readonly contentType: string;
  /** What stands before the first frame. */
  readonly opening: string;
  /** What may stand between frames and says nothing. */
  readonly filler: Uint8Array;
  /** One frame of the object, whole, as bytes of the stream. A frame may hold several replies or pushes. */
  encode(frame: Message): Uint8Array;
}

/** Server-sent events: each reply is an event of its own (docs/protocol.md 4.1). */
export const eventFormat: StreamFormat = {
  // A comment.
  get filler() {
    return bytesOf([":\n\n"]);
  },
  contentType: "text/event-stream; charset=utf-8",
  // Some clients report a stream as open only when its first bytes come.
  opening: "\r\n",
  encode: (frame) => bytesOf(linesOf(frame).map((line) => `data: ${line}\n\n`)),
};

/** The stream of an HTTP response in a codec of the client's choice (docs/protocol.md 4.2). */
export function responseFormat(codec: CodecName): StreamFormat {
  return codec === "protobuf" ? framedFormat : lineFormat;
}

/** JSON: each reply ends with a line break. */
const lineFormat: StreamFormat = {
  // Space before the next reply.
  get filler() {
    return bytesOf([" "]);
  },
  contentType: "application/json; charset=utf-8",
  opening: "",
  encode: (frame) => bytesOf(linesOf(frame).map((line) => `${line}\n`)),
};

/** Protobuf: each reply has its length before it already. */
const framedFormat: StreamFormat = {
  // A ping, which these clients don't answer.
  get filler() {
    return new Uint8Array(1);
  },
  contentType: "application/octet-stream",
  opening: "",
  encode: (frame) => (typeof frame === "string" ? bytesOf([frame]) : frame),
};

/** Text frames divide what is in them by line breaks (docs/protocol.md 1.1), and have none inside. */
function linesOf(frame: Message): readonly string[] {
  const text = typeof frame === "string" ? frame : new TextDecoder().decode(frame);
  return text.split("\n").filter((line) => line !== "");
}

function bytesOf(parts: readonly string[]): Uint8Array {
  return new TextEncoder().encode(parts.join(""));
}

/**
 * Whether the first frame of an object says that the client is connected: anything else is an error, after which nothing
 * more is coming. It reads no further than it must, and what our own codecs write (docs/protocol.md 1.2): the reply to connect
 * in JSON or Protobuf, or the push for those who only listen.
 */
export function isConnected(frame: Message): boolean {
  return typeof frame === "string"
    ? /^\{(?:"id":\d+,)?"connect":/.test(frame)
    : firstResultField(frame) === connectField;
}

/** The first field of the first reply that isn't its id; undefined when there is none. */
function firstResultField(frame: Uint8Array): number | undefined {
  let place = afterVarint(frame, 0);
  if (frame[place] === idTag) place = afterVarint(frame, place + 1);
  const tag = frame[place];
  return tag === undefined ? undefined : tag >> 3;
}

/** Where a varint ends that begins at a place. */
function afterVarint(bytes: Uint8Array, place: number): number {
  let end = place;
  while ((bytes[end] ?? 0) > 0x7f) end++;
  return end + 1;
}

/** Field 1, a varint. */
const idTag = 0x08;
const connectField = 5;
