import { textOf } from "../../support/text-of.ts";
import type { PlatformSocket } from "../../../src/object/platform.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Timeline } from "./timeline.ts";

/** The client's end of the socket. */
export interface ClientEnd {
  /** @param moment the event in which the frame was sent, see `Timeline.moment` */
  receive(frame: string, moment: number): void;
  closed(code: number): void;
}

/** The server's end of the socket. */
export interface ServerEnd {
  /** Delays work until all earlier writes are durable. */
  gate(work: () => void): void;
  message(socket: Socket, frame: string): void;
  /** @param wasClean whether the client sent a close frame */
  ended(socket: Socket, code: number, wasClean: boolean): void;
}

/** A socket. Frames take time and keep their order. The attachment lasts as long as the socket. */
export class Socket implements PlatformSocket {
  /** The connection's ID. */
  readonly client: string;
  readonly bufferedAmount = 0;
  readonly #timeline: Timeline;
  readonly #latencyMs: () => number;
  readonly #server: ServerEnd;
  readonly #client: ClientEnd;
  #attachment: object | undefined;
  /** Whether the server's end can send. */
  #isOpen = true;
  #isCut = false;
  #clientReceivedMs = 0;
  #serverReceivedMs = 0;
  /** When the server sent the reply to a successful connect, ms since 1970; undefined before. */
  begunAtMs: number | undefined;
  /** Whether nothing has arrived at the client for a while. */
  wasStalled = false;
  /** Whether the server pings the client. */
  isPinged = false;
  /** When the platform last answered the client in the object's place, by the object's clock. */
  answeredAtMs: number | undefined;
  /** Called when that reply is sent. */
  onBegun: (() => void) | undefined;

  constructor(
    client: string,
    server: ServerEnd,
    end: ClientEnd,
    timeline: Timeline,
    latencyMs: () => number,
  ) {
    this.client = client;
    this.#timeline = timeline;
    this.#latencyMs = latencyMs;
    this.#server = server;
    this.#client = end;
  }

  /** Whether the server can still send, or has not noticed that nothing arrives any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether nothing arrives any more, at either end. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Does work when the client has received everything that the server has sent by now. */
  afterSent(work: () => void): void {
    this.#toClient(work);
  }

  send(message: string | Uint8Array): void {
    if (!this.#isOpen) return;
    const frame = textOf(message);
    if (this.begunAtMs === undefined) this.#begin(frame);
    const { moment } = this.#timeline;
    this.#server.gate(() => this.#toClient(() => this.#client.receive(frame, moment)));
  }

  close(code = 1005): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#server.gate(() => {
      this.#toClient(() => {
        this.#client.closed(code);
        this.#toServer(() => this.#server.ended(this, code, true));
      });
    });
  }

  serializeAttachment(attachment: object): void {
    this.#attachment = plainCopy(attachment);
  }

  deserializeAttachment(): unknown {
    return plainCopy(this.#attachment);
  }

  /** The client sends a frame. */
  fromClient(frame: string): void {
    this.#toServer(() => this.#server.message(this, frame));
  }

  /** The client closes its end and gets nothing any more. */
  leave(): void {
    this.#clientReceivedMs = Number.POSITIVE_INFINITY;
    this.#toServer(() => {
      this.#isOpen = false;
      this.#server.ended(this, 1000, true);
    });
  }

  /** For so many ms, nothing arrives at the client. It comes later, unless the connection breaks. */
  stall(forMs: number): void {
    this.wasStalled = true;
    this.#clientReceivedMs = Math.max(this.#clientReceivedMs, this.#timeline.nowMs + forMs);
  }

  /** The connection breaks; both ends notice. */
  break(): void {
    if (this.#clientReceivedMs === Number.POSITIVE_INFINITY) return;
    this.die();
    this.#timeline.after(this.#latencyMs(), () => this.#server.ended(this, 1006, false));
  }

  /** The server's end is lost with its object, and so are the frames in transit. */
  die(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#isOpen = false;
    if (this.#clientReceivedMs === Number.POSITIVE_INFINITY) return;
    this.#timeline.after(this.#latencyMs(), () => {
      if (this.#clientReceivedMs !== Number.POSITIVE_INFINITY) this.#client.closed(1006);
    });
  }

  #begin(frame: string): void {
    if (!frame.includes(`"connect":{`)) return;
    this.begunAtMs = this.#timeline.nowMs;
    this.onBegun?.();
  }

  #toClient(arrive: () => void): void {
    const atMs = Math.max(this.#clientReceivedMs, this.#timeline.nowMs + this.#latencyMs());
    if (atMs === Number.POSITIVE_INFINITY) return;
    this.#clientReceivedMs = atMs;
    this.#timeline.after(atMs - this.#timeline.nowMs, () => {
      if (!this.#isCut && this.#clientReceivedMs !== Number.POSITIVE_INFINITY) arrive();
    });
  }

  #toServer(arrive: () => void): void {
    const atMs = Math.max(this.#serverReceivedMs, this.#timeline.nowMs + this.#latencyMs());
    this.#serverReceivedMs = atMs;
    this.#timeline.after(atMs - this.#timeline.nowMs, () => {
      if (!this.#isCut) arrive();
    });
  }
}
