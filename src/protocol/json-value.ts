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
