import { joinBinaryFrame } from "../bytes.ts";
import type { Codec } from "../codec.ts";
import { pushReplyFields, replyFields } from "../reply-fields.ts";
import { decodeFrame } from "./decode.ts";
import { protobufOf } from "./writer.ts";

/** The Protobuf format: messages of `client.proto`, each after its length (docs/protocol.md 1.1, rule W5). */
export const protobufCodec: Codec = {
  name: "protobuf",
  deltaForm: "bytes",
  ping: new Uint8Array([0]),
  decodeFrame,
  encodeReply: (reply) => protobufOf(reply, replyFields),
  encodePush: (push) => protobufOf(push, pushReplyFields),
  joinFrame: joinBinaryFrame,
};
