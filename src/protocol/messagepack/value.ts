import { Decoder } from "@msgpack/msgpack";
import type { WireValue } from "../wire-value.ts";
import { limits } from "../../limits.ts";

/** A decoded value, and the place after it. */
export type DecodedValue =
  | { readonly outcome: "value"; readonly value: WireValue; readonly end: number }
  | { readonly outcome: "malformed" };

/**
 * Decodes the MessagePack value that begins at `start`. Byte arrays in it are views of the input. Never throws, and
 * takes memory in proportion to the input (see {@link messagePackEnd}).
 *
 * @param bigIntegers whether an integer wider than 32 bits becomes a bigint. Otherwise it becomes a number, and no
 *                    integer beyond 2^53 becomes a smaller one.
 */
export function parseMessagePack(
  bytes: Uint8Array,
  start: number,
  bigIntegers: boolean,
): DecodedValue {
  const end = messagePackEnd(bytes, start);
  if (end === undefined) return { outcome: "malformed" };
  // By default the library keeps the keys that it decodes for later calls, and so for other clients.
  const decoder = new Decoder({ useBigInt64: bigIntegers, keyDecoder: null });
  try {
    const value: unknown = decoder.decode(bytes.subarray(start, end));
    return isWireValue(value) ? { outcome: "value", value, end } : { outcome: "malformed" };
  } catch {
    // Of the values that passed the check, the library refuses those with the key `__proto__`.
    return { outcome: "malformed" };
  }
}

/** The library declares its result as unknown. */
function isWireValue(value: unknown): value is WireValue {
  if (typeof value === "object") {
    return value === null || value instanceof Uint8Array || Object.values(value).every(isWireValue);
  }
  return ["boolean", "number", "bigint", "string"].includes(typeof value);
}

/**
 * Finds the end of a MessagePack value, and checks the value before any of it is built (rule W6). A library that builds
 * while it reads trusts the lengths in the input: five bytes can ask for gigabytes. After this check a value has no
 * more elements than bytes.
 *
 * These are refused:
 *
 * - a value that is cut short
 * - extensions, because no message has any
 * - keys that aren't strings
 * - strings that aren't UTF-8, or that begin with a byte order mark, which the library would drop
 * - values within more than {@link depthMax} others
 * - more values than `limits.messagePackValuesMax`, because a value of one byte takes a hundred bytes once it is built
 *
 * @returns the place after the value that begins at `start`; undefined if the value is refused
 */
function messagePackEnd(bytes: Uint8Array, start: number): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const end = skipValue({ bytes, view, decoder, values: 0 }, start, 0);
  return end === refused ? undefined : end;
}

/**
 * A command needs five levels and two for each level of a tags filter. In a body, a batch is around payloads of any
 * depth.
 */
export const depthMax = 128;

interface Source {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly decoder: TextDecoder;
  /** The number of values so far. */
  values: number;
}

/** In place of an end, if the value is refused. */
const refused = -1;

function skipValue(source: Source, at: number, depth: number): number {
  if (at >= source.bytes.length || ++source.values > limits.messagePackValuesMax) return refused;
  const head = source.view.getUint8(at);
  const start = at + 1;
  if (head < 0x80 || head >= 0xe0) return start;
  if (head < 0x90) return skipMap(source, start, head & 0x0f, depth);
  if (head < 0xa0) return skipArray(source, start, head & 0x0f, depth);
  if (head < 0xc0) return skipText(source, start, head & 0x1f);
  return skipLong(source, head, start, depth);
}

/** Skips a value whose first byte holds nothing but its type. */
function skipLong(source: Source, head: number, start: number, depth: number): number {
  const scalarBytes = scalarLengths[head];
  if (scalarBytes !== undefined) return within(source, start + scalarBytes);
  const widthBytes = lengthWidths[head];
  if (widthBytes === undefined) return refused; // An extension, or 0xc1, which has no meaning.
  const content = start + widthBytes;
  if (content > source.bytes.length) return refused;
  const length = readLength(source.view, start, widthBytes);
  if (head <= 0xc6) return within(source, content + length);
  if (head <= 0xdb) return skipText(source, content, length);
  if (head <= 0xdd) return skipArray(source, content, length, depth);
  return skipMap(source, content, length, depth);
}

function skipText(source: Source, start: number, length: number): number {
  const end = within(source, start + length);
  if (end === refused || losesMark(source, start, length)) return refused;
  try {
    source.decoder.decode(source.bytes.subarray(start, end));
    return end;
  } catch {
    return refused; // The decoder throws on bad input, and only then.
  }
}

/** The library drops the mark from a text that it has a `TextDecoder` decode: what was sent must not be changed (rule W2). */
function losesMark({ bytes }: Source, start: number, length: number): boolean {
  if (length <= decodedByLibraryBytesMax) return false;
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
}

/** Up to this length the library decodes a text itself: `TEXT_DECODER_THRESHOLD` in its utils/utf8.ts. */
const decodedByLibraryBytesMax = 200;

function skipArray(source: Source, start: number, length: number, depth: number): number {
  if (depth === depthMax) return refused;
  let at = start;
  for (let element = 0; element < length; element++) {
    at = skipValue(source, at, depth + 1);
    if (at === refused) return refused;
  }
  return at;
}

function skipMap(source: Source, start: number, length: number, depth: number): number {
  if (depth === depthMax) return refused;
  let at = start;
  for (let entry = 0; entry < length; entry++) {
    if (!isTextAt(source, at)) return refused;
    at = skipValue(source, at, depth + 1);
    if (at === refused) return refused;
    at = skipValue(source, at, depth + 1);
    if (at === refused) return refused;
  }
  return at;
}

function isTextAt({ bytes }: Source, at: number): boolean {
  const head = bytes[at] ?? 0;
  return (head >= 0xa0 && head < 0xc0) || (head >= 0xd9 && head <= 0xdb);
}

function within({ bytes }: Source, end: number): number {
  return end <= bytes.length ? end : refused;
}

function readLength(view: DataView, at: number, widthBytes: number): number {
  if (widthBytes === 1) return view.getUint8(at);
  return widthBytes === 2 ? view.getUint16(at) : view.getUint32(at);
}

/** The number of bytes after the first one, for nil, false, true, the floats and the integers. */
const scalarLengths: Readonly<Record<number, number>> = {
  0xc0: 0,
  0xc2: 0,
  0xc3: 0,
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
};

/** The number of bytes that state the length, for bin, str, array and map. */
const lengthWidths: Readonly<Record<number, number>> = {
  0xc4: 1,
  0xc5: 2,
  0xc6: 4,
  0xd9: 1,
  0xda: 2,
  0xdb: 4,
  0xdc: 2,
  0xdd: 4,
  0xde: 2,
  0xdf: 4,
};
