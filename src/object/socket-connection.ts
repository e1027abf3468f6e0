import { limits } from "../limits.ts";
import type { Message } from "../protocol/codec.ts";
import type { DisconnectCode } from "../protocol/codes.ts";
import { writeSession } from "../contract/attachment.ts";
import type { Connection } from "../session/ports.ts";
import type { SessionSnapshot } from "../contract/session-snapshot.ts";
import { disconnectSocket } from "./close-socket.ts";
import type { Platform, PlatformSocket } from "./platform.ts";
import type { SessionRows } from "./session-rows.ts";

/**
 * A client's socket as sessions use it. A socket that is closed already is no error: its close event is on the way.
 */
export class SocketConnection implements Connection {
  readonly #socket: PlatformSocket;
  readonly #host: SocketHost;
  readonly #oneByOne: boolean;
  /**
   * Bytes sent since the client last sent something; the backlog's only measure on a runtime without `bufferedAmount`.
   */
  #unconfirmedBytes = 0;
  /** When the client last sent something before those bytes were sent, ms since 1970. */
  #confirmedAtMs: number | undefined;
  /** When the last frame of the client came, in this instance, ms since 1970. */
  #frameAtMs: number | undefined;

  /** Frames that are held back; undefined while none are. */
  #held: Message[] | undefined;
  #heldBytes = 0;
  #isGone = false;

  /** @param oneByOne sends each message as a frame of its own, where several lines would share one */
  constructor(socket: PlatformSocket, host: SocketHost, oneByOne = false) {
    this.#socket = socket;
    this.#host = host;
    this.#oneByOne = oneByOne;
  }

  send(frame: Message): void {
    if (this.#isGone) return;
    if (this.#held !== undefined) {
      this.#held.push(frame);
      this.#heldBytes += frame.length;
      return;
    }
    this.#unconfirmedBytes += frame.length;
    try {
      if (this.#oneByOne && typeof frame === "string") {
        for (const message of frame.split("\n")) if (message !== "") this.#socket.send(message);
      } else this.#socket.send(frame);
    } catch {
      // `send` throws only when the socket is closing. A close or error event follows, and ends the session.
    }
  }

  /**
   * Notes that the socket is closed, so that nothing is sent any more. The hub sends a subscriber that leaves the rest of
   * its frames; on a closed socket that send throws, and takes as long as ten other sends.
   */
  gone(): void {
    this.#isGone = true;
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#heldBytes = 0;
    for (const frame of held) this.send(frame);
  }

  close(code: DisconnectCode, push?: Message): void {
    this.#held = undefined;
    this.#heldBytes = 0;
    if (push !== undefined) this.send(push);
    disconnectSocket(this.#socket, code);
  }

  save(snapshot: SessionSnapshot): void {
    const { attachment, row } = writeSession(snapshot);
    this.#host.rows?.store(snapshot.client, row);
    this.#socket.serializeAttachment(attachment);
    this.#host.saved?.(this.#socket);
  }

  backlogBytes(): number {
    const buffered = this.#socket.bufferedAmount;
    if (buffered !== undefined) return buffered + this.#heldBytes;
    // If the client has sent something since, it counts as having taken all frames before: nothing better is known.
    const lastHeardMs = this.lastHeardMs();
    if (lastHeardMs !== this.#confirmedAtMs) this.#unconfirmedBytes = 0;
    this.#confirmedAtMs = lastHeardMs;
    return this.#unconfirmedBytes > limits.unconfirmedBytesMax ? Number.POSITIVE_INFINITY : 0;
  }

  answeredAtMs(): number | undefined {
    return this.#host.platform.sockets.answeredAtMs(this.#socket);
  }

  lastHeardMs(): number | undefined {
    const answered = this.answeredAtMs();
    if (answered === undefined || this.#frameAtMs === undefined) return answered ?? this.#frameAtMs;
    // The clock may have been set back since the frame (rule S5).
    return this.#frameAtMs > this.#host.platform.nowMs()
      ? answered
      : Math.max(answered, this.#frameAtMs);
  }

  /** Notes that the client sent a frame. */
  heard(nowMs: number): void {
    this.#frameAtMs = nowMs;
  }
}

/** The object as its socket connections see it. */
export interface SocketHost {
  readonly platform: Pick<Platform, "sockets" | "nowMs">;
  /** Stores sessions that are too large for an attachment (rule G2); absent where sessions may not be. */
  readonly rows?: SessionRows;
  /** Called after each {@link SocketConnection.save}, when the session has changed. */
  readonly saved?: (socket: PlatformSocket) => void;
}
