import { type Codec, type DecodedFrame, type Message, malformedFrame } from "../codec.ts";
import { decodeFrame, decodeCommand, frameText } from "./decode.ts";
import { encodePush, encodeReply, encodeBare } from "./encode.ts";
import { parseJsonText } from "./text.ts";
import type { Reply } from "../reply.ts";

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

/**
 * The JSON of unidirectional clients (docs/protocol.md 4.5, rule T8). The only frame from the client is a connect
 * request, and the server sends pushes without the reply around them. The reply to the connect is such a push too.
 */
export const unidirectionalCodec: Codec = {
  name: "one_way",
  deltaForm: "text",
  ping: "{}",
  decodeFrame: decodeConnect,
  encodeReply: encodeConnectPush,
  encodePush: encodeBare,
  joinFrame: (messages) => messages.join("\n"),
};

function decodeConnect(message: Message): DecodedFrame {
  const text = frameText(message);
  if (text === undefined) return malformedFrame("the frame is not valid UTF-8");
  // The request is checked before it is put into a command, or text after it could add other members to the command.
  const request = parseJsonText(text.trim() === "" ? "{}" : text);
  if (request === undefined) return malformedFrame("the request is not valid JSON");
  if (!request.startsWith("{")) return malformedFrame("the request is not an object");
  const decoded = decodeCommand(`{"id":${connectId},"connect":${request}}`);
  return decoded.outcome === "malformed"
    ? malformedFrame(decoded.reason)
    : { commands: [decoded.command] };
}

/** Encodes the reply to the connect, the only reply there is: an error becomes a disconnect code (rule C11). */
function encodeConnectPush(reply: Reply): Message {
  return `{${encodeReply(reply).slice(`{"id":${reply.id},`.length)}`;
}

/** Of the command that the request is put into; no client sees it. */
const connectId = 1;
