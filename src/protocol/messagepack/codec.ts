import {
  type Codec,
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
} from "../codec.ts";
import { joinBinaryFrame } from "../bytes.ts";
import { encodePush, encodeReply } from "./encode.ts";
import { decodeRoot } from "../json/decode.ts";
import { parseMessagePack } from "./value.ts";

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

/**
 * Decodes a frame: one map after the other with nothing between them, each a command with the names and meanings that it
 * has in JSON (rule W6).
 */
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
      return decodeRoot(root.value, (publish) => publish.payload("data"));
    },
  );
}
