/**
 * The kinds of fields that messages have. Each field of a message is named once, with its number in Protobuf
 * (client.proto) and its name in JSON and MessagePack: in `reply-fields.ts` for messages to clients, in
 * `command-fields.ts` for messages from clients. A format is a writer and a reader of these kinds, and knows no
 * message.
 */
import type { JsonText } from "./json/text.ts";
import type { Payload } from "./payload.ts";
import type { Tags } from "./publication.ts";

/**
 * Writes the fields of one message, in the order of the calls. A field that is undefined is left out. So is one that is
 * "", 0, false or empty, unless it is written "always"; in Protobuf it is left out in any case, as in all of proto3.
 * Never throws.
 */
export interface FieldWriter {
  text(number: number, name: string, value: string | undefined, always?: "always"): void;
  /** Only true is written. */
  flag(number: number, name: string, value: boolean | undefined): void;
  /** A safe integer from 0 on: uint32, uint64 or int64 in Protobuf. */
  unsigned(number: number, name: string, value: number | undefined, always?: "always"): void;
  /** An integer of 64 bits from 0 on, of which no digit is lost: uint64 in Protobuf. */
  wide(number: number, name: string, value: bigint | undefined): void;
  /** A safe integer, also below 0: sint64 in Protobuf. */
  signed(number: number, name: string, value: number | undefined): void;
  /** A duration in seconds: uint32 in Protobuf, rounded up, and the largest uint32 if it is larger. */
  seconds(number: number, name: string, value: number): void;
  /** A publication's data, byte for byte in Protobuf and MessagePack (rule W5). */
  payload(number: number, name: string, value: Payload): void;
  /** JSON from a token: spliced in unchanged in JSON, and the bytes of its text in the binary formats. */
  json(number: number, name: string, value: JsonText | undefined): void;
  /** A message within this one. It is written even if it has no fields, since its presence has a meaning. */
  message<M>(number: number, name: string, message: M | undefined, fields: Fields<M>): void;
  /** A repeated message. */
  messages<M>(
    number: number,
    name: string,
    messages: readonly M[],
    fields: Fields<M>,
    always?: "always",
  ): void;
  /**
   * A list of messages that is encoded once, however many messages it is written into, so it must never change, and is
   * always written with the same fields.
   */
  sharedMessages<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void;
  /** A map of messages. */
  map<M>(
    number: number,
    name: string,
    entries: readonly FieldEntry<M>[],
    fields: Fields<M>,
    always?: "always",
  ): void;
  /**
   * A map of messages in parts. Each part is encoded once, however many messages it is written into (rule P5), so it
   * must never change, and is always written with the same keys and fields.
   */
  sharedMap<M>(
    number: number,
    name: string,
    parts: readonly (readonly M[])[],
    keyOf: (message: M) => string,
    fields: Fields<M>,
    always?: "always",
  ): void;
  /** A map of texts. */
  textMap(number: number, name: string, texts: Tags | undefined): void;
}

/** Writes all fields of a message, in the order of their numbers. */
export type Fields<M> = (out: FieldWriter, message: M) => void;

/** One entry of a map of messages. */
export type FieldEntry<M> = readonly [key: string, message: M];

/**
 * Reads the fields of one message. An absent field has its meaning of absence: "", 0, false, undefined. A field of the
 * wrong type, or out of its type's range, has it too and leaves a complaint, so the caller asks once, at the end,
 * whether there was any. Complaints name the field and never quote its value, which may be a token.
 */
export interface FieldReader {
  has(number: number, name: string): boolean;
  text(number: number, name: string): string;
  /** A repeated string. */
  texts(number: number, name: string): readonly string[];
  flag(number: number, name: string): boolean;
  uint32(number: number, name: string): number;
  /** Up to 2^53 - 1, the largest safe integer; larger ones are out of range. */
  uint64(number: number, name: string): number;
  /** Up to 2^64 - 1. Integers beyond the safe ones are rounded, and still taken. */
  wide(number: number, name: string): bigint;
  int32(number: number, name: string): number;
  /** From -(2^53 - 1) to 2^53 - 1, the safe integers; others are out of range. */
  int64(number: number, name: string): number;
  /** A publish request's data, which keeps no part of the frame in memory. */
  payload(number: number, name: string): Payload | undefined;
  /** The fields of a message within this one, whose complaints go to the same place. */
  message(number: number, name: string): FieldReader | undefined;
  /** A repeated message. */
  messages(number: number, name: string): Iterable<FieldReader>;
  /**
   * A map of messages. A key comes from the sender, so no complaint quotes it: all entries have the map's path in
   * complaints.
   *
   * @param countMax how many entries are read; more are a complaint, and then none is read
   */
  map(number: number, name: string, countMax: number): ReadonlyMap<string, FieldReader>;
  /** A map of texts; the parameters and complaints are those of {@link map}. */
  textMap(number: number, name: string, countMax: number): ReadonlyMap<string, string>;
  /** Leaves a complaint: a sentence whose subject is the field. */
  complain(name: string, complaint: string): void;
}

export const uint32Max = 0xffff_ffff;
export const uint64Max = 0xffff_ffff_ffff_ffffn;
export const int32Min = -0x8000_0000;
export const int32Max = 0x7fff_ffff;
