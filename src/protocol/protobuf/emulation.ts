import { ProtobufFields } from "./fields.ts";

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
