import { type Codec, type DecodedFrame, type Message, malformedFrame } from "../codec.ts";
import { decodeCommand, frameText } from "./decode.ts";
import { encodeBare, encodeReply } from "./encode.ts";
import { parseJsonText } from "./text.ts";
import type { Reply } from "../reply.ts";

/**
 * JSON for those who only listen (docs/protocol.md 4.5): their first frame is what a connect command would ask for, and what they
 * get are pushes without the wrapper that tells them from replies. The answer to the connect is such a push, too.
 */
export const unidirectionalCodec: Codec = {
  name: "one_way",
  deltaForm: "text",
  ping: "{}",
  decodeFrame,
  encodeReply: encodeConnectPush,
  encodePush: encodeBare,
  joinFrame: (messages) => messages.join("\n"),
};

function decodeFrame(message: Message): DecodedFrame {
  const text = frameText(message);
  if (text === undefined) return malformedFrame("the frame is not valid UTF-8");
  // Checked alone before it is put into a command: or what follows it could say something else.
  const request = parseJsonText(text.trim() === "" ? "{}" : text);
  if (request === undefined) return malformedFrame("the request is not valid JSON");
  if (!request.startsWith("{")) return malformedFrame("the request is not an object");
  const decoded = decodeCommand(`{"id":${connectId},"connect":${request}}`);
  return decoded.outcome === "malformed"
    ? malformedFrame(decoded.reason)
    : { commands: [decoded.command] };
}

/** It answers nothing else: an error is told by a disconnect. */
function encodeConnectPush(reply: Reply): Message {
  return `{${encodeReply(reply).slice(`{"id":${reply.id},`.length)}`;
}

/** No client sees it. */
const connectId = 1;
