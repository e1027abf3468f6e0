import { type DisconnectCode, lostCode } from "../protocol/codes.ts";
import type { PlatformSocket } from "./platform.ts";

/**
 * Closes a socket from this side, or answers the client's close (rule B15). The server closes every socket by this
 * function. The runtime answers no close frame of a hibernatable socket, and a client without an answer reports 1006.
 *
 * @param code   of the close frame. A client's code can't always be sent back: 1005 and 1006 mean that there was none,
 *               and others are reserved or out of range. Such a close is answered without a code.
 * @param reason of the close frame. If it is longer than 123 bytes after its invalid bytes were replaced, it can't be
 *               sent back either.
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
 * Closes a socket with a disconnect code. The code 3000 stands for a lost connection: the client receives no code,
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
