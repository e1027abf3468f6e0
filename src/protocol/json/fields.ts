import { payloadOf, type Payload } from "../payload.ts";
import { isWireArray, isWireObject, type WireObject, type WireValue } from "../wire-value.ts";

/**
 * Reads an object's fields by type, of JSON and of MessagePack alike. An absent field, and one that is null, has its
 * meaning of absence: "", 0, false, undefined. A field of the wrong type has it too and leaves a complaint, so the reader
 * asks once, at the end, whether there was any. Complaints name the field and never quote its value, which may be a token.
 */
export class JsonFields {
  readonly #object: WireObject;
  readonly #prefix: string;
  readonly #complaints: string[];

  /**
   * @param prefix what stands before a field's name in a complaint, such as "subscribe."
   * @param complaints where they are left, oldest first
   */
  constructor(object: WireObject, prefix: string, complaints: string[]) {
    this.#object = object;
    this.#prefix = prefix;
    this.#complaints = complaints;
  }

  has(field: string): boolean {
    return (this.#object[field] ?? null) !== null;
  }

  text(field: string): string {
    const value = this.#object[field] ?? "";
    if (typeof value === "string") return value;
    this.complain(field, "is not a string");
    return "";
  }

  flag(field: string): boolean {
    const value = this.#object[field] ?? false;
    if (typeof value === "boolean") return value;
    this.complain(field, "is not a boolean");
    return false;
  }

  /** Bytes, which only MessagePack has. They are copied, or they would keep their frame in memory. */
  payload(field: string): Payload | undefined {
    const value = this.#object[field] ?? null;
    if (value === null) return undefined;
    if (value instanceof Uint8Array) return payloadOf(value.slice());
    this.complain(field, "is not bytes");
    return undefined;
  }

  /** @param max the largest value allowed; a safe integer */
  unsigned(field: string, max: number): number {
    return this.#integer(field, 0, max, "is not an unsigned integer");
  }

  /** A signed integer. Both bounds are allowed and are safe integers. */
  integer(field: string, min: number, max: number): number {
    return this.#integer(field, min, max, "is not an integer");
  }

  /** The fields of an object within this one; they complain to the same place. */
  object(field: string): JsonFields | undefined {
    const value = this.#object[field] ?? null;
    if (value === null) return undefined;
    if (isWireObject(value)) {
      return new JsonFields(value, `${this.#prefix}${field}.`, this.#complaints);
    }
    this.complain(field, "is not an object");
    return undefined;
  }

  /**
   * The objects within this one's object, by name; none when it is absent. A name comes from the sender, so it stands in
   * no complaint: what is wrong with any of them is said of the same path.
   *
   * @param countMax how many are taken; more are a complaint
   */
  objects(field: string, countMax: number): ReadonlyMap<string, JsonFields> {
    const objects = new Map<string, JsonFields>();
    const value = this.#object[field] ?? null;
    if (value === null) return objects;
    if (!isWireObject(value)) {
      this.complain(field, "is not an object");
      return objects;
    }
    const entries = Object.entries(value);
    if (entries.length > countMax) {
      this.complain(field, `has over ${countMax} entries`);
      return objects;
    }
    for (const [name, entry] of entries) {
      if (isWireObject(entry)) {
        objects.set(name, new JsonFields(entry, `${this.#prefix}${field}.`, this.#complaints));
      } else if (entry !== null) {
        this.complain(field, "has an entry that is not an object");
      }
    }
    return objects;
  }

  /** The strings of an array, up to the first that is none; empty when it is absent. */
  texts(field: string): readonly string[] {
    return this.#entries(field, "a string", (entry) =>
      typeof entry === "string" ? entry : undefined,
    );
  }

  /** The objects of an array, up to the first that is none; empty when it is absent. They complain to the same place. */
  list(field: string): readonly JsonFields[] {
    return this.#entries(field, "an object", (entry) =>
      isWireObject(entry)
        ? new JsonFields(entry, `${this.#prefix}${field}.`, this.#complaints)
        : undefined,
    );
  }

  /** Leaves a complaint: a sentence whose subject is the field. */
  complain(field: string, complaint: string): void {
    this.#complaints.push(`${this.#prefix}${field} ${complaint}`);
  }

  #entries<T>(
    field: string,
    expected: string,
    read: (entry: WireValue) => T | undefined,
  ): readonly T[] {
    const value = this.#object[field] ?? null;
    if (value === null) return [];
    if (!isWireArray(value)) {
      this.complain(field, "is not an array");
      return [];
    }
    const entries: T[] = [];
    for (const entry of value) {
      const one = read(entry);
      if (one === undefined) {
        this.complain(field, `has an entry that is not ${expected}`);
        break;
      }
      entries.push(one);
    }
    return entries;
  }

  #integer(field: string, min: number, max: number, complaint: string): number {
    const value = this.#object[field] ?? 0;
    if (typeof value !== "number" || !Number.isInteger(value) || (min === 0 && value < 0)) {
      this.complain(field, complaint);
      return 0;
    }
    if (value < min || value > max) {
      this.complain(field, "is out of range");
      return 0;
    }
    // Adding 0 makes -0, which JSON can spell, the ordinary 0.
    return value + 0;
  }
}
