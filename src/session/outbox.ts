import type { Message } from "../protocol/codec.ts";
import type { Connection } from "./ports.ts";

/**
 * Sends one client's replies in order. A publish reply waits until the hub has sent the publications that it still
 * collects for the channel (rule O4), and the replies after it wait with it. Pushes don't pass through here: the hub
 * sends them to the connection.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #behindMaxBytes: number;
  /** Undefined while no message waits. */
  #waiting: QueuedMessage[] | undefined;
  #waitingBytes = 0;

  /** @param behindMaxBytes how large the backlog of the client may get (rule F4) */
  constructor(connection: Connection, behindMaxBytes: number) {
    this.#connection = connection;
    this.#behindMaxBytes = behindMaxBytes;
  }

  /** Whether the client hasn't taken everything yet. */
  get behind(): boolean {
    return this.#waitingBytes > 0 || this.#connection.backlogBytes() > 0;
  }

  /** Whether the backlog would be too large with so many bytes more. */
  wouldExceed(bytes: number): boolean {
    return this.#connection.backlogBytes() + this.#waitingBytes + bytes > this.#behindMaxBytes;
  }

  /**
   * Sends a message, after all messages that wait.
   *
   * @param after the channel whose collected publications have to be sent first
   * @param sent  called when the message has been sent, now or later
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

  /** The hub has sent the channel's collected publications: sends what waited for them. */
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

  /** Drops the messages that wait. */
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
