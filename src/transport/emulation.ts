import { parseJsonObject } from "../protocol/json/text.ts";

/**
 * The body of `POST /emulation`, by which a client on an HTTP stream sends a frame to its session (docs/protocol.md
 * 4.3).
 */
export interface EmulationRequest {
  readonly node: string;
  /** The session's secret from the connect reply (rule T4): it must not be in a log. */
  readonly session: string;
  /** Text, or the bytes of a binary codec. */
  readonly data: string | Uint8Array;
}

/** Parses the JSON form, in which the frame is a string; undefined if the text is something else. */
export function parseEmulationRequest(text: string): EmulationRequest | undefined {
  const { node, session, data } = parseJsonObject(text)?.fields ?? {};
  if (typeof node !== "string" || typeof session !== "string" || typeof data !== "string") {
    return undefined;
  }
  return { node, session, data };
}
