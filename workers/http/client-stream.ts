import { type KeepaliveTexts, pongText } from "../../src/contract/keepalive.ts";
import { limits } from "../../src/limits.ts";
import type { Codec } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../src/protocol/codes.ts";
import { isConnected, type StreamFormat } from "../../src/transport/stream.ts";
import { closeSocket } from "../../src/object/close-socket.ts";
import { ByteQueue, StreamBudget } from "./stream-buffer.ts";

/**
 * Passes the frames of an object's socket on to the HTTP stream of a client, until one of them ends (rules T1 and T2).
 * It pings the client, holds back errors (rule T5), and ends the stream of a client that doesn't read (rule T3). It
 * reads from the frames only whether the client is connected.
 */
export class ClientStream {
  readonly #setup: ClientStreamSetup;
  readonly #body = new BoundedBody(() => this.#abandoned());
  /** The bytes that are withheld while the client isn't connected; undefined once the client is connected. */
  #withheld: Uint8Array[] | undefined = [];
  #releaseTimer: number | null = null;
  #pingTimer: number | null = null;
  #probeTimer: number | null = null;
  /** Whether the last ping is unanswered; undefined if the client wasn't asked for pongs (rule K7). */
  #awaitsPong: boolean | undefined;
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
    // The platform would answer this text, and the object would never see it. With a line break it is another text.
    socket.send(first === setup.keepalive.request ? `${first}\n` : first);
    // The first interval is random, so that clients that connected together aren't pinged together.
    this.#pingAfter(pingIntervalMs * (0.5 + Math.random() / 2));
    if (probeIntervalMs > 0) this.#probeTimer = setInterval(() => this.#probe(), probeIntervalMs);
  }

  /** The body of the response. */
  get readable(): ReadableStream<Uint8Array> {
    return this.#body.readable;
  }

  #take(data: string | ArrayBuffer | Blob): void {
    // The answer to the edge's own ping isn't for the client, and the socket's binaryType excludes Blobs.
    const isAnswer = data === this.#setup.keepalive.answer;
    if (this.#closed || isAnswer || data instanceof Blob) return;
    if (data === pongText) {
      this.#heard();
      return;
    }
    const frame = typeof data === "string" ? data : new Uint8Array(data);
    if (this.#withheld !== undefined && isConnected(frame)) this.#withheld = undefined;
    this.#deliver(this.#setup.format.encode(frame));
  }

  /** The client was asked for pongs, or has posted one. */
  #heard(): void {
    if (this.#awaitsPong === false) this.#cut(disconnectCodes.badRequest);
    else this.#awaitsPong = false;
  }

  #deliver(bytes: Uint8Array): void {
    if (this.#withheld === undefined) {
      this.#write(bytes);
      return;
    }
    this.#withheld.push(bytes);
    this.#releaseLater();
  }

  /** @param code the code with which the object closed the socket; undefined if it didn't close it */
  #close(code: DisconnectCode | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    // Without a disconnect code the client should reconnect, which it does if the stream just ends.
    if (code !== undefined && isDisconnectCode(code.code)) this.#deliver(this.#disconnect(code));
    if (this.#withheld === undefined) this.#end();
    else this.#releaseLater();
  }

  /** Sends a client that isn't connected the bytes that were withheld, but not before their time (rule T5). */
  #releaseLater(): void {
    if (this.#releaseTimer !== null) return;
    const delayMs = limits.refusedStreamDelayMs * (1 + Math.random());
    const waitMs = this.#setup.startedAtMs + delayMs - Date.now();
    this.#releaseTimer = setTimeout(() => this.#release(), Math.max(waitMs, 0));
  }

  #release(): void {
    this.#releaseTimer = null;
    for (const bytes of this.#withheld?.splice(0) ?? []) this.#body.write(bytes);
    if (this.#closed) this.#end();
  }

  /** Ends the stream of a client whose backlog is too large, as on a WebSocket (rules F4 and T3). */
  #write(bytes: Uint8Array): void {
    if (this.#body.awaited || this.#mayWait(bytes.byteLength)) {
      this.#body.write(bytes);
      return;
    }
    this.#cut(disconnectCodes.slow);
  }

  /** Ends the stream of a client by the edge's own decision. */
  #cut(code: DisconnectCode): void {
    // The waiting bytes are dropped: otherwise a client that doesn't read could have them kept as long as it likes.
    this.#body.clear();
    this.#body.write(this.#disconnect(code));
    this.#leave(code);
  }

  /**
   * Whether so many bytes may wait besides those that do: within this stream's limit and within its share of the
   * isolate's.
   */
  #mayWait(bytes: number): boolean {
    const { waitingBytes } = this.#body;
    if (waitingBytes >= this.#setup.queueMaxBytes) return false;
    budget.added(bytes);
    return waitingBytes + bytes <= budget.shareBytes;
  }

  /** Pings the client like any other client; the object learns about it from the runtime only (rules K3 and T2). */
  #pingAfter(waitMs: number): void {
    this.#pingTimer = setTimeout(() => {
      const { socket, keepalive, codec, format, pingIntervalMs } = this.#setup;
      if (this.#awaitsPong === true) {
        this.#cut(disconnectCodes.noPong);
        return;
      }
      this.#pingAfter(pingIntervalMs);
      if (socket.readyState === WebSocket.OPEN) socket.send(keepalive.request);
      if (this.#withheld !== undefined) return;
      if (this.#awaitsPong === false) this.#awaitsPong = true;
      this.#write(format.encode(codec.ping));
    }, waitMs);
  }

  /** Finds out whether the client has gone, on a runtime that notices it only by writing to the stream (rule T6). */
  #probe(): void {
    if (this.#body.waitingBytes === 0) this.#body.write(this.#setup.format.filler);
  }

  #abandoned(): void {
    this.#leave({ code: 1000, reason: "" });
  }

  /** Closes the socket to the object, so that the client's subscriptions and presence end at once. */
  #leave({ code, reason }: DisconnectCode): void {
    this.#closed = true;
    this.#end();
    closeSocket(this.#setup.socket, code, reason);
  }

  #end(): void {
    clearTimeout(this.#pingTimer);
    clearTimeout(this.#releaseTimer);
    clearInterval(this.#probeTimer);
    this.#body.end();
    if (this.#body.waitingBytes > 0) setTimeout(() => this.#drop(), limits.streamEndMs);
  }

  /**
   * Drops the bytes that still wait after the end. No later write can find the backlog too large, so a client that
   * doesn't read could have them kept forever.
   */
  #drop(): void {
    this.#body.clear();
    this.#body.end();
  }

  #disconnect(code: DisconnectCode): Uint8Array {
    const { codec, format } = this.#setup;
    return format.encode(codec.encodePush({ type: "disconnect", code }));
  }
}

/** The two ends of a client's stream. */
interface ClientStreamSetup {
  /** The socket to the object; not accepted yet. */
  readonly socket: WebSocket;
  /** The texts that keep that socket alive. */
  readonly keepalive: KeepaliveTexts;
  /** The frame that came with the client's request. */
  readonly first: string | Uint8Array;
  readonly codec: Codec;
  readonly format: StreamFormat;
  readonly pingIntervalMs: number;
  /**
   * The interval in ms at which an idle stream is written to, so that a client that is gone is noticed; 0 for never.
   */
  readonly probeIntervalMs: number;
  /** The bytes that may wait for the client, in addition to one frame. */
  readonly queueMaxBytes: number;
  /** The start of the request, ms since 1970. */
  readonly startedAtMs: number;
}

/** The budget of all streams of this isolate, for whatever object. */
const budget = new StreamBudget();

/**
 * Whether a close code is a disconnect code of the object. A normal end, an object that goes away, no code and no close
 * at all (RFC 6455, section 7.4.1) say only that the socket has ended.
 */
function isDisconnectCode(code: number): boolean {
  return code !== 1000 && code !== 1001 && code !== 1005 && code !== 1006;
}

/**
 * A response body that is written at any time, however slowly its client reads. Unlike with `ReadableStream` alone, the
 * waiting bytes can be counted and dropped.
 */
class BoundedBody {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #waiting = new ByteQueue();
  /** Undefined once nothing more may be written. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #ending = false;
  #awaited = false;

  /** @param cancelled called when the reader has cancelled the body */
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
    // Bytes are passed to the runtime only when the reader asks for them, because they couldn't be dropped afterwards.
    this.readable = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  }

  /** Whether the reader has taken everything and waits for more. */
  get awaited(): boolean {
    return this.#awaited;
  }

  /** The waiting bytes, without those that the runtime has already taken. */
  get waitingBytes(): number {
    return this.#waiting.bytes;
  }

  /** Appends bytes. Does nothing after the end. */
  write(bytes: Uint8Array): void {
    if (this.#controller === undefined || this.#ending) return;
    this.#waiting.append(bytes);
    if (this.#awaited) this.#pass();
  }

  /** Drops the waiting bytes. */
  clear(): void {
    this.#waiting.clear();
  }

  /** Ends the body once all of it has been read. */
  end(): void {
    this.#ending = true;
    if (this.#waiting.bytes === 0) this.#close();
  }

  /** Passes the next piece to the runtime. */
  #pass(): void {
    const next = this.#waiting.shift();
    this.#awaited = next === undefined;
    if (next !== undefined) this.#controller?.enqueue(next);
    if (this.#ending && this.#waiting.bytes === 0) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
