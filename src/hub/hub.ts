import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { BatchFrames } from "./batch-frames.ts";
import { BatchWindow, windowlessMax } from "./batch-window.ts";
import { Encoded, type Outgoing } from "./frame-cache.ts";
import type { Recipient } from "./subscriber.ts";
import { Roster } from "./small-set.ts";

/**
 * Who listens to a channel, and the loop that sends to them (rules F1 to F5).
 * A publication is encoded once. When many listen and publications come fast, several share a frame: sending one frame
 * costs the runtime about 25 µs a socket whatever is in it. Time comes in from outside, and so does the call that sends
 * what was collected: {@link settle} says when it is due.
 */
export class Hub<Listener extends Recipient = Recipient> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #recipients = new Roster<Listener>();
  /** What is collected; undefined while nothing is. Nobody comes or goes meanwhile: who does has it sent first. */
  #pending: BatchFrames | undefined;
  /** Undefined while nobody does: a gateway has thousands of hubs in which nothing happens. */
  #awaitingFlush: Set<Listener> | undefined;
  /** To be cut. In a set, because their leaves are announced, and that loop finds the others again. Undefined as above. */
  #slow: Set<Listener> | undefined;
  #cutting = false;
  /** Undefined until more than a few listen: to few, a frame goes at once. */
  #window: BatchWindow | undefined;
  #backlogBytes = 0;
  #overloadedSinceMs: number | undefined;

  constructor(channel: string, queueMaxBytes: number) {
    this.#channel = channel;
    this.#queueMaxBytes = queueMaxBytes;
  }

  get recipients(): readonly Listener[] {
    return this.#recipients.list;
  }

  /** The same for a glance at some of them: no list is made. */
  get members(): Iterable<Listener> {
    return this.#recipients.members;
  }

  get size(): number {
    return this.#recipients.size;
  }

  /** Whether publications wait for the next frame. */
  get collecting(): boolean {
    return this.#pending !== undefined;
  }

  has(recipient: Listener): boolean {
    return this.#recipients.has(recipient);
  }

  /** From here on the recipient gets every publication. What was collected before it came is sent first, without it. */
  add(recipient: Listener): void {
    this.flush();
    this.#recipients.add(recipient);
  }

  /**
   * The recipient gets what was collected, and nothing after it.
   *
   * @returns whether it was there
   */
  remove(recipient: Listener): boolean {
    if (!this.#recipients.has(recipient)) return false;
    this.flush();
    this.#recipients.delete(recipient);
    return true;
  }

  /** Puts a publication into the next frame. Follow it, in the same stretch, with {@link settle}. */
  publish(publication: Publication): void {
    const { first } = this.#recipients;
    if (first === undefined) return;
    this.#pending ??= new BatchFrames(this.#channel, first.codec);
    if (this.#pending.add(publication, limits.batchBytesMax) === "full") {
      this.flush();
      this.#pending = new BatchFrames(this.#channel, first.codec);
      this.#pending.add(publication, limits.batchBytesMax);
    }
    if (this.#pending.count >= limits.batchPublicationsMax) this.flush();
  }

  /**
   * Sends what was collected, unless a frame went out so recently that waiting for company is cheaper.
   *
   * @returns in how many ms this must be called again; undefined when nothing waits
   */
  settle(nowMs: number): number | undefined {
    if (this.#pending === undefined) return undefined;
    const { size } = this.#recipients;
    if (size > windowlessMax) this.#window ??= new BatchWindow();
    const waitMs = this.#window?.waitMs(this.#pending.count, size, nowMs) ?? 0;
    if (waitMs > 0) return waitMs;
    this.#window?.sent(size, nowMs);
    this.flush();
    return undefined;
  }

  /** Sends what was collected, now. A recipient that is too far behind is cut instead (rule F4). */
  flush(): void {
    if (this.#pending === undefined) return;
    const frames = this.#pending;
    this.#pending = undefined;
    this.#backlogBytes = this.#send(frames, false);
    for (const recipient of this.#awaitingFlush ?? []) recipient.flushed();
    this.#awaitingFlush = undefined;
  }

  /** Promises one call of the recipient's `flushed` after the next frame. */
  callAfterFlush(recipient: Listener): void {
    this.#awaitingFlush ??= new Set();
    this.#awaitingFlush.add(recipient);
  }

  /** Tells those who want to know that somebody came or went. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    this.flush();
    if (this.recipients.some((recipient) => recipient.hearsJoinLeave)) {
      const push = { type, channel: this.#channel, info };
      this.#send(new Encoded((codec) => codec.encodePush(push)), true);
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
      if (behind > allowedBytes) this.#addSlow(recipient);
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
  #send(outgoing: Outgoing, onlyJoinLeave: boolean): number {
    const list = this.recipients;
    let backlogBytes = 0;
    for (const recipient of list) {
      if (onlyJoinLeave && !recipient.hearsJoinLeave) continue;
      const behind = recipient.backlogBytes();
      if (behind > this.#queueMaxBytes) {
        this.#addSlow(recipient);
        continue;
      }
      backlogBytes += behind;
      const frame = outgoing.frameFor(recipient);
      if (frame === undefined) continue;
      backlogBytes += frame.length;
      recipient.send(frame);
    }
    this.#cutSlow();
    return backlogBytes;
  }

  #addSlow(recipient: Listener): void {
    this.#slow ??= new Set();
    this.#slow.add(recipient);
  }

  /** One after the other, never one inside the other: thousands may be slow at once, and the stack isn't that deep. */
  #cutSlow(): void {
    if (this.#cutting || this.#slow === undefined) return;
    this.#cutting = true;
    try {
      for (const recipient of this.#slow) recipient.disconnect(disconnectCodes.slow);
    } finally {
      this.#slow = undefined;
      this.#cutting = false;
    }
  }
}
