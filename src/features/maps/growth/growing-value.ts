import { type Columns, columnsAfter, columnsOf, columnsSum } from "../../../delta/fossil.ts";
import { findValue } from "../../../protocol/json/scan.ts";
import { grownJsonText, type JsonText } from "../../../protocol/json/text.ts";
import { type Payload, payloadText } from "../../../protocol/payload.ts";
import type { Splice } from "../../../protocol/piece.ts";

/**
 * A value that grows at the end of its text: a JSON string, or a string in an object whose other members stay the same.
 * The cost of appending depends on the length of the piece, not of the value: the engine joins strings only when they
 * are read, and the checksum is made from sums that are kept.
 */
export class GrowingValue {
  /**
   * Whether a splice can be sent to subscribers that have the value as it was read: they have the same text, and the
   * string was in it.
   */
  readonly isAsTold: boolean;
  readonly #after: CountedText;
  #now: GrownText;
  /** When it was settled last. */
  #settled: GrownText;
  /** What was appended since then, as it stands in JSON. */
  #fresh = "";

  private constructor(before: string, quoted: string, after: string, isAsTold: boolean) {
    const inside = quoted.slice(1, -1);
    const json = `${before}"${inside}`;
    const plain: string = JSON.parse(quoted);
    this.isAsTold = isAsTold;
    this.#now = { ...counted(json), json, plain };
    this.#settled = this.#now;
    this.#after = { ...counted(`"${after}`), json: `"${after}` };
  }

  /**
   * Reads a value.
   *
   * @param data  of the key; undefined if the map hasn't the key
   * @param field the member of an object that grows; "" if the value itself is a string
   * @returns undefined if there is no such string, and none can be begun
   */
  static of(data: Payload | undefined, field: string): GrowingValue | undefined {
    if (data === undefined) {
      return field === ""
        ? new GrowingValue("", '""', "", false)
        : new GrowingValue(`{${JSON.stringify(field)}:`, '""', "}", false);
    }
    const json = payloadText(data);
    if (json === undefined) return undefined;
    const place = findValue(json, field === "" ? [] : [field]);
    if (place === undefined) return GrowingValue.#withField(json, field);
    const quoted = json.slice(place.start, place.end);
    if (!quoted.startsWith('"')) return undefined;
    const [before, after] = [json.slice(0, place.start), json.slice(place.end)];
    return new GrowingValue(before, quoted, after, json === data);
  }

  /** An object that gets the member that grows. */
  static #withField(object: string, field: string): GrowingValue | undefined {
    if (!object.startsWith("{")) return undefined;
    const members = object.slice(0, -1).trimEnd();
    const comma = members === "{" ? "" : ",";
    const before = `${members}${comma}${JSON.stringify(field)}:`;
    return new GrowingValue(before, '""', "}", false);
  }

  /** The length of the text, in UTF-16 units. */
  get length(): number {
    return this.#now.plain.length;
  }

  /** The length of the value as JSON, in bytes. */
  get bytes(): number {
    return this.#now.bytes + this.#after.bytes;
  }

  get data(): JsonText {
    return grownJsonText(this.#now.json, "", this.#after.json);
  }

  /** Whether the text has another text at a place, in UTF-16 units. */
  holds(at: number, text: string): boolean {
    return at + text.length <= this.length && this.#now.plain.startsWith(text, at);
  }

  /** The bytes by which the value would grow. */
  static bytesOf(text: string): number {
    return counted(escaped(text)).bytes;
  }

  /** @returns the splice from the value before */
  append(text: string): Splice {
    const before = this.#now;
    const json = escaped(text);
    const added = counted(json);
    this.#now = {
      json: `${before.json}${json}`,
      plain: `${before.plain}${text}`,
      bytes: before.bytes + added.bytes,
      columns: columnsAfter(before.columns, before.bytes, added.columns),
    };
    this.#fresh += json;
    return this.#spliceFrom(before, json);
  }

  /** The splice from the value when it was settled last. */
  get sinceSettled(): Splice {
    return this.#spliceFrom(this.#settled, this.#fresh);
  }

  /** What was appended so far is settled: {@link sinceSettled} begins anew, and {@link undo} leads back to here. */
  settle(): void {
    this.#settled = this.#now;
    this.#fresh = "";
  }

  /** A state to which {@link undo} leads back. */
  save(): () => void {
    const [now, fresh] = [this.#now, this.#fresh];
    return () => {
      this.#now = now;
      this.#fresh = fresh;
    };
  }

  #spliceFrom(before: GrownText, text: string): Splice {
    const { columns, bytes } = this.#now;
    return {
      text,
      at: before.bytes,
      baseBytes: before.bytes + this.#after.bytes,
      sum: columnsSum(columnsAfter(columns, bytes, this.#after.columns)),
    };
  }
}

/** A part of a value as JSON, with its bytes. */
interface CountedText {
  readonly bytes: number;
  readonly columns: Columns;
  readonly json: string;
}

/** The value up to the end of its text, and the text. */
interface GrownText extends CountedText {
  readonly plain: string;
}

function counted(json: string): CountedText {
  const bytes = encoder.encode(json);
  return { json, bytes: bytes.length, columns: columnsOf(bytes) };
}

const encoder = new TextEncoder();

/** A text as it stands between the quotes of a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
