import { limits } from "../../src/limits.ts";
import type { Codec } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../src/protocol/codes.ts";
import { isConnected, type StreamFormat } from "../../src/transport/stream.ts";
import { ByteQueue, StreamBudget } from "./stream-buffer.ts";

/** What lies on both sides of a client's stream. */
interface ClientStreamSetup {
  /** To the object; not accepted yet. */
  readonly socket: WebSocket;
  /** What the client said with its request. */
  readonly first: string | Uint8Array;
  readonly codec: Codec;
  readonly format: StreamFormat;
  readonly pingIntervalMs: number;
  /** How often the stream is written to when nothing happens, so that it is noticed when the client is gone; 0 for never. */
  readonly probeIntervalMs: number;
  /** What may wait for the client here, besides one frame. */
  readonly queueMaxBytes: number;
  /** When the request began, ms since 1970. */
  readonly startedAtMs: number;
}

/**
 * Passes on what an object sends over a socket to a client that listens to an HTTP response, until one of them is gone. It
 * reads no more of it than whether the client is connected.
 */
export class ClientStream {
  readonly #setup: ClientStreamSetup;
  readonly #body = new BoundedBody(() => this.#abandoned());
  /** What a client that isn't connected is not to hear too soon; undefined once it is connected. */
  #held: Uint8Array[] | undefined = [];
  #releaseTimer: number | null = null;
  #pingTimer: number | null = null;
  #probeTimer: number | null = null;
  /** The object sends nothing more. */
  #closed = false;

  constructor(setup: ClientStreamSetup) {
    this.#setup = setup;
    const { socket, first, format, pingIntervalMs, probeIntervalMs } = setup;
    budget.register(this.#body);
    if (format.opening !== "") this.#body.write(new TextEncoder().encode(format.opening));
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("close", ({ code, reason }) => this.#close({ code, reason }));
    socket.addEventListener("error", () => this.#close(undefined));
    socket.accept();
    socket.send(first);
    // The first one at random, so that clients who came together aren't pinged together.
    this.#pingAfter(pingIntervalMs * (0.5 + Math.random() / 2));
    if (probeIntervalMs > 0) this.#probeTimer = setInterval(() => this.#probe(), probeIntervalMs);
  }

  /** The response's body. */
  get readable(): ReadableStream<Uint8Array> {
    return this.#body.readable;
  }

  #take(data: string | ArrayBuffer | Blob): void {
    // The runtime's answer to our own ping; and the socket was told to give buffers.
    if (this.#closed || data === "pong" || data instanceof Blob) return;
    const frame = typeof data === "string" ? data : new Uint8Array(data);
    if (this.#held !== undefined && isConnected(frame)) this.#held = undefined;
    this.#deliver(this.#setup.format.encode(frame));
  }

  #deliver(bytes: Uint8Array): void {
    if (this.#held === undefined) {
      this.#write(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#releaseLater();
  }

  /** @param code what the object closed the socket with; undefined when it didn't */
  #close(code: DisconnectCode | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    // Without a word of the object's own the client is to come back, which it does when the stream just ends.
    if (code !== undefined && !isWordless(code.code)) this.#deliver(this.#disconnect(code));
    if (this.#held === undefined) this.#end();
    else this.#releaseLater();
  }

  /** Tells a client that isn't connected what was held back, not before it is time (rule T5). */
  #releaseLater(): void {
    if (this.#releaseTimer !== null) return;
    const delayMs = limits.refusedStreamDelayMs * (1 + Math.random());
    const waitMs = this.#setup.startedAtMs + delayMs - Date.now();
    this.#releaseTimer = setTimeout(() => this.#release(), Math.max(waitMs, 0));
  }

  #release(): void {
    this.#releaseTimer = null;
    for (const bytes of this.#held?.splice(0) ?? []) this.#body.write(bytes);
    if (this.#closed) this.#end();
  }

  /** A client that is too far behind is cut, as on a WebSocket (rules F4 and T3). */
  #write(bytes: Uint8Array): void {
    if (this.#body.awaited || this.#mayWait(bytes.byteLength)) {
      this.#body.write(bytes);
      return;
    }
    // What waits goes: who doesn't read would have it kept for as long as he likes.
    this.#body.clear();
    this.#body.write(this.#disconnect(disconnectCodes.slow));
    this.#leave(disconnectCodes.slow);
  }

  /** Whether so many bytes may wait, with those that do: by this stream's own measure, and by that of all of them. */
  #mayWait(bytes: number): boolean {
    const { waitingBytes } = this.#body;
    if (waitingBytes >= this.#setup.queueMaxBytes) return false;
    budget.added(bytes);
    return waitingBytes + bytes <= budget.shareBytes;
  }

  /** The client is pinged as everywhere; the object only hears of it from the runtime (rules K3 and T2). */
  #pingAfter(waitMs: number): void {
    this.#pingTimer = setTimeout(() => {
      const { socket, codec, format, pingIntervalMs } = this.#setup;
      this.#pingAfter(pingIntervalMs);
      if (socket.readyState === WebSocket.OPEN) socket.send("ping");
      if (this.#held === undefined) this.#write(format.encode(codec.ping));
    }, waitMs);
  }

  /** A runtime that isn't told when a client goes learns it from what it writes (rule T6). */
  #probe(): void {
    if (this.#body.waitingBytes === 0) this.#body.write(this.#setup.format.filler);
  }

  #abandoned(): void {
    this.#leave({ code: 1000, reason: "" });
  }

  /** Takes the client from the object: its subscriptions and its presence end at once. */
  #leave({ code, reason }: DisconnectCode): void {
    this.#closed = true;
    this.#end();
    this.#setup.socket.close(code, reason);
  }

  #end(): void {
    clearTimeout(this.#pingTimer);
    clearTimeout(this.#releaseTimer);
    clearInterval(this.#probeTimer);
    this.#body.end();
    if (this.#body.waitingBytes > 0) setTimeout(() => this.#drop(), limits.streamEndMs);
  }

  /** Nothing comes after it that its reader could be cut by: who doesn't read would have it kept for ever. */
  #drop(): void {
    this.#body.clear();
    this.#body.end();
  }

  #disconnect(code: DisconnectCode): Uint8Array {
    const { codec, format } = this.#setup;
    return format.encode(codec.encodePush({ type: "disconnect", code }));
  }
}

/** Of this isolate's streams, whoever they are for. */
const budget = new StreamBudget();

/** A normal end, an object that goes away, no code and no close at all (RFC 6455, section 7.4.1). */
function isWordless(code: number): boolean {
  return code === 1000 || code === 1001 || code === 1005 || code === 1006;
}

/**
 * A response's body that is written as things happen, however slowly its reader takes it. Like `ReadableStream`, but what
 * waits can be counted and thrown away.
 */
class BoundedBody {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #waiting = new ByteQueue();
  /** Undefined once nothing more goes in. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #ending = false;
  #awaited = false;

  /** @param cancelled is called when the reader has given up */
  constructor(cancelled: () => void) {
    const source: UnderlyingSource<Uint8Array> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pass(),
      cancel: () => {
        this.#controller = undefined;
        cancelled();
      },
    };
    // Nothing is handed over before it is asked for: it couldn't be thrown away any more.
    this.readable = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  }

  /** Whether the reader has taken everything and waits for more. */
  get awaited(): boolean {
    return this.#awaited;
  }

  /** Bytes that wait, besides what the runtime is handing on already. */
  get waitingBytes(): number {
    return this.#waiting.bytes;
  }

  /** Adds to what is to be read. After the end nothing happens. */
  write(bytes: Uint8Array): void {
    if (this.#controller === undefined || this.#ending) return;
    this.#waiting.add(bytes);
    if (this.#awaited) this.#pass();
  }

  /** Throws away what waits. */
  clear(): void {
    this.#waiting.clear();
  }

  /** Ends the body once all of it is read. */
  end(): void {
    this.#ending = true;
    if (this.#waiting.bytes === 0) this.#close();
  }

  /** Hands the next piece to the runtime. */
  #pass(): void {
    const next = this.#waiting.take();
    this.#awaited = next === undefined;
    if (next !== undefined) this.#controller?.enqueue(next);
    if (this.#ending && this.#waiting.bytes === 0) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
