/**
 * Sockets that the edge answers itself, because a backend has refused the client at the upgrade (rule Q13). The client
 * sees what an object would have sent it: the close, or the error that answers its connect.
 */
import { keepaliveAnswer } from "../../src/contract/keepalive.ts";
import type { HookRefusal } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import { utf8Fits } from "../../src/protocol/bytes.ts";
import type { Codec, Message } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes, type ErrorCode } from "../../src/protocol/codes.ts";
import { pushBeforeClose, unidirectionalDisconnect } from "../../src/session/unidirectional.ts";
import { disconnectSocket } from "../../src/object/close-socket.ts";

/**
 * Makes a socket for a refused client.
 *
 * @param staleCloseDelayMs how long the socket stays open at most
 * @param reader            whether the client has the socket, or the edge, which makes a stream of what comes
 * @returns the client's end
 */
export function refusedSocket(
  codec: Codec,
  refusal: HookRefusal,
  staleCloseDelayMs: number,
  reader: "client" | "stream",
): WebSocket {
  const { 0: clientEnd, 1: edgeEnd } = new WebSocketPair();
  edgeEnd.binaryType = "arraybuffer";
  edgeEnd.accept();
  const isFull = answeredSockets >= limits.refusedSocketsMax;
  if (refusal.outcome === "disconnect" || isFull || codec.name === "one_way") {
    const code = refusedCode(refusal);
    const isOwn = reader === "client" && codec.name === "one_way";
    const push = isOwn ? pushBeforeClose(codec, code) : undefined;
    if (push !== undefined) edgeEnd.send(push);
    disconnectSocket(edgeEnd, code);
  } else answerConnect(edgeEnd, codec, refusal.error, staleCloseDelayMs);
  return clientEnd;
}

/** The code with which a refused client is closed that isn't sent an error. */
export function refusedCode(refusal: HookRefusal): DisconnectCode {
  return refusal.outcome === "disconnect" ? refusal.code : unidirectionalDisconnect(refusal.error);
}

/** How many sockets of {@link answerConnect} are open in this isolate. */
let answeredSockets = 0;

/** Answers the client's connect with an error, and nothing after it (rules C1, C2 and C4). */
function answerConnect(
  socket: WebSocket,
  codec: Codec,
  error: ErrorCode,
  staleCloseDelayMs: number,
): void {
  let isOpen = true;
  let awaitsConnect = true;
  answeredSockets++;
  const timer = setTimeout(
    () => disconnectSocket(socket, disconnectCodes.stale),
    staleCloseDelayMs,
  );
  const ended = (): void => {
    clearTimeout(timer);
    if (isOpen) answeredSockets--;
    isOpen = false;
  };
  socket.addEventListener("close", ended);
  socket.addEventListener("error", ended);
  socket.addEventListener("message", ({ data }) => {
    if (!awaitsConnect || data instanceof Blob) return;
    const keepalive = typeof data === "string" ? keepaliveAnswer(data) : undefined;
    if (keepalive !== undefined) {
      socket.send(keepalive);
      return;
    }
    awaitsConnect = false;
    const frame = typeof data === "string" ? data : new Uint8Array(data);
    const [first] = isTooLarge(frame) ? [] : codec.decodeFrame(frame).commands;
    if (isTooLarge(frame)) disconnectSocket(socket, disconnectCodes.messageSizeLimit);
    else if (first?.method !== "connect") disconnectSocket(socket, disconnectCodes.badRequest);
    else socket.send(codec.encodeReply({ id: first.id, error }));
  });
}

function isTooLarge(frame: Message): boolean {
  return typeof frame === "string"
    ? !utf8Fits(frame, limits.frameBytesMax)
    : frame.byteLength > limits.frameBytesMax;
}
