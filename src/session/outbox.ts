import type { Message } from "../protocol/codec.ts";
import type { Connection } from "./ports.ts";

/**
 * The replies on their way to one client, in order. A reply that must come after publications which are still being
 * collected waits for them (rule O4), and those after it wait with it.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #behindMaxBytes: number;
  /** Undefined while none waits. */
  #waiting: QueuedMessage[] | undefined;
  #waitingBytes = 0;

  /** @param behindMaxBytes how much a client may have outstanding before it gets no more (rule F4) */
  constructor(connection: Connection, behindMaxBytes: number) {
    this.#connection = connection;
    this.#behindMaxBytes = behindMaxBytes;
  }

  /** Whether the client has yet to take something. */
  get behind(): boolean {
    return this.#waitingBytes > 0 || this.#connection.backlogBytes() > 0;
  }

  /** Whether so much would be more than the client may have outstanding. */
  wouldExceed(bytes: number): boolean {
    return this.#connection.backlogBytes() + this.#waitingBytes + bytes > this.#behindMaxBytes;
  }

  /**
   * Sends a message in its turn.
   *
   * @param after the channel whose collected publications have to go out first
   * @param sent  is called when the message went out
   */
  send(message: Message, after?: string, sent?: () => void): void {
    if (after === undefined && this.#waiting === undefined) {
      this.#connection.send(message);
      sent?.();
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push({ message, after, sent });
    this.#waitingBytes += message.length;
  }

  /** A channel's collected publications went out. */
  flushed(channel: string): void {
    const all = this.#waiting ?? [];
    for (const waiting of all) if (waiting.after === channel) waiting.after = undefined;
    const held = all.findIndex(({ after }) => after !== undefined);
    const released = all.splice(0, held < 0 ? all.length : held);
    if (all.length === 0) this.#waiting = undefined;
    for (const { message, sent } of released) {
      this.#waitingBytes -= message.length;
      this.#connection.send(message);
      sent?.();
    }
  }

  /** Nothing is sent any more. */
  clear(): void {
    this.#waiting = undefined;
    this.#waitingBytes = 0;
  }
}

interface QueuedMessage {
  readonly message: Message;
  after: string | undefined;
  readonly sent: (() => void) | undefined;
}
