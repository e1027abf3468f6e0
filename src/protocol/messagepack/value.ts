import { Decoder } from "@msgpack/msgpack";
import { messagePackEnd } from "./scan.ts";
import type { WireValue } from "../wire-value.ts";

export type DecodedValue =
  | { readonly outcome: "value"; readonly value: WireValue; readonly end: number }
  | { readonly outcome: "malformed" };

/**
 * Decodes the MessagePack value that begins at `start`. Its bytes are views of the input. Never throws, and takes memory in
 * proportion to the input (see {@link messagePackEnd}).
 *
 * @param bigIntegers whether what is wider than 32 bits becomes a bigint. Otherwise it becomes a number, in which no integer
 * beyond 2^53 passes for a smaller one.
 */
export function parseMessagePack(
  bytes: Uint8Array,
  start: number,
  bigIntegers: boolean,
): DecodedValue {
  const end = messagePackEnd(bytes, start);
  if (end === undefined) return { outcome: "malformed" };
  // The library remembers keys for all its callers unless told not to: what one client sends is nothing to another.
  const decoder = new Decoder({ useBigInt64: bigIntegers, keyDecoder: null });
  try {
    const value: unknown = decoder.decode(bytes.subarray(start, end));
    return isWireValue(value) ? { outcome: "value", value, end } : { outcome: "malformed" };
  } catch {
    return { outcome: "malformed" }; // Of what is left it refuses one key, `__proto__`.
  }
}

/** The library's types say nothing of what it decodes to. */
function isWireValue(value: unknown): value is WireValue {
  if (typeof value === "object") {
    return value === null || value instanceof Uint8Array || Object.values(value).every(isWireValue);
  }
  return ["boolean", "number", "bigint", "string"].includes(typeof value);
}
