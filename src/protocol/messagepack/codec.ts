import {
  type Codec,
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
} from "../codec.ts";
import { joinBinaryFrame } from "../bytes.ts";
import { decodeObject } from "../json/decode.ts";
import { pushReplyFields, replyFields } from "../reply-fields.ts";
import type { Push } from "../reply.ts";
import { parseMessagePack } from "./value.ts";
import { messagePackOf } from "./writer.ts";

/** The MessagePack format: JSON's messages as maps, payloads as bytes (rule W6). */
export const messagePackCodec: Codec = {
  name: "msgpack",
  deltaForm: "bytes",
  ping: Uint8Array.of(0x80),
  decodeFrame,
  encodeReply: (reply) => messagePackOf(reply, replyFields, restBytesExpected),
  encodePush,
  joinFrame: joinBinaryFrame,
};

/** Decodes a frame: commands, one map after the other with nothing between them (docs/protocol.md 1.1). */
function decodeFrame(message: Message): DecodedFrame {
  if (typeof message === "string") return malformedFrame("the frame is not binary");
  if (message.length === 0) return malformedFrame("the frame is empty");
  let at = 0;
  return readFrame(
    () => at < message.length,
    () => {
      const root = parseMessagePack(message, at, false);
      if (root.outcome === "malformed") return malformed("the command is not valid MessagePack");
      at = root.end;
      return decodeObject(root.value, undefined);
    },
  );
}

function encodePush(push: Push): Message {
  const payloadUnits = push.type === "publication" ? push.publication.data.length : 0;
  return messagePackOf(push, pushReplyFields, payloadUnits + restBytesExpected);
}

/** Room for a message without its payload; few replies need more. */
const restBytesExpected = 256;
