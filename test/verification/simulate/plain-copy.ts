/**
 * Copies data as the platform does between two objects, and throws at functions and instances of classes, which the
 * platform couldn't carry. Several times as fast as `structuredClone`.
 */
export function plainCopy<Value>(value: Value): Value;
export function plainCopy(value: unknown): unknown {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "bigint":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : copyObject(value);
    case "function":
    case "symbol":
      throw new TypeError(`a ${typeof value} can't be sent to another object`);
  }
}

function copyObject(value: object): unknown {
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) copy.push(plainCopy(item));
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    for (const [key, item] of value) copy.set(plainCopy(key), plainCopy(item));
    return copy;
  }
  if (value instanceof Uint8Array) return value.slice();
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`a ${value.constructor.name} can't be sent to another object`);
  }
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) copy[key] = plainCopy(item);
  return copy;
}
