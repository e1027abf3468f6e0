import type { Codec } from "../codec.ts";
import { decodeFrame } from "./decode.ts";
import { encodePush, encodeReply } from "./encode.ts";

/** The JSON wire format: objects on lines of their own (docs/protocol.md 1.1). Decoding and encoding never throw. */
export const jsonCodec: Codec = {
  name: "json",
  deltaForm: "text",
  ping: "{}",
  decodeFrame,
  encodeReply,
  encodePush,
  joinFrame: (messages) => messages.join("\n"),
};
