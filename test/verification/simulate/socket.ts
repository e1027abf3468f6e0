import type { Message } from "../../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../../src/protocol/codes.ts";
import {
  parseAttachment,
  writeSession,
  type WrittenSession,
} from "../../../src/contract/attachment.ts";
import type { Connection } from "../../../src/session/ports.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Timeline } from "./timeline.ts";
import { textOf } from "../../support/text-of.ts";

/** The client's end of the socket. */
export interface ClientEnd {
  receive(frame: string): void;
  closed(code: number): void;
}

/** The server's end of the socket. */
export interface ServerEnd {
  /** Delays work until all earlier writes are durable. */
  gate(work: () => void): void;
  message(socket: Socket, frame: string): void;
  ended(socket: Socket): void;
}

/** A socket. Frames take time and keep their order. The saved attachment lasts as long as the socket. */
export class Socket implements Connection {
  /** The connection's ID. */
  readonly client: string;
  readonly #timeline: Timeline;
  readonly #latencyMs: () => number;
  readonly #server: ServerEnd;
  readonly #client: ClientEnd;
  readonly #rows: Map<string, string>;
  #written: WrittenSession;
  /** Whether the server's end can send. */
  #isOpen = true;
  /** Whether nothing arrives any more, at either end. */
  #isCut = false;
  #held: Message[] | undefined;
  #clientReceivedMs = 0;
  #serverReceivedMs = 0;
  /** When the server sent the reply to a successful connect, ms since 1970; undefined before. */
  begunAtMs: number | undefined;
  /** Called when that reply is sent. */
  onBegun: (() => void) | undefined;

  constructor(
    snapshot: SessionSnapshot,
    server: ServerEnd,
    client: ClientEnd,
    rows: Map<string, string>,
    timeline: Timeline,
    latencyMs: () => number,
  ) {
    this.client = snapshot.client;
    this.#timeline = timeline;
    this.#latencyMs = latencyMs;
    this.#server = server;
    this.#client = client;
    this.#rows = rows;
    this.#written = plainCopy(writeSession(snapshot));
  }

  /** Whether the server can still send, or has not noticed that nothing arrives any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Does work when the client has received everything that the server has sent by now. */
  afterSent(work: () => void): void {
    this.#toClient(work);
  }

  /** The saved session, as an object that wakes reads it. */
  get saved(): SessionSnapshot {
    const attachment = plainCopy(this.#written.attachment);
    const snapshot = parseAttachment(attachment, (client) => this.#rows.get(client));
    if (snapshot === undefined) throw new Error("what was saved can't be read");
    return snapshot;
  }

  send(frame: Message): void {
    if (!this.#isOpen) return;
    if (this.#held !== undefined) {
      this.#held.push(frame);
      return;
    }
    if (this.begunAtMs === undefined) this.#begin(frame);
    this.#server.gate(() => this.#toClient(() => this.#client.receive(textOf(frame))));
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const frame of held) this.send(frame);
  }

  close({ code }: DisconnectCode): void {
    if (!this.#isOpen) return;
    this.#held = undefined;
    this.#isOpen = false;
    this.#server.gate(() => {
      this.#toClient(() => {
        this.#client.closed(code);
        this.#toServer(() => this.#server.ended(this));
      });
    });
  }

  save(snapshot: SessionSnapshot): void {
    this.#written = plainCopy(writeSession(snapshot));
    const { row } = this.#written;
    if (row === undefined) this.#rows.delete(snapshot.client);
    else this.#rows.set(snapshot.client, row);
  }

  backlogBytes(): number {
    return 0;
  }

  /** The server doesn't ping here. */
  answeredAtMs(): undefined {
    return undefined;
  }

  /** The platform answers the client's pings at all times. */
  lastHeardMs(): number {
    return this.#timeline.nowMs;
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
      this.#server.ended(this);
    });
  }

  /** The connection breaks; both ends notice. */
  break(): void {
    if (this.#clientReceivedMs === Number.POSITIVE_INFINITY) return;
    this.die();
    this.#timeline.after(this.#latencyMs(), () => this.#server.ended(this));
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

  #begin(frame: Message): void {
    if (!textOf(frame).includes(`"connect":{`)) return;
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
