import { ProtobufFields } from "./fields.ts";

/** What a client posts whose transport only listens (docs/protocol.md 1.2). */
export interface ProtobufEmulation {
  /** Where the connect reply said to post to. */
  readonly node: string;
  /** The secret from the same reply: never in a log. */
  readonly session: string;
  /** A frame of commands; a part of the bytes that were decoded. */
  readonly data: Uint8Array;
}

/** Decodes an EmulationRequest, which has no length before it; undefined when it isn't one. Never throws. */
export function decodeEmulation(bytes: Uint8Array): ProtobufEmulation | undefined {
  const complaints: string[] = [];
  const fields = new ProtobufFields(bytes, "", complaints);
  const node = fields.text(1, "node");
  const session = fields.text(2, "session");
  const data = fields.bytes(3, "data");
  return complaints.length > 0 ? undefined : { node, session, data };
}
