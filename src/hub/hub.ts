import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { Overload, backlogShareBytes } from "./backlog.ts";
import { BatchFrames, FrameCache, type FrameSource } from "./batch-frames.ts";
import { BatchWindow, immediateSubscribersMax } from "./batch-window.ts";
import type { Subscriber } from "./subscriber.ts";
import { SmallSet } from "./small-set.ts";

/**
 * Who listens to a channel, and the loop that sends to them (rules F1 to F5).
 * A publication is encoded once. When many listen and publications come fast, several share a frame: sending one frame
 * costs the runtime about 25 µs a socket whatever is in it. Time comes in from outside, and so does the call that sends
 * what was collected: {@link settle} says when it is due.
 */
export class Hub<Listener extends Subscriber = Subscriber> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #subscribers = new SmallSet<Listener>();
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
  /** Undefined until the sockets hold too much for the first time. */
  #overload: Overload | undefined;

  constructor(channel: string, queueMaxBytes: number) {
    this.#channel = channel;
    this.#queueMaxBytes = queueMaxBytes;
  }

  get subscribers(): readonly Listener[] {
    return this.#subscribers.list;
  }

  /** The same for a glance at some of them: no list is made. */
  get members(): Iterable<Listener> {
    return this.#subscribers.members;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** Whether publications wait for the next frame. */
  get collecting(): boolean {
    return this.#pending !== undefined;
  }

  has(subscriber: Listener): boolean {
    return this.#subscribers.has(subscriber);
  }

  /** From here on the recipient gets every publication. What was collected before it came is sent first, without it. */
  add(subscriber: Listener): void {
    this.flush();
    this.#subscribers.add(subscriber);
  }

  /**
   * The recipient gets what was collected, and nothing after it.
   *
   * @returns whether it was there
   */
  remove(subscriber: Listener): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    this.flush();
    this.#subscribers.delete(subscriber);
    return true;
  }

  /** Puts a publication into the next frame. Follow it, in the same stretch, with {@link settle}. */
  publish(publication: Publication): void {
    const { first } = this.#subscribers;
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
    const { size } = this.#subscribers;
    if (size > immediateSubscribersMax) this.#window ??= new BatchWindow();
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
    for (const subscriber of this.#awaitingFlush ?? []) subscriber.flushed();
    this.#awaitingFlush = undefined;
  }

  /** Promises one call of the recipient's `flushed` after the next frame. */
  callAfterFlush(subscriber: Listener): void {
    this.#awaitingFlush ??= new Set();
    this.#awaitingFlush.add(subscriber);
  }

  /** Tells those who want to know that somebody came or went. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    this.flush();
    if (this.subscribers.some((subscriber) => subscriber.hearsJoinLeave)) {
      const push = { type, channel: this.#channel, info };
      this.#send(new FrameCache((codec) => codec.encodePush(push)), true);
    }
  }

  /** Of this user's connections one wants to be the only one (rule C10): the others are told, and disconnect meanwhile. */
  makeExclusive(user: string, client: string): void {
    // The list isn't touched when somebody leaves, but made anew.
    for (const subscriber of this.subscribers) {
      if (subscriber.info.user === user) subscriber.replacedBy(client);
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
    this.#overload ??= new Overload();
    switch (this.#overload.judge(this.#backlogBytes, nowMs)) {
      case "bearable":
        return false;
      case "too-much":
        return true;
      case "too-long":
        this.#backlogBytes = this.#countBacklog(backlogShareBytes(this.#subscribers.size));
        return false;
    }
  }

  /** Counts what the sockets hold together, without those that are further behind than allowed: they are cut. */
  #countBacklog(allowedBytes: number): number {
    let backlogBytes = 0;
    for (const subscriber of this.subscribers) {
      const behind = subscriber.backlogBytes();
      if (behind > allowedBytes) this.#addSlow(subscriber);
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
  #send(outgoing: FrameSource, onlyJoinLeave: boolean): number {
    const list = this.subscribers;
    let backlogBytes = 0;
    for (const subscriber of list) {
      if (onlyJoinLeave && !subscriber.hearsJoinLeave) continue;
      const behind = subscriber.backlogBytes();
      if (behind > this.#queueMaxBytes) {
        this.#addSlow(subscriber);
        continue;
      }
      backlogBytes += behind;
      const frame = outgoing.frameFor(subscriber);
      if (frame === undefined) continue;
      backlogBytes += frame.length;
      subscriber.send(frame);
    }
    this.#cutSlow();
    return backlogBytes;
  }

  #addSlow(subscriber: Listener): void {
    this.#slow ??= new Set();
    this.#slow.add(subscriber);
  }

  /** One after the other, never one inside the other: thousands may be slow at once, and the stack isn't that deep. */
  #cutSlow(): void {
    if (this.#cutting || this.#slow === undefined) return;
    this.#cutting = true;
    try {
      for (const subscriber of this.#slow) subscriber.disconnect(disconnectCodes.slow);
    } finally {
      this.#slow = undefined;
      this.#cutting = false;
    }
  }
}
