import type { Codec } from "../codec.ts";
import { joinBinaryFrame } from "../bytes.ts";
import { decodeFrame } from "./decode.ts";
import { encodePush, encodeReply } from "./encode.ts";

/**
 * The Protobuf wire format: messages of `client.proto`, each after its length (docs/protocol.md 1.1). Decoding and encoding never
 * throw.
 */
export const protobufCodec: Codec = {
  name: "protobuf",
  deltaForm: "bytes",
  ping: new Uint8Array([0]),
  decodeFrame,
  encodeReply,
  encodePush,
  joinFrame: joinBinaryFrame,
};
