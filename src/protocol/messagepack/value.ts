import { Decoder } from "@msgpack/msgpack";
import { messagePackEnd } from "./scan.ts";
import type { WireValue } from "../wire-value.ts";

/** A decoded value, and the place after it. */
export type DecodedValue =
  | { readonly outcome: "value"; readonly value: WireValue; readonly end: number }
  | { readonly outcome: "malformed" };

/**
 * Decodes the MessagePack value that begins at `start`. Byte arrays in it are views of the input. Never throws, and
 * takes memory in proportion to the input (see {@link messagePackEnd}).
 *
 * @param bigIntegers whether an integer wider than 32 bits becomes a bigint. Otherwise it becomes a number, and no
 *                    integer beyond 2^53 becomes a smaller one.
 */
export function parseMessagePack(
  bytes: Uint8Array,
  start: number,
  bigIntegers: boolean,
): DecodedValue {
  const end = messagePackEnd(bytes, start);
  if (end === undefined) return { outcome: "malformed" };
  // By default the library keeps the keys that it decodes for later calls, and so for other clients.
  const decoder = new Decoder({ useBigInt64: bigIntegers, keyDecoder: null });
  try {
    const value: unknown = decoder.decode(bytes.subarray(start, end));
    return isWireValue(value) ? { outcome: "value", value, end } : { outcome: "malformed" };
  } catch {
    // Of the values that passed the check, the library refuses those with the key `__proto__`.
    return { outcome: "malformed" };
  }
}

/** The library declares its result as unknown. */
function isWireValue(value: unknown): value is WireValue {
  if (typeof value === "object") {
    return value === null || value instanceof Uint8Array || Object.values(value).every(isWireValue);
  }
  return ["boolean", "number", "bigint", "string"].includes(typeof value);
}
