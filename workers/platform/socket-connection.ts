import { limits } from "../../src/limits.ts";
import type { Message } from "../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../src/protocol/codes.ts";
import type { Connection } from "../../src/session/connection.ts";
import type { SessionSnapshot } from "../../src/session/snapshot.ts";

/** A hibernatable socket as a session wants it. A socket that died meanwhile is no error: its close event is on the way. */
export class SocketConnection implements Connection {
  readonly #socket: WebSocket;
  readonly #context: DurableObjectState;
  /** Bytes sent since the peer was last heard; only what a runtime without `bufferedAmount` has to go by. */
  #unconfirmedBytes = 0;
  #lastAutoResponseMs: number | undefined;

  constructor(socket: WebSocket, context: DurableObjectState) {
    this.#socket = socket;
    this.#context = context;
  }

  send(frame: Message): void {
    this.#unconfirmedBytes += frame.length;
    try {
      this.#socket.send(frame);
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
    this.#socket.serializeAttachment(snapshot);
  }

  backlogBytes(): number {
    const buffered = this.#socket.bufferedAmount;
    if (buffered !== undefined) return buffered;
    // A client that pings by itself is heard by the runtime, not by us.
    const lastAutoResponseMs = this.lastAutoResponseMs();
    if (lastAutoResponseMs !== this.#lastAutoResponseMs) this.heard();
    this.#lastAutoResponseMs = lastAutoResponseMs;
    return this.#unconfirmedBytes > limits.unconfirmedBytesMax ? Number.POSITIVE_INFINITY : 0;
  }

  lastAutoResponseMs(): number | undefined {
    return this.#context.getWebSocketAutoResponseTimestamp(this.#socket)?.getTime();
  }

  /** The peer sent something. */
  heard(): void {
    this.#unconfirmedBytes = 0;
  }
}
