import type { Message } from "../protocol/codec.ts";

/**
 * Whether the first frame of an object says that the client is connected: anything else is an error, after which nothing
 * more is coming. It reads no further than it must, and what our own codecs write (reference 1.2): the reply to connect
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
