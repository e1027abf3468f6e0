import { parseJsonObject } from "../protocol/json/text.ts";
import { ProtobufFields } from "../protocol/protobuf/fields.ts";

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

/**
 * An EmulationRequest: the commands that a client posts if its transport carries only what the server sends
 * (docs/protocol.md 1.2).
 */
export interface ProtobufEmulation {
  /** The session's address, from the connect reply. */
  readonly node: string;
  /** The session's secret, from the same reply; never in a log (rule A7). */
  readonly session: string;
  /** A frame of commands: a part of the decoded bytes, not a copy. */
  readonly data: Uint8Array;
}

/** Decodes an EmulationRequest, which has no length before it; undefined if it is malformed. Never throws. */
export function decodeEmulation(bytes: Uint8Array): ProtobufEmulation | undefined {
  const complaints: string[] = [];
  const fields = new ProtobufFields(bytes, "", complaints);
  const node = fields.text(1, "node");
  const session = fields.text(2, "session");
  const data = fields.bytes(3, "data");
  return complaints.length > 0 ? undefined : { node, session, data };
}
