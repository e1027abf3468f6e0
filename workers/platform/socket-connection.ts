import { limits } from "../../src/limits.ts";
import type { Message } from "../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../src/protocol/codes.ts";
import { writeSession } from "../../src/contract/attachment.ts";
import type { Connection } from "../../src/session/ports.ts";
import type { SessionSnapshot } from "../../src/contract/session-snapshot.ts";
import type { SessionRows } from "./session-rows.ts";

/** What all sockets of an object share. */
export interface SocketHost {
  readonly context: DurableObjectState;
  /** Where sessions lie that are too large for an attachment; absent where none may be. */
  readonly rows?: SessionRows;
  /** Called after each {@link SocketConnection.save}: something about the session is different. */
  readonly saved?: (socket: WebSocket) => void;
}

/** A hibernatable socket as a session wants it. A socket that died meanwhile is no error: its close event is on the way. */
export class SocketConnection implements Connection {
  readonly #socket: WebSocket;
  readonly #host: SocketHost;
  readonly #oneByOne: boolean;
  /** Bytes sent since the peer was last heard; only what a runtime without `bufferedAmount` has to go by. */
  #unconfirmedBytes = 0;
  #confirmedAtMs: number | undefined;
  /** When a frame of the peer's last came, in this instance. */
  #frameAtMs: number | undefined;

  /** @param oneByOne the peer reads one message a frame, and not lines of them */
  constructor(socket: WebSocket, host: SocketHost, oneByOne = false) {
    this.#socket = socket;
    this.#host = host;
    this.#oneByOne = oneByOne;
  }

  send(frame: Message): void {
    this.#unconfirmedBytes += frame.length;
    try {
      if (this.#oneByOne && typeof frame === "string") {
        for (const message of frame.split("\n")) this.#socket.send(message);
      } else this.#socket.send(frame);
    } catch {
      // Thrown only once the socket is closing; webSocketClose or webSocketError follows and ends the session.
    }
  }

  close({ code, reason }: DisconnectCode): void {
    try {
      this.#socket.close(code, reason);
    } catch {
      // Closed already, by the other side.
    }
  }

  save(snapshot: SessionSnapshot): void {
    const { attachment, row } = writeSession(snapshot);
    this.#host.rows?.store(snapshot.client, row);
    this.#socket.serializeAttachment(attachment);
    this.#host.saved?.(this.#socket);
  }

  backlogBytes(): number {
    const buffered = this.#socket.bufferedAmount;
    if (buffered !== undefined) return buffered;
    // What the peer says after a frame, it says having taken it.
    const lastHeardMs = this.lastHeardMs();
    if (lastHeardMs !== this.#confirmedAtMs) this.#unconfirmedBytes = 0;
    this.#confirmedAtMs = lastHeardMs;
    return this.#unconfirmedBytes > limits.unconfirmedBytesMax ? Number.POSITIVE_INFINITY : 0;
  }

  lastHeardMs(): number | undefined {
    // A client that pings by itself is answered, and so heard, by the runtime.
    const answered = this.#host.context.getWebSocketAutoResponseTimestamp(this.#socket)?.getTime();
    if (answered === undefined || this.#frameAtMs === undefined) return answered ?? this.#frameAtMs;
    return Math.max(answered, this.#frameAtMs);
  }

  /** The peer sent a frame. */
  heard(nowMs: number): void {
    this.#frameAtMs = nowMs;
  }
}
