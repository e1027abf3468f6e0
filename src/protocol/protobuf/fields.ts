import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { concatenated, utf8Text } from "../bytes.ts";
import { type FieldReader, int32Max, int32Min, uint32Max } from "../fields.ts";
import { payloadOf, type Payload } from "../payload.ts";

/**
 * Reads the fields of a Protobuf message by number. As everywhere in Protobuf the last of several occurrences of a
 * field counts, those of a message are merged, and fields that no caller reads are skipped.
 */
export class ProtobufFields implements FieldReader {
  readonly #values = new Map<number, Value[]>();
  readonly #prefix: string;
  readonly #complaints: string[];

  /**
   * @param bytes      the message, without its length
   * @param path       the names of the fields that lead to the message, such as "subscribe.tf"; "" for the command
   * @param complaints where complaints are left, oldest first
   */
  constructor(bytes: Uint8Array, path: string, complaints: string[]) {
    this.#prefix = path === "" ? "" : `${path}.`;
    this.#complaints = complaints;
    if (this.#scan(bytes)) return;
    complaints.push(`${path === "" ? "the command" : path} is not valid Protobuf`);
    this.#values.clear();
  }

  has(number: number): boolean {
    return this.#values.has(number);
  }

  text(number: number, field: string): string {
    return this.#decode(this.bytes(number, field, "is not a string"), field);
  }

  /** Every occurrence of a repeated string, in order. */
  texts(number: number, field: string): string[] {
    return this.#chunks(number, field, "is not a string").map((bytes) =>
      this.#decode(bytes, field),
    );
  }

  flag(number: number, field: string): boolean {
    return this.#integer(number, field, "is not a boolean") !== 0;
  }

  uint32(number: number, field: string): number {
    return this.#unsigned(number, field, uint32Max);
  }

  uint64(number: number, field: string): number {
    return this.#unsigned(number, field, Number.MAX_SAFE_INTEGER);
  }

  wide(number: number, field: string): bigint {
    // Values are read as signed integers.
    return BigInt.asUintN(64, BigInt(this.#integer(number, field, "is not an unsigned integer")));
  }

  int32(number: number, field: string): number {
    return this.#signed(number, field, int32Min, int32Max);
  }

  int64(number: number, field: string): number {
    return this.#signed(number, field, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }

  payload(number: number, field: string): Payload | undefined {
    const bytes = this.bytes(number, field);
    if (bytes.byteLength === 0) return undefined;
    const payload = payloadOf(bytes);
    // A copy, because a part would keep its whole frame in memory.
    return typeof payload === "string" ? payload : payload.slice();
  }

  /** A part of the message's bytes, not a copy; empty if the field is absent or empty, which look the same. */
  bytes(number: number, field: string, complaint = "is not bytes"): Uint8Array {
    return this.#chunks(number, field, complaint).at(-1) ?? new Uint8Array();
  }

  /** The fields of a message within this one; they complain to the same place. */
  message(number: number, field: string): ProtobufFields | undefined {
    const chunks = this.#chunks(number, field, "is not a message");
    if (chunks.length === 0) return undefined;
    // In Protobuf, the encodings of two messages one after the other are the encoding of both merged.
    return this.#inner(concatenated(chunks), field);
  }

  /** Every occurrence, in order. Each is scanned when it is asked for, so a caller that stops early holds no more. */
  *messages(number: number, field: string): Generator<ProtobufFields> {
    for (const bytes of this.#chunks(number, field, "is not a message")) {
      yield this.#inner(bytes, field);
    }
  }

  /** The last of equal keys counts. */
  map(number: number, field: string, countMax: number): ReadonlyMap<string, ProtobufFields> {
    const map = new Map<string, ProtobufFields>();
    for (const entry of this.#entries(number, field, countMax)) {
      const key = this.#decode(entry.bytes(1, "key", "is not a string"), field);
      map.set(key, this.#inner(concatenated(entry.#chunks(2, "value", "is not a message")), field));
    }
    return map;
  }

  /** The last of equal keys counts. */
  textMap(number: number, field: string, countMax: number): ReadonlyMap<string, string> {
    const map = new Map<string, string>();
    for (const entry of this.#entries(number, field, countMax)) {
      const [key, value] = ([1, 2] as const).map((part) =>
        this.#decode(entry.bytes(part, part === 1 ? "key" : "value", "is not a string"), field),
      );
      map.set(key ?? "", value ?? "");
    }
    return map;
  }

  /** The entries of a map, each with its key as field 1 and its value as field 2; none of a map that has too many. */
  *#entries(number: number, field: string, countMax: number): Generator<ProtobufFields> {
    const entries = this.#chunks(number, field, "is not a map");
    if (entries.length > countMax) this.complain(field, `has over ${countMax} entries`);
    else for (const bytes of entries) yield this.#inner(bytes, field);
  }

  complain(field: string, complaint: string): void {
    this.#complaints.push(`${this.#prefix}${field} ${complaint}`);
  }

  /** Collects the values of all fields by number; false if the bytes aren't valid Protobuf. */
  #scan(bytes: Uint8Array): boolean {
    const reader = new BinaryReader(bytes);
    try {
      while (reader.pos < bytes.byteLength) {
        const [number, wireType] = reader.tag();
        const value = takeValue(reader, bytes, number, wireType);
        const values = this.#values.get(number);
        if (values === undefined) this.#values.set(number, [value]);
        else values.push(value);
      }
      return true;
    } catch {
      return false; // The reader throws on bad input, and only then.
    }
  }

  #inner(bytes: Uint8Array, field: string): ProtobufFields {
    return new ProtobufFields(bytes, `${this.#prefix}${field}`, this.#complaints);
  }

  #chunks(number: number, field: string, complaint: string): Uint8Array[] {
    const values = this.#values.get(number) ?? [];
    const chunks = values.filter((value) => value instanceof Uint8Array);
    if (chunks.length < values.length) this.complain(field, complaint);
    return chunks;
  }

  #integer(number: number, field: string, complaint: string): number {
    const values = this.#values.get(number) ?? [];
    const integers = values.filter((value) => typeof value === "number");
    if (integers.length < values.length) this.complain(field, complaint);
    return integers.at(-1) ?? 0;
  }

  #unsigned(number: number, field: string, max: number): number {
    return this.#within(this.#integer(number, field, "is not an unsigned integer"), field, 0, max);
  }

  #signed(number: number, field: string, min: number, max: number): number {
    return this.#within(this.#integer(number, field, "is not an integer"), field, min, max);
  }

  #within(value: number, field: string, min: number, max: number): number {
    if (value >= min && value <= max) return value;
    this.complain(field, "is out of range");
    return 0;
  }

  #decode(bytes: Uint8Array, field: string): string {
    if (bytes.byteLength === 0) return ""; // As most fields are absent, this saves most decoders.
    const text = utf8Text(bytes);
    if (text === undefined) this.complain(field, "is not valid UTF-8");
    return text ?? "";
  }
}

/**
 * Reads a length and the bytes that follow it; undefined if there is no length, or if there are fewer bytes.
 *
 * @param bytes all bytes of the reader
 */
export function takeDelimited(reader: BinaryReader, bytes: Uint8Array): Uint8Array | undefined {
  let length: number;
  try {
    // `reader.bytes()` would take the length modulo 2^32.
    length = Number(reader.uint64());
  } catch {
    return undefined; // The reader throws on bad input, and only then.
  }
  const start = reader.pos;
  if (length > bytes.byteLength - start) return undefined;
  reader.pos += length;
  return bytes.subarray(start, reader.pos);
}

/** Reads a value after its tag. Throws on bad input, as the reader does. */
function takeValue(
  reader: BinaryReader,
  bytes: Uint8Array,
  number: number,
  wireType: WireType,
): Value {
  switch (wireType) {
    case WireType.Varint:
      // Beyond the safe integers the number is rounded, but stays beyond them, where no field of ours reaches.
      return Number(reader.int64());
    case WireType.LengthDelimited: {
      const value = takeDelimited(reader, bytes);
      if (value === undefined) throw new RangeError("cut off");
      return value;
    }
    case WireType.Bit32:
    case WireType.Bit64:
    case WireType.StartGroup:
    case WireType.EndGroup:
      reader.skip(wireType, number);
      return undefined;
  }
}

/** A varint, as the signed integer of its 64 bits; bytes; or undefined for a wire type that none of our fields has. */
type Value = number | Uint8Array | undefined;
