import type { FieldReader, Fields, FieldWriter, FieldEntry } from "../../../src/protocol/fields.ts";
import type { Payload } from "../../../src/protocol/payload.ts";

/** A field that a message's function named, and the fields of the message in it. */
export interface RecordedField {
  readonly number: number;
  readonly name: string;
  readonly kind: keyof FieldWriter | keyof FieldReader;
  /** Undefined if the field holds no message. */
  readonly fields?: readonly RecordedField[];
}

/** The fields that are written of a message, whether or not it has a value for them. */
export function writtenFields<M>(message: M, fields: Fields<M>): readonly RecordedField[] {
  const writer = new RecordingWriter();
  fields(writer, message);
  return writer.recorded;
}

class RecordingWriter implements FieldWriter {
  readonly recorded: RecordedField[] = [];

  text(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "text" });
  }

  flag(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "flag" });
  }

  unsigned(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "unsigned" });
  }

  wide(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "wide" });
  }

  signed(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "signed" });
  }

  seconds(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "seconds" });
  }

  payload(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "payload" });
  }

  json(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "json" });
  }

  message<M>(number: number, name: string, message: M | undefined, fields: Fields<M>): void {
    const inner = message === undefined ? {} : { fields: writtenFields(message, fields) };
    this.recorded.push({ number, name, kind: "message", ...inner });
  }

  sharedMessages<M>(number: number, name: string, list: readonly M[], fields: Fields<M>): void {
    this.messages(number, name, list, fields);
  }

  messages<M>(number: number, name: string, [message]: readonly M[], fields: Fields<M>): void {
    const inner = message === undefined ? {} : { fields: writtenFields(message, fields) };
    this.recorded.push({ number, name, kind: "messages", ...inner });
  }

  map<M>(number: number, name: string, [entry]: readonly FieldEntry<M>[], fields: Fields<M>): void {
    const inner = entry === undefined ? {} : { fields: writtenFields(entry[1], fields) };
    this.recorded.push({ number, name, kind: "map", ...inner });
  }

  sharedMap<M>(
    number: number,
    name: string,
    [part]: readonly (readonly M[])[],
    _: (message: M) => string,
    fields: Fields<M>,
  ): void {
    const [message] = part ?? [];
    const inner = message === undefined ? {} : { fields: writtenFields(message, fields) };
    this.recorded.push({ number, name, kind: "sharedMap", ...inner });
  }

  textMap(number: number, name: string): void {
    this.recorded.push({ number, name, kind: "textMap" });
  }
}

/** Records the fields that are read of a message. It has every message, each map and each repeated message with one entry. */
export class RecordingReader implements FieldReader {
  readonly recorded: RecordedField[] = [];
  readonly #present: string | undefined;
  readonly #depthMax: number;

  /**
   * @param present  the only field that is there, as far as {@link has} tells
   * @param depthMax how many messages stand within each other
   */
  constructor(present: string | undefined, depthMax: number) {
    this.#present = present;
    this.#depthMax = depthMax;
  }

  has(_: number, name: string): boolean {
    return name === this.#present;
  }

  text(number: number, name: string): string {
    this.recorded.push({ number, name, kind: "text" });
    return "";
  }

  texts(number: number, name: string): readonly string[] {
    this.recorded.push({ number, name, kind: "texts" });
    return [];
  }

  flag(number: number, name: string): boolean {
    this.recorded.push({ number, name, kind: "flag" });
    return false;
  }

  uint32(number: number, name: string): number {
    this.recorded.push({ number, name, kind: "uint32" });
    return 1;
  }

  uint64(number: number, name: string): number {
    this.recorded.push({ number, name, kind: "uint64" });
    return 0;
  }

  wide(number: number, name: string): bigint {
    this.recorded.push({ number, name, kind: "wide" });
    return 0n;
  }

  int32(number: number, name: string): number {
    this.recorded.push({ number, name, kind: "int32" });
    return 0;
  }

  int64(number: number, name: string): number {
    this.recorded.push({ number, name, kind: "int64" });
    return 0;
  }

  payload(number: number, name: string): Payload | undefined {
    this.recorded.push({ number, name, kind: "payload" });
    return undefined;
  }

  textMap(number: number, name: string): ReadonlyMap<string, string> {
    this.recorded.push({ number, name, kind: "textMap" });
    return new Map();
  }

  message(number: number, name: string): FieldReader | undefined {
    return this.#inner(number, name, "message");
  }

  messages(number: number, name: string): Iterable<FieldReader> {
    const inner = this.#inner(number, name, "messages");
    return inner === undefined ? [] : [inner];
  }

  map(number: number, name: string): ReadonlyMap<string, FieldReader> {
    const inner = this.#inner(number, name, "map");
    return new Map(inner === undefined ? [] : [["key", inner]]);
  }

  complain(name: string, complaint: string): void {
    throw new Error(`${name} ${complaint}`);
  }

  #inner(number: number, name: string, kind: RecordedField["kind"]): FieldReader | undefined {
    if (this.#depthMax === 0) {
      this.recorded.push({ number, name, kind });
      return undefined;
    }
    const reader = new RecordingReader(undefined, this.#depthMax - 1);
    this.recorded.push({ number, name, kind, fields: reader.recorded });
    return reader;
  }
}
