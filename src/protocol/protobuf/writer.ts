import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type FieldWriter, type Fields, type FieldEntry, uint32Max } from "../fields.ts";
import type { JsonText } from "../json/text.ts";
import { payloadBytes, type Payload } from "../payload.ts";
import type { Tags } from "../publication.ts";

/** A message as Protobuf after its length, as it stands in a frame. */
export function protobufOf<M>(message: M, fields: Fields<M>): Uint8Array {
  // The fork leaves room for the message's own length.
  const writer = new BinaryWriter().fork();
  fields(new ProtobufWriter(writer), message);
  return writer.join().finish();
}

class ProtobufWriter implements FieldWriter {
  readonly #writer: BinaryWriter;

  constructor(writer: BinaryWriter) {
    this.#writer = writer;
  }

  text(number: number, _: string, value: string | undefined): void {
    if (value === undefined || value === "") return;
    this.#writer.tag(number, WireType.LengthDelimited).string(value);
  }

  flag(number: number, _: string, value: boolean | undefined): void {
    if (value === true) this.#writer.tag(number, WireType.Varint).bool(true);
  }

  unsigned(number: number, _: string, value: number | undefined): void {
    if (value === undefined || value <= 0) return;
    this.#writer.tag(number, WireType.Varint);
    // Both write the same bytes, but uint64 needs a BigInt for a number.
    if (value <= uint32Max) this.#writer.uint32(value);
    else this.#writer.uint64(value);
  }

  wide(number: number, _: string, value: bigint | undefined): void {
    if (value === undefined || value <= 0n) return;
    this.#writer.tag(number, WireType.Varint).uint64(value);
  }

  signed(number: number, _: string, value: number | undefined): void {
    if (value === undefined || value === 0) return;
    this.#writer.tag(number, WireType.Varint).sint64(value);
  }

  seconds(number: number, name: string, value: number): void {
    this.unsigned(number, name, Math.min(Math.ceil(value), uint32Max));
  }

  payload(number: number, _: string, value: Payload): void {
    if (value.length === 0) return;
    this.#writer.tag(number, WireType.LengthDelimited).bytes(payloadBytes(value));
  }

  json(number: number, name: string, value: JsonText | undefined): void {
    this.text(number, name, value);
  }

  message<M>(number: number, _: string, message: M | undefined, fields: Fields<M>): void {
    if (message === undefined) return;
    this.#writer.tag(number, WireType.LengthDelimited).fork();
    fields(this, message);
    this.#writer.join();
  }

  messages<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    for (const message of messages) this.message(number, name, message, fields);
  }

  sharedMessages<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    this.#writer.raw(encodedLists.get(messages) ?? encodeList(number, name, messages, fields));
  }

  map<M>(number: number, _: string, entries: readonly FieldEntry<M>[], fields: Fields<M>): void {
    for (const [key, message] of entries) this.entry(number, key, message, fields);
  }

  sharedMap<M>(
    number: number,
    _: string,
    parts: readonly (readonly M[])[],
    keyOf: (message: M) => string,
    fields: Fields<M>,
  ): void {
    for (const part of parts) {
      this.#writer.raw(encodedParts.get(part) ?? encodePart(number, part, keyOf, fields));
    }
  }

  /** Writes one entry of a map of messages. */
  entry<M>(number: number, key: string, message: M, fields: Fields<M>): void {
    this.#beginEntry(number, key);
    this.message(2, "value", message, fields);
    this.#writer.join();
  }

  textMap(number: number, _: string, texts: Tags | undefined): void {
    if (texts === undefined) return;
    for (const [key, value] of Object.entries(texts)) {
      this.#beginEntry(number, key);
      this.#writer.tag(2, WireType.LengthDelimited).string(value).join();
    }
  }

  /** The key of an entry, and the value of a text, are written even if they are empty, as every implementation does. */
  #beginEntry(number: number, key: string): void {
    this.#writer.tag(number, WireType.LengthDelimited).fork();
    this.#writer.tag(1, WireType.LengthDelimited).string(key);
  }
}

/** The entries of a part, each with the number of the map's field. */
function encodePart<M>(
  number: number,
  part: readonly M[],
  keyOf: (message: M) => string,
  fields: Fields<M>,
): Uint8Array {
  const writer = new BinaryWriter();
  const out = new ProtobufWriter(writer);
  for (const one of part) out.entry(number, keyOf(one), one, fields);
  const bytes = writer.finish();
  encodedParts.set(part, bytes);
  return bytes;
}

function encodeList<M>(
  number: number,
  name: string,
  messages: readonly M[],
  fields: Fields<M>,
): Uint8Array {
  const writer = new BinaryWriter();
  new ProtobufWriter(writer).messages(number, name, messages, fields);
  const bytes = writer.finish();
  encodedLists.set(messages, bytes);
  return bytes;
}

/** The shared lists that were encoded, for as long as somebody holds them. */
const encodedLists = new WeakMap<object, Uint8Array>();

/** The parts of shared maps that were encoded (rule P5), for as long as somebody holds them. */
const encodedParts = new WeakMap<object, Uint8Array>();
