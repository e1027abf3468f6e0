import type { FieldReader } from "../fields.ts";
import { int32Max, int32Min, uint32Max, uint64Max } from "../fields.ts";
import { payloadOf, type Payload } from "../payload.ts";
import { isWireArray, isWireObject, type WireObject, type WireValue } from "../wire-value.ts";
import { memberText } from "./text.ts";

/**
 * Reads the fields of an object by name, of JSON and of MessagePack alike. A field that is null counts as absent; JSON
 * has one exception, {@link payload}.
 */
export class JsonFields implements FieldReader {
  readonly #object: WireObject;
  readonly #path: readonly string[];
  readonly #complaints: string[];
  readonly #json: string | undefined;

  /**
   * @param path       the names of the fields that lead to the object, from the command inwards
   * @param complaints where complaints are left, oldest first
   * @param json       the text of the whole command; undefined in MessagePack
   */
  constructor(
    object: WireObject,
    path: readonly string[],
    complaints: string[],
    json: string | undefined,
  ) {
    this.#object = object;
    this.#path = path;
    this.#complaints = complaints;
    this.#json = json;
  }

  has(_: number, name: string): boolean {
    return (this.#object[name] ?? null) !== null;
  }

  text(_: number, name: string): string {
    const value = this.#object[name] ?? "";
    if (typeof value === "string") return value;
    this.complain(name, "is not a string");
    return "";
  }

  /** The strings up to the first entry that is none. */
  texts(_: number, name: string): readonly string[] {
    return this.#entries(name, "a string", (entry) =>
      typeof entry === "string" ? entry : undefined,
    );
  }

  flag(_: number, name: string): boolean {
    const value = this.#object[name] ?? false;
    if (typeof value === "boolean") return value;
    this.complain(name, "is not a boolean");
    return false;
  }

  uint32(_: number, name: string): number {
    return this.#integer(name, 0, uint32Max, "is not an unsigned integer");
  }

  uint64(_: number, name: string): number {
    return this.#integer(name, 0, Number.MAX_SAFE_INTEGER, "is not an unsigned integer");
  }

  wide(_: number, name: string): bigint {
    const value = BigInt(this.#integer(name, 0, 2 ** 64, "is not an unsigned integer"));
    // The number next to the largest uint64 is larger than that.
    return value > uint64Max ? uint64Max : value;
  }

  int32(_: number, name: string): number {
    return this.#integer(name, int32Min, int32Max, "is not an integer");
  }

  int64(_: number, name: string): number {
    const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
    return this.#integer(name, min, max, "is not an integer");
  }

  /** In JSON any value, null included, as its sender wrote it (rule W2); in MessagePack bytes. */
  payload(_: number, name: string): Payload | undefined {
    // The text is looked through only if there is something to find: most requests have no data.
    if (!Object.hasOwn(this.#object, name)) return undefined;
    if (this.#json !== undefined) return memberText(this.#json, ...this.#path, name);
    const value = this.#object[name] ?? null;
    if (value === null) return undefined;
    // A copy, because a part would keep its whole frame in memory.
    if (value instanceof Uint8Array) return payloadOf(value.slice());
    this.complain(name, "is not bytes");
    return undefined;
  }

  message(_: number, name: string): JsonFields | undefined {
    const value = this.#object[name] ?? null;
    if (value === null) return undefined;
    if (isWireObject(value)) return this.#inner(value, [...this.#path, name]);
    this.complain(name, "is not an object");
    return undefined;
  }

  /** The objects up to the first entry that is none. */
  messages(_: number, name: string): readonly JsonFields[] {
    const path = [...this.#path, name];
    return this.#entries(name, "an object", (entry) =>
      isWireObject(entry) ? this.#inner(entry, path) : undefined,
    );
  }

  map(_: number, name: string, countMax: number): ReadonlyMap<string, JsonFields> {
    const objects = new Map<string, JsonFields>();
    const value = this.#object[name] ?? null;
    if (value === null) return objects;
    if (!isWireObject(value)) {
      this.complain(name, "is not an object");
      return objects;
    }
    const entries = Object.entries(value);
    if (entries.length > countMax) {
      this.complain(name, `has over ${countMax} entries`);
      return objects;
    }
    const path = [...this.#path, name];
    for (const [key, entry] of entries) {
      if (isWireObject(entry)) objects.set(key, this.#inner(entry, path));
      else if (entry !== null) this.complain(name, "has an entry that is not an object");
    }
    return objects;
  }

  textMap(_: number, name: string, countMax: number): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    const value = this.#object[name] ?? null;
    if (value === null) return texts;
    const entries = isWireObject(value) ? Object.entries(value) : [];
    if (!isWireObject(value)) this.complain(name, "is not an object");
    else if (entries.length > countMax) this.complain(name, `has over ${countMax} entries`);
    else {
      for (const [key, entry] of entries) {
        if (typeof entry === "string") texts.set(key, entry);
        else if (entry !== null) this.complain(name, "has an entry that is not a string");
      }
    }
    return texts;
  }

  complain(name: string, complaint: string): void {
    this.#complaints.push(`${[...this.#path, name].join(".")} ${complaint}`);
  }

  #inner(object: WireObject, path: readonly string[]): JsonFields {
    return new JsonFields(object, path, this.#complaints, this.#json);
  }

  #entries<T>(
    name: string,
    expected: string,
    read: (entry: WireValue) => T | undefined,
  ): readonly T[] {
    const value = this.#object[name] ?? null;
    if (value === null) return [];
    if (!isWireArray(value)) {
      this.complain(name, "is not an array");
      return [];
    }
    const entries: T[] = [];
    for (const entry of value) {
      const one = read(entry);
      if (one === undefined) {
        this.complain(name, `has an entry that is not ${expected}`);
        break;
      }
      entries.push(one);
    }
    return entries;
  }

  #integer(name: string, min: number, max: number, complaint: string): number {
    const value = this.#object[name] ?? 0;
    if (typeof value !== "number" || !Number.isInteger(value) || (min === 0 && value < 0)) {
      this.complain(name, complaint);
      return 0;
    }
    if (value < min || value > max) {
      this.complain(name, "is out of range");
      return 0;
    }
    // Adding 0 turns -0, which JSON can spell, into the ordinary 0.
    return value + 0;
  }
}

/**
 * A member of a JSON object that is a uint64, from its digits: JSON.parse would round it above 2^53. It is 0n if it is
 * absent or null, and undefined if it isn't a uint64.
 */
export function memberUint64(json: string, name: string): bigint | undefined {
  const digits = memberText(json, name) ?? "null";
  if (digits === "null") return 0n;
  // The length is checked first, because the time to parse a bigint grows faster than its length.
  const value = /^[0-9]{1,20}$/.test(digits) ? BigInt(digits) : undefined;
  return value === undefined || value > uint64Max ? undefined : value;
}
