import { messagePackEnd, readLength } from "./scan.ts";
import type { WireValue } from "../wire-value.ts";

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
  const reader = new ValueReader(bytes, start, bigIntegers);
  const value = reader.value();
  return reader.refused ? { outcome: "malformed" } : { outcome: "value", value, end };
}

/** Reads a value that passed {@link messagePackEnd}. */
class ValueReader {
  /** A map has the key `__proto__`, which isn't one of an object's own. */
  refused = false;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #bigIntegers: boolean;
  #at: number;

  constructor(bytes: Uint8Array, start: number, bigIntegers: boolean) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#bigIntegers = bigIntegers;
    this.#at = start;
  }

  value(): WireValue {
    const head = this.#length(1);
    if (head < 0x80) return head;
    if (head >= 0xe0) return head - 0x100;
    if (head < 0x90) return this.#map(head & 0x0f);
    if (head < 0xa0) return this.#array(head & 0x0f);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head < 0xc4) return head === 0xc0 ? null : head === 0xc3;
    if (head < 0xc7) return this.#take(this.#length(1 << (head - 0xc4)));
    if (head < 0xd4) return this.#number(head);
    if (head < 0xdc) return this.#text(this.#length(1 << (head - 0xd9)));
    const length = this.#length(2 << (head & 1));
    return head < 0xde ? this.#array(length) : this.#map(length);
  }

  #number(head: number): number | bigint {
    const view = this.#view;
    const at = this.#at;
    if (head < 0xcc) {
      this.#at += head === 0xca ? 4 : 8;
      return head === 0xca ? view.getFloat32(at) : view.getFloat64(at);
    }
    const widthBytes = 1 << (head & 3);
    if (widthBytes < 8) {
      const unsigned = this.#length(widthBytes);
      const shift = 32 - 8 * widthBytes;
      return head < 0xd0 ? unsigned : (unsigned << shift) >> shift;
    }
    this.#at += 8;
    const wide = head < 0xd0 ? view.getBigUint64(at) : view.getBigInt64(at);
    return this.#bigIntegers ? wide : Number(wide);
  }

  #text(length: number): string {
    return decoder.decode(this.#take(length));
  }

  #array(length: number): WireValue {
    const array: WireValue[] = [];
    for (let element = 0; element < length; element++) array.push(this.value());
    return array;
  }

  #map(length: number): WireValue {
    const map: Record<string, WireValue> = {};
    for (let entry = 0; entry < length; entry++) {
      const key = this.value();
      const value = this.value();
      if (typeof key === "string" && key !== "__proto__") map[key] = value;
      else this.refused = true;
    }
    return map;
  }

  #take(length: number): Uint8Array {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #length(widthBytes: number): number {
    this.#at += widthBytes;
    return readLength(this.#view, this.#at - widthBytes, widthBytes);
  }
}

/** The texts were checked; a byte order mark is a character of its text. */
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
