/** Whatever JSON or MessagePack can say, parsed. Only MessagePack has bytes, and only the HTTP API's has big integers. */
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

/** `Array.isArray` that knows a read-only array for one. */
export function isWireArray(value: WireValue): value is readonly WireValue[] {
  return Array.isArray(value);
}

/** Whatever JSON can say, parsed. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Its keys are as the text says, `__proto__` among them. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Parses text that is already known to be valid JSON. */
export function jsonValue(valid: string): JsonValue {
  const value: JsonValue = JSON.parse(valid);
  return value;
}

/** `Array.isArray` that knows a read-only array for one. */
export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a value is an object: neither null nor an array. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !isJsonArray(value);
}
