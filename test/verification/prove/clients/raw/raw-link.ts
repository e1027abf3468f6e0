import { type RawData, WebSocket } from "ws";
import { microseconds } from "../../history/clock.ts";
import { keepaliveTexts } from "../../../../../src/contract/keepalive.ts";
import { isTerminal, socketOptions } from "../endpoint.ts";
import { tickMs } from "../subscriber.ts";

/** The user of a link. All times are µs. */
export interface LinkUser {
  opened(time: number): void;
  /** A line arrived that isn't a ping. */
  received(line: string, time: number): void;
  /** The link has ended, with the server's close code or one of the library's. */
  closed(time: number, code: number): void;
  /**
   * The link has ended in a way after which no client may reconnect, or that no client should see. {@link closed}
   * follows.
   */
  failed(what: string): void;
}

/** The address of a link, and its keep-alive. */
export interface LinkTraits {
  readonly address: string;
  readonly hostHeader?: string;
  /** Whether the client pings instead of the server. */
  readonly pings: boolean;
  readonly pingIntervalMs: number;
  /** Whether orders may end the connection with a code after which SDKs don't reconnect. */
  readonly mayBeEnded: boolean;
}

/** One connection of a raw subscriber: frames, lines, pings, silence and its end. */
export class RawLink {
  readonly #socket: WebSocket;
  readonly #user: LinkUser;
  readonly #silentTicksMax: number;
  readonly #mayBeEnded: boolean;
  /** The client's own ping interval, in ticks; Infinity when the server pings. */
  readonly #pingTicks: number;
  #ticks = 0;
  /** Counted in ticks, so that a process that was held up itself doesn't take that for silence. */
  #silentTicks = 0;
  #isOver = false;
  /** Whether the server expects pongs. */
  answersPings = false;

  constructor(traits: LinkTraits, user: LinkUser) {
    const { address, hostHeader, pings, pingIntervalMs } = traits;
    this.#user = user;
    this.#mayBeEnded = traits.mayBeEnded;
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
      this.#socket.send(keepaliveTexts.request);
    }
    if (++this.#silentTicks > this.#silentTicksMax) this.drop();
  }

  /** Ends the link without a close frame. */
  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.terminate();
    this.#user.closed(microseconds(), abnormal);
  }

  #receive(frame: RawData): void {
    // The library delivers each frame whole, in one buffer, by default.
    if (this.#isOver || !Buffer.isBuffer(frame)) return;
    const time = microseconds();
    this.#silentTicks = 0;
    const text = frame.toString();
    let start = 0;
    // A line may end the link.
    while (start < text.length && !this.#isOver) {
      const found = text.indexOf("\n", start);
      const end = found === -1 ? text.length : found;
      const line = start === 0 && end === text.length ? text : text.slice(start, end);
      start = end + 1;
      if (line === "{}") this.#answerPing();
      else if (line !== keepaliveTexts.answer) this.#user.received(line, time);
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
    if (isTerminal(code) && !this.#mayBeEnded)
      this.#user.failed(`was closed with ${code}, after which no client returns`);
    this.#user.closed(microseconds(), code);
  }
}

/** RFC 6455's code for an end without a close frame. */
const abnormal = 1006;

/** How much longer than the ping interval a connection may be silent before it counts as dead. */
const graceMs = 3_000;
