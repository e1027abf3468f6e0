import type { Codec } from "../codec.ts";
import { joinBinaryFrame } from "../concatenated.ts";
import { decodeFrame } from "./messagepack-frame.ts";
import { encodePush } from "./messagepack-push.ts";
import { encodeReply } from "./encode.ts";

/** The MessagePack wire format: JSON's messages as maps, payloads as bytes (rule W6). Decoding and encoding never throw. */
export const messagePackCodec: Codec = {
  name: "msgpack",
  deltaForm: "bytes",
  ping: Uint8Array.of(0x80),
  decodeFrame,
  encodeReply,
  encodePush,
  joinFrame: joinBinaryFrame,
};
