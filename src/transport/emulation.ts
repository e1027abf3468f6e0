import { isJsonObject, jsonValue } from "../protocol/wire-value.ts";
import { parseJsonText } from "../protocol/json/text.ts";

/** What a client posts because its connection is a stream: a frame for a session on a node (docs/protocol.md 4.3). */
export interface EmulationRequest {
  readonly node: string;
  /** The session's secret. */
  readonly session: string;
  /** Text, or the bytes of a binary codec. */
  readonly data: string | Uint8Array;
}

/** Reads the JSON form, in which the frame is a string; undefined when it is something else. */
export function parseEmulationRequest(text: string): EmulationRequest | undefined {
  const json = parseJsonText(text);
  if (json === undefined) return undefined;
  const value = jsonValue(json);
  if (!isJsonObject(value)) return undefined;
  const { node, session, data } = value;
  if (typeof node !== "string" || typeof session !== "string" || typeof data !== "string") {
    return undefined;
  }
  return { node, session, data };
}
