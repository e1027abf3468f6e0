import { type DisconnectCode, lostCode } from "../protocol/codes.ts";
import type { PlatformSocket } from "./platform.ts";

/**
 * Closes a socket from this side, or answers the client's close; the server closes no socket otherwise (rule B15). The
 * runtime answers no close frame of a hibernatable socket, and a client without an answer reports 1006.
 *
 * @param code   of the close frame. A client may have sent one that can't be handed back: 1005 and 1006 stand for none,
 *               and others are reserved or out of range. Such a close is answered without a code.
 * @param reason likewise: one that is longer than 123 bytes, once its invalid bytes were replaced, can't be handed back
 */
export function closeSocket(socket: Closable, code: number, reason: string): void {
  // Nearly every client that ends has one of these two: the runtime would throw at them, which costs more than the close.
  const hasCode = code !== noCode && code !== abnormalCode;
  if (!hasCode || !tryToClose(() => socket.close(code, reason))) tryToClose(() => socket.close());
}

/** The close frame has no code, or there was no close frame (RFC 6455, section 7.4.1). */
const noCode = 1005;
const abnormalCode = 1006;

/**
 * Closes a socket with a disconnect code. The code 3000 stands for a connection that was lost: the client is told no code,
 * reports "transport closed", and connects again (rule T2).
 */
export function disconnectSocket(socket: Closable, { code, reason }: DisconnectCode): void {
  if (code === lostCode) tryToClose(() => socket.close());
  else closeSocket(socket, code, reason);
}

/** @returns false if the close threw: the runtime takes no such code or reason, or the socket has failed already */
function tryToClose(close: () => void): boolean {
  try {
    close();
    return true;
  } catch {
    return false;
  }
}

type Closable = Pick<PlatformSocket, "close">;
