import type { Codec } from "../codec.ts";
import { decodeFrame } from "./decode.ts";
import { encodePush, encodeReply } from "./encode.ts";

/** The JSON format: one object on each line (docs/protocol.md 1.1). */
export const jsonCodec: Codec = {
  name: "json",
  deltaForm: "text",
  ping: "{}",
  decodeFrame,
  encodeReply,
  encodePush,
  joinFrame: (messages) => messages.join("\n"),
};
