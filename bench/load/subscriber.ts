import { connect, type Socket } from "node:net";
import type { Endpoint } from "../systems/server.ts";
import type { Caller, Wire } from "../systems/wire.ts";
import type { LoadChannel, SubscriberOwner } from "./subscribers.ts";
import { closeFrame, pongFrame, textFrame } from "./client-frame.ts";
import { ConnectSteps } from "./connect-steps.ts";
import { FrameCounter, type FrameEvents } from "./frame-counter.ts";
import { FramePayloads } from "./frame-payloads.ts";
import { receivable, receiveBuffer } from "./receive-buffer.ts";
import { type Receipts, SocketReceipts } from "./receipts.ts";
import { type StreamPosition, streamPosition } from "./stream-position.ts";
import { UpgradeAnswer, upgradeRequest } from "./upgrade.ts";

/** One socket: carries out a connect script, and then only counts publications. */
export class Subscriber implements FrameEvents {
  /** The position in the subscribe reply, if it has one. */
  position: StreamPosition | undefined;
  readonly #subscribers: SubscriberOwner;
  readonly #channel: LoadChannel;
  readonly #missed: number;
  /** How many publications the channel had before this socket was subscribed. */
  #publishedBefore = 0;
  readonly #socket: Socket;
  readonly #wire: Wire;
  readonly #counter: FrameCounter;
  readonly #receipts: SocketReceipts | undefined;
  /** Lines that are neither publications nor pings, so far; before the socket is subscribed, they answer its steps. */
  #answers = 0;
  #upgrade: UpgradeAnswer | undefined = new UpgradeAnswer();
  /** Undefined as soon as the socket is subscribed. */
  #connectSteps: ConnectSteps | undefined;
  /** Frames are assembled only while they are needed. */
  #payloads: FramePayloads | undefined = new FramePayloads();
  #look: ((payload: Buffer) => void) | undefined;
  #cut = false;
  readonly #there = Promise.withResolvers<"there" | "refused">();
  readonly #comesBack: boolean;

  /**
   * @param missed how many publications the socket must receive besides the answers to its steps
   */
  constructor(
    wire: Wire,
    endpoint: Endpoint,
    caller: Caller,
    missed: number,
    subscribers: SubscriberOwner,
    { receipts, marks = false, comesBack = false }: SubscriberOptions = {},
  ) {
    this.#wire = wire;
    this.#subscribers = subscribers;
    this.#channel = subscribers.channel(caller.channel);
    this.#missed = missed;
    this.#comesBack = comesBack;
    if (receipts !== undefined) this.#receipts = receiptsOf(wire, caller, receipts, marks);
    const countsLines = receipts !== undefined || wire.ping?.sharesFrames === true;
    this.#counter = new FrameCounter(wire.ping?.sent, this, countsLines);
    const script = wire.connectScript(caller);
    this.#connectSteps = new ConnectSteps(script);
    subscribers.expect(missed);
    this.#socket = connect({
      // A peer's endpoint has a path besides, which would be taken for that of a local socket.
      host: endpoint.host,
      port: endpoint.port,
      noDelay: true,
      onread: { buffer: receivable, callback: (length) => this.#read(length) },
    });
    this.#socket.once("connect", () => this.#socket.write(upgradeRequest(script.path, endpoint)));
    this.#socket.on("error", ({ message }) => this.#fail(`a socket failed: ${message}`));
    this.#socket.once("close", () => this.#fail("a socket ended without a close frame"));
  }

  /**
   * Resolves when the socket is subscribed and has received the missed publications, or was refused for now, by a 503 or
   * a temporary error, and its caller may come back.
   */
  get there(): Promise<"there" | "refused"> {
    return this.#there.promise;
  }

  /** Publications that have arrived. */
  get publications(): number {
    return this.#counter.publications;
  }

  /** Publications that should have arrived. */
  get owed(): number {
    return this.#missed + this.#channel.published - this.#publishedBefore;
  }

  /** Frames that have arrived, without pings. */
  get frames(): number {
    return this.#counter.frames;
  }

  /** Passes every frame's payload to the function from now on; undefined ends that. */
  watch(look: ((payload: Buffer) => void) | undefined): void {
    this.#look = look;
    this.#payloads = undefined;
  }

  /** Closes the socket without a close frame. Resolves when the system has been told. */
  async cut(): Promise<void> {
    this.#cut = true;
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.destroy();
    await closed;
  }

  /** Closes the socket with a close frame. Resolves when the system has closed it too. */
  async leave(): Promise<void> {
    this.#cut = true;
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.write(closeFrame());
    await closed;
  }

  pinged(payload: Buffer): void {
    this.#socket.write(pongFrame(payload));
  }

  textPinged(): void {
    this.#socket.write(textFrame(this.#wire.ping?.answer ?? ""));
  }

  closed(code: number): void {
    this.#fail(`a socket was closed with ${code}`);
  }

  broken(problem: string): void {
    this.#fail(`a socket got ${problem}`);
  }

  #read(length: number): true {
    this.#subscribers.bytes += length;
    const start = this.#upgrade === undefined ? 0 : this.#takeAnswer(this.#upgrade, length);
    if (start === undefined) return true;
    const before = this.#counter.publications;
    if (this.#look !== undefined && this.#counter.betweenFrames)
      this.#payloads ??= new FramePayloads();
    this.#counter.take(receiveBuffer, start, length);
    if (this.#payloads !== undefined) this.#takePayloads(this.#payloads, start, length);
    const came = this.#counter.publications - before;
    if (came > 0) this.#subscribers.deliver(came);
    if (this.#receipts !== undefined) this.#sendReceipts(this.#receipts, came);
    if (this.#connectSteps !== undefined) this.#arrive(this.#connectSteps);
    return true;
  }

  #sendReceipts(receipts: SocketReceipts, came: number): void {
    const answers = this.#counter.lines - this.#counter.publications;
    if (this.#connectSteps === undefined && answers > this.#answers)
      receipts.answer(answers - this.#answers);
    this.#answers = answers;
    if (came > 0) this.#socket.write(receipts.sent(came));
  }

  /** @returns where frames begin; undefined while the answer is incomplete */
  #takeAnswer(upgrade: UpgradeAnswer, length: number): number | undefined {
    try {
      const start = upgrade.take(receiveBuffer.subarray(0, length));
      if (start === undefined) return undefined;
      this.#upgrade = undefined;
      this.#advance("");
      return start;
    } catch (error) {
      const problem = String(error);
      if (this.#comesBack && problem.includes("HTTP/1.1 503")) this.#refused();
      else this.#fail(problem);
      return undefined;
    }
  }

  #takePayloads(payloads: FramePayloads, start: number, end: number): void {
    for (const payload of payloads.take(receiveBuffer.subarray(start, end))) {
      if (this.#connectSteps === undefined) this.#look?.(payload);
      else this.#advance(payload.toString());
    }
  }

  #advance(text: string): void {
    if (this.#comesBack && text.includes('"temporary":true')) {
      this.#refused();
      return;
    }
    this.position ??= streamPosition(text);
    for (const step of this.#connectSteps?.take(text) ?? []) this.#socket.write(textFrame(step));
  }

  #arrive(steps: ConnectSteps): void {
    if (!steps.done || this.publications < this.#missed) return;
    this.#connectSteps = undefined;
    this.#payloads = undefined;
    this.#channel.subscribers++;
    this.#publishedBefore = this.#channel.published;
    this.#there.resolve("there");
  }

  #refused(): void {
    this.#cut = true;
    this.#socket.destroy();
    this.#there.resolve("refused");
  }

  #fail(problem: string): void {
    if (!this.#cut) this.#subscribers.failure.raise(problem);
  }
}

/** What not every subscriber does. */
interface SubscriberOptions {
  /** If each publication is to be answered by a frame, the receipts of all sockets. */
  readonly receipts?: Receipts | undefined;
  /** Whether these frames mark the publications as read. */
  readonly marks?: boolean;
  /** Whether its caller comes back if it is refused for now; otherwise that is a failure. */
  readonly comesBack?: boolean;
}

function receiptsOf(
  { receipt, mark }: Wire,
  { channel }: Caller,
  all: Receipts,
  marks: boolean,
): SocketReceipts {
  if (marks) {
    if (mark === undefined) throw new Error("this system keeps no marks");
    return new SocketReceipts((delivery) => textFrame(mark(channel, delivery)), all);
  }
  if (receipt === undefined) throw new Error("this system answers no receipts");
  const frame = textFrame(receipt);
  return new SocketReceipts(() => frame, all);
}
