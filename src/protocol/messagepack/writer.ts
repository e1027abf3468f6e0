import type { FieldWriter, Fields, FieldEntry } from "../fields.ts";
import type { JsonText } from "../json/text.ts";
import { payloadBytes, type Payload } from "../payload.ts";
import type { Tags } from "../publication.ts";

/**
 * A message as a map of MessagePack, with the fields that it has in JSON.
 *
 * @param bytesExpected how much room is made for it at first; it grows as needed
 */
export function messagePackOf<M>(message: M, fields: Fields<M>, bytesExpected: number): Uint8Array {
  return new MessagePackWriter(bytesExpected).object(message, fields).finish();
}

/**
 * Writes every value in its shortest form. A message is a map whose number of fields isn't known before they are
 * written, so each key counts itself into the map's first byte.
 */
class MessagePackWriter implements FieldWriter {
  #bytes: Uint8Array;
  #length = 0;
  /** The place of the first byte of the map that is being written. */
  #head = 0;
  readonly #encoder = new TextEncoder();

  constructor(bytesExpected: number) {
    this.#bytes = new Uint8Array(bytesExpected);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  object<M>(message: M, fields: Fields<M>): this {
    const outer = this.#head;
    const head = this.#length;
    this.#head = head;
    this.#byte(0x80);
    fields(this, message);
    const count = (this.#bytes[head] ?? 0) - 0x80;
    if (count > 15) this.#widen(head, count);
    this.#head = outer;
    return this;
  }

  /** Gives a map the head with a count in two bytes: one with its count in one byte holds 15 fields. */
  #widen(head: number, count: number): void {
    this.#reserve(2);
    this.#bytes.copyWithin(head + 3, head + 1, this.#length);
    this.#length += 2;
    this.#bytes.set([0xde, 0, count], head);
  }

  text(_: number, name: string, value: string | undefined, always?: "always"): void {
    if (value === undefined || (value === "" && always === undefined)) return;
    this.#key(name);
    this.#text(value);
  }

  flag(_: number, name: string, value: boolean | undefined): void {
    if (value !== true) return;
    this.#key(name);
    this.#byte(0xc3);
  }

  unsigned(_: number, name: string, value: number | undefined, always?: "always"): void {
    if (value === undefined || (value <= 0 && always === undefined)) return;
    this.#key(name);
    this.#unsigned(value);
  }

  wide(_: number, name: string, value: bigint | undefined): void {
    if (value === undefined || value <= 0n) return;
    this.#key(name);
    if (value <= Number.MAX_SAFE_INTEGER) return this.#unsigned(Number(value));
    this.#byte(0xcf);
    this.#bigEndian(Number(value >> 32n), 4);
    this.#bigEndian(Number(value & 0xffff_ffffn), 4);
  }

  signed(_: number, name: string, value: number | undefined): void {
    if (value === undefined || value === 0) return;
    this.#key(name);
    if (value > 0) return this.#unsigned(value);
    if (value >= -0x20) return this.#byte(0x100 + value);
    const width = value >= -0x80 ? 0 : value >= -0x8000 ? 1 : value >= -0x8000_0000 ? 2 : 3;
    this.#byte(0xd0 + width);
    if (width === 3) this.#bigEndian(Math.floor(value / 0x1_0000_0000), 4);
    this.#bigEndian(value, Math.min(1 << width, 4));
  }

  seconds(number: number, name: string, value: number): void {
    this.unsigned(number, name, value);
  }

  payload(_: number, name: string, value: Payload): void {
    this.#key(name);
    const bytes = payloadBytes(value);
    this.#long(0xc4, bytes.length);
    this.#append(bytes);
  }

  json(number: number, name: string, value: JsonText | undefined): void {
    if (value !== undefined) this.payload(number, name, value);
  }

  message<M>(_: number, name: string, message: M | undefined, fields: Fields<M>): void {
    if (message === undefined) return;
    this.#key(name);
    this.object(message, fields);
  }

  messages<M>(
    _: number,
    name: string,
    messages: readonly M[],
    fields: Fields<M>,
    always?: "always",
  ): void {
    if (messages.length === 0 && always === undefined) return;
    this.#key(name);
    this.#container(messages.length, 0x90, 0xdc);
    for (const message of messages) this.object(message, fields);
  }

  sharedMessages<M>(_: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    if (messages.length === 0) return;
    this.#key(name);
    this.#container(messages.length, 0x90, 0xdc);
    const bytes = encodedLists.get(messages) ?? encodeList(messages, fields);
    this.#reserve(bytes.length);
    this.#append(bytes);
  }

  map<M>(
    _: number,
    name: string,
    entries: readonly FieldEntry<M>[],
    fields: Fields<M>,
    always?: "always",
  ): void {
    if (entries.length === 0 && always === undefined) return;
    this.#key(name);
    this.#container(entries.length, 0x80, 0xde);
    for (const [key, message] of entries) this.entry(key, message, fields);
  }

  sharedMap<M>(
    _: number,
    name: string,
    parts: readonly (readonly M[])[],
    keyOf: (message: M) => string,
    fields: Fields<M>,
    always?: "always",
  ): void {
    const count = parts.reduce((sum, part) => sum + part.length, 0);
    if (count === 0 && always === undefined) return;
    this.#key(name);
    this.#container(count, 0x80, 0xde);
    const encoded = parts.map((part) => encodedParts.get(part) ?? encodePart(part, keyOf, fields));
    this.#reserve(encoded.reduce((sum, { length }) => sum + length, 0));
    for (const bytes of encoded) this.#append(bytes);
  }

  /** Writes an entry of a map of messages, whose head was written before. */
  entry<M>(key: string, message: M, fields: Fields<M>): void {
    this.#text(key);
    this.object(message, fields);
  }

  textMap(_: number, name: string, texts: Tags | undefined): void {
    if (texts === undefined) return;
    const entries = Object.entries(texts);
    if (entries.length === 0) return;
    this.#key(name);
    this.#container(entries.length, 0x80, 0xde);
    for (const [key, value] of entries) {
      this.#text(key);
      this.#text(value);
    }
  }

  /** Begins a field, whose value comes next. The name is ASCII and shorter than 32 characters. */
  #key(name: string): void {
    this.#reserve(name.length + 1);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[this.#head] = (bytes[this.#head] ?? 0) + 1;
    bytes[at++] = 0xa0 + name.length;
    for (let index = 0; index < name.length; index++) bytes[at++] = name.charCodeAt(index);
    this.#length = at;
  }

  #text(text: string): void {
    const bytes = this.#encoder.encode(text);
    if (bytes.length < 32) this.#byte(0xa0 + bytes.length);
    else this.#long(0xd9, bytes.length);
    this.#append(bytes);
  }

  /** A whole number from 0 to 2^53. */
  #unsigned(value: number): void {
    if (value < 0x80) return this.#byte(value);
    if (value <= 0xffff_ffff) return this.#long(0xcc, value);
    this.#byte(0xcf);
    this.#bigEndian(Math.floor(value / 0x1_0000_0000), 4);
    this.#bigEndian(value % 0x1_0000_0000, 4);
  }

  /** Writes a head and a value of one, two or four bytes after it: the heads of the three widths follow each other. */
  #long(head: number, value: number): void {
    const width = value <= 0xff ? 0 : value <= 0xffff ? 1 : 2;
    this.#byte(head + width);
    this.#bigEndian(value, 1 << width);
  }

  /** Writes the head of an array or a map. Neither has a form with a count of one byte after the head. */
  #container(count: number, shortHead: number, head: number): void {
    if (count < 16) return this.#byte(shortHead + count);
    const isShort = count <= 0xffff;
    this.#byte(isShort ? head : head + 1);
    this.#bigEndian(count, isShort ? 2 : 4);
  }

  #bigEndian(value: number, widthBytes: number): void {
    for (let shift = (widthBytes - 1) * 8; shift >= 0; shift -= 8) {
      this.#byte((value >>> shift) & 0xff);
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length++;
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(moreBytes: number): void {
    const needed = this.#length + moreBytes;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The entries of a part, with no head before them. */
function encodePart<M>(
  part: readonly M[],
  keyOf: (message: M) => string,
  fields: Fields<M>,
): Uint8Array {
  const writer = new MessagePackWriter(part.length * entryBytesExpected);
  for (const one of part) writer.entry(keyOf(one), one, fields);
  const bytes = writer.finish();
  encodedParts.set(part, bytes);
  return bytes;
}

/** The messages of a list, without its head. */
function encodeList<M>(messages: readonly M[], fields: Fields<M>): Uint8Array {
  const writer = new MessagePackWriter(messages.length * entryBytesExpected);
  for (const one of messages) writer.object(one, fields);
  const bytes = writer.finish();
  encodedLists.set(messages, bytes);
  return bytes;
}

/** The shared lists that were encoded, for as long as somebody holds them. */
const encodedLists = new WeakMap<object, Uint8Array>();

/** A client's ID twice, its user and the fields' names take about so much. */
const entryBytesExpected = 128;

/** The parts of shared maps that were encoded (rule P5), for as long as somebody holds them. */
const encodedParts = new WeakMap<object, Uint8Array>();
