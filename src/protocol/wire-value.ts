/**
 * A parsed value of JSON or MessagePack. Only MessagePack has bytes, and only the HTTP API parses it to big integers.
 */
export type WireValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly WireValue[]
  | WireObject;

/** An object of JSON or a map of MessagePack. */
export interface WireObject {
  readonly [name: string]: WireValue;
}

/** Whether a value is an object: neither null nor an array nor bytes. */
export function isWireObject(value: WireValue): value is WireObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !isWireArray(value) &&
    !(value instanceof Uint8Array)
  );
}

/** `Array.isArray` for a type with read-only arrays, which the built-in one doesn't narrow to. */
export function isWireArray(value: WireValue): value is readonly WireValue[] {
  return Array.isArray(value);
}

/** A parsed value of JSON. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Its keys are those of the text, `__proto__` included. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A value that JSON can hold, as a program gives it. */
export type JsonData = object | string | number | boolean | null;

/** Parses text that is already known to be valid JSON. */
export function jsonValue(valid: string): JsonValue {
  const value: JsonValue = JSON.parse(valid);
  return value;
}

/** Whether a value is a whole number that isn't negative, such as an offset or a version. */
export function isCount(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** `Array.isArray` for a type with read-only arrays, which the built-in one doesn't narrow to. */
export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a value is an object: neither null nor an array. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !isJsonArray(value);
}
