import { type RawData, WebSocket } from "ws";
import { microseconds } from "../history/clock.ts";
import { isTerminal, socketOptions } from "./endpoint.ts";
import { tickMs } from "./subscriber.ts";

/** Who uses a link. All times are µs. */
export interface LinkUser {
  opened(time: number): void;
  /** A line came that isn't a ping. */
  received(line: string, time: number): void;
  /** It is over, with the code that the server gave, or one of the library's. */
  closed(time: number, code: number): void;
  /** It is over, and no client may come back or none should have to. {@link closed} follows. */
  failed(what: string): void;
}

/** Where a link leads, and how it is kept alive. */
export interface LinkTraits {
  readonly address: string;
  readonly hostHeader?: string;
  /** The client pings, not the server. */
  readonly pings: boolean;
  readonly pingIntervalMs: number;
}

/** One connection of a raw subscriber: frames, lines, pings, silence and its end. */
export class RawLink {
  readonly #socket: WebSocket;
  readonly #user: LinkUser;
  readonly #silentTicksMax: number;
  /** It pings itself, so often; Infinity when the server does. */
  readonly #pingTicks: number;
  #ticks = 0;
  /** Counted in ticks: a process that was held up itself doesn't take that for silence. */
  #silentTicks = 0;
  #isOver = false;
  /** The server wants its pings answered. */
  answersPings = false;

  constructor({ address, hostHeader, pings, pingIntervalMs }: LinkTraits, user: LinkUser) {
    this.#user = user;
    this.#silentTicksMax = (pingIntervalMs + graceMs) / tickMs;
    this.#pingTicks = pings ? Math.floor(pingIntervalMs / tickMs) : Number.POSITIVE_INFINITY;
    const query = pings ? "?keepalive=client" : "";
    this.#socket = new WebSocket(`${address}${query}`, socketOptions(hostHeader));
    this.#socket.on("open", () => {
      if (!this.#isOver) user.opened(microseconds());
    });
    this.#socket.on("message", (frame) => this.#receive(frame));
    this.#socket.on("error", (error) => this.#break(error));
    this.#socket.on("close", (code) => this.#end(code));
  }

  /** Sends commands in one frame. */
  send(commands: readonly object[]): void {
    if (commands.length === 0 || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(commands.map((command) => JSON.stringify(command)).join("\n"));
  }

  tick(): void {
    if (++this.#ticks % this.#pingTicks === 0 && this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send("ping");
    }
    if (++this.#silentTicks > this.#silentTicksMax) this.drop();
  }

  /** Ends it without a goodbye. */
  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.terminate();
    this.#user.closed(microseconds(), abnormal);
  }

  #receive(frame: RawData): void {
    // Frames come whole, in one buffer each: that is the library's default.
    if (this.#isOver || !Buffer.isBuffer(frame)) return;
    const time = microseconds();
    this.#silentTicks = 0;
    const text = frame.toString();
    let start = 0;
    // What a line says may end the link.
    while (start < text.length && !this.#isOver) {
      const found = text.indexOf("\n", start);
      const end = found === -1 ? text.length : found;
      const line = start === 0 && end === text.length ? text : text.slice(start, end);
      start = end + 1;
      if (line === "{}") this.#answerPing();
      else if (line !== "pong") this.#user.received(line, time);
    }
  }

  #answerPing(): void {
    if (this.answersPings && this.#socket.readyState === WebSocket.OPEN) this.#socket.send("{}");
  }

  #break(error: Error): void {
    if (this.#isOver) return;
    const status = Number(/^Unexpected server response: (\d+)$/.exec(error.message)?.[1] ?? 0);
    if (status >= 300 && status < 500 && status !== 429) {
      this.#user.failed(`was refused with ${status}`);
    }
    // Frames that break the protocol can't come from cut connections.
    const code = "code" in error ? String(error.code) : "";
    if (code.startsWith("WS_ERR_"))
      this.#user.failed(`was sent what no frame is: ${error.message}`);
  }

  #end(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (isTerminal(code))
      this.#user.failed(`was closed with ${code}, after which no client returns`);
    this.#user.closed(microseconds(), code);
  }
}

/** What RFC 6455 calls an end without a close frame. */
const abnormal = 1006;

/** How much longer than the ping interval a connection may be silent before it is taken for dead. */
const graceMs = 3_000;
