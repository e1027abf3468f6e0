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
