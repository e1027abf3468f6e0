import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { batchWindowMs } from "./batch-window.ts";
import type { Recipient } from "./recipient.ts";

/**
 * Who listens to a channel, and the loop that sends to them (rules F1 to F5).
 * A publication is encoded once. When many listen and publications come fast, several share a frame: sending one frame
 * costs the runtime about 20 µs a socket whatever is in it. Time comes in from outside, and so does the call that sends
 * what was collected: {@link settle} says when it is due.
 */
export class Hub {
  readonly #channel: string;
  readonly #codec: Codec;
  readonly #queueMaxBytes: number;
  readonly #recipients = new Set<Recipient>();
  /** The same, as the loop wants it; undefined after a change. */
  #list: readonly Recipient[] | undefined;
  #pending: Message[] = [];
  #pendingBytes = 0;
  readonly #awaitingFlush = new Set<Recipient>();
  /** To be cut. In a set, because their leaves are announced, and that loop finds the others again. */
  readonly #slow = new Set<Recipient>();
  #cutting = false;
  #quietUntilMs = 0;
  #backlogBytes = 0;
  #overloadedSinceMs: number | undefined;

  constructor(channel: string, codec: Codec, queueMaxBytes: number) {
    this.#channel = channel;
    this.#codec = codec;
    this.#queueMaxBytes = queueMaxBytes;
  }

  get recipients(): readonly Recipient[] {
    return (this.#list ??= [...this.#recipients]);
  }

  get size(): number {
    return this.#recipients.size;
  }

  /** Whether publications wait for the next frame. */
  get collecting(): boolean {
    return this.#pending.length > 0;
  }

  /** From here on the recipient gets every publication. What was collected before it came is sent first, without it. */
  add(recipient: Recipient): void {
    this.flush();
    this.#recipients.add(recipient);
    this.#list = undefined;
  }

  /**
   * The recipient gets what was collected, and nothing after it.
   *
   * @returns whether it was there
   */
  remove(recipient: Recipient): boolean {
    if (!this.#recipients.has(recipient)) return false;
    this.flush();
    this.#recipients.delete(recipient);
    this.#list = undefined;
    return true;
  }

  /** Puts a publication into the next frame. Follow it, in the same stretch, with {@link settle}. */
  publish(publication: Publication): void {
    if (this.#recipients.size === 0) return;
    const message = this.#codec.encodePush({
      type: "publication",
      channel: this.#channel,
      publication,
    });
    if (this.#pendingBytes + message.length > limits.batchBytesMax) this.flush();
    this.#pending.push(message);
    // With the line break that divides it from the next one.
    this.#pendingBytes += message.length + 1;
    if (this.#pending.length >= limits.batchPublicationsMax) this.flush();
  }

  /**
   * Sends what was collected, unless a frame went out so recently that waiting for company is cheaper.
   *
   * @returns in how many ms this must be called again; undefined when nothing waits
   */
  settle(nowMs: number): number | undefined {
    if (this.#pending.length === 0) return undefined;
    // A clock that was set back must not make anybody wait: the window never ends later than one that begins now.
    const windowEndMs = nowMs + batchWindowMs(this.#recipients.size);
    this.#quietUntilMs = Math.min(this.#quietUntilMs, windowEndMs);
    if (this.#quietUntilMs > nowMs) return this.#quietUntilMs - nowMs;
    this.flush();
    this.#quietUntilMs = windowEndMs;
    return undefined;
  }

  /** Sends what was collected, now. A recipient that is too far behind is cut instead (rule F4). */
  flush(): void {
    if (this.#pending.length === 0) return;
    const frame = this.#codec.joinFrame(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#backlogBytes = this.#send(frame, false);
    for (const recipient of this.#awaitingFlush) recipient.flushed();
    this.#awaitingFlush.clear();
  }

  /** Promises one call of the recipient's `flushed` after the next frame. */
  callAfterFlush(recipient: Recipient): void {
    this.#awaitingFlush.add(recipient);
  }

  /** Tells those who want to know that somebody came or went. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    this.flush();
    if (this.recipients.some((recipient) => recipient.hearsJoinLeave)) {
      this.#send(this.#codec.encodePush({ type, channel: this.#channel, info }), true);
    }
  }

  /** Of this user's connections one wants to be the only one (rule C10): the others are told, and disconnect meanwhile. */
  sole(user: string, client: string): void {
    // The list isn't touched when somebody leaves, but made anew.
    for (const recipient of this.recipients) {
      if (recipient.info.user === user) recipient.replacedBy(client);
    }
  }

  /**
   * Whether the sockets together hold more than memory bears (rule B3). Counted anew only when the last frame left it
   * so: usually one comparison. Nothing is sent meanwhile, so a healthy reader catches up; one that is still behind its
   * share after `limits.overloadMsMax` is cut, or a few stalled readers could silence the channel for all.
   */
  overloaded(nowMs: number): boolean {
    if (this.#backlogBytes <= limits.backlogBytesMax) return false;
    this.#backlogBytes = this.#countBacklog(this.#queueMaxBytes);
    if (this.#backlogBytes <= limits.backlogBytesMax) {
      this.#overloadedSinceMs = undefined;
      return false;
    }
    this.#overloadedSinceMs ??= nowMs;
    if (nowMs - this.#overloadedSinceMs < limits.overloadMsMax) return true;
    this.#overloadedSinceMs = undefined;
    this.#backlogBytes = this.#countBacklog(limits.backlogBytesMax / this.#recipients.size);
    return false;
  }

  /** Counts what the sockets hold together, without those that are further behind than allowed: they are cut. */
  #countBacklog(allowedBytes: number): number {
    let backlogBytes = 0;
    for (const recipient of this.recipients) {
      const behind = recipient.backlogBytes();
      if (behind > allowedBytes) this.#slow.add(recipient);
      else backlogBytes += behind;
    }
    this.#cutSlow();
    return backlogBytes;
  }

  /**
   * The loop. Whoever is cut is cut after it: a disconnect changes the list and is itself announced.
   *
   * @returns the bytes that the sockets now hold together
   */
  #send(frame: Message, onlyJoinLeave: boolean): number {
    const list = this.recipients;
    let backlogBytes = 0;
    for (const recipient of list) {
      if (onlyJoinLeave && !recipient.hearsJoinLeave) continue;
      const behind = recipient.backlogBytes();
      if (behind > this.#queueMaxBytes) {
        this.#slow.add(recipient);
        continue;
      }
      backlogBytes += behind + frame.length;
      recipient.send(frame);
    }
    this.#cutSlow();
    return backlogBytes;
  }

  /** One after the other, never one inside the other: thousands may be slow at once, and the stack isn't that deep. */
  #cutSlow(): void {
    if (this.#cutting) return;
    this.#cutting = true;
    try {
      for (const recipient of this.#slow) recipient.disconnect(disconnectCodes.slow);
    } finally {
      this.#slow.clear();
      this.#cutting = false;
    }
  }
}
