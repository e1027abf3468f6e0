import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { Overload, backlogShareBytes } from "./backlog.ts";
import { BatchFrames, FrameCache, type Frames } from "./batch-frames.ts";
import { BatchWindow, immediateSubscribersMax } from "./batch-window.ts";
import type { Subscriber } from "./subscriber.ts";
import { SmallSet } from "./small-set.ts";

/**
 * The subscribers of one channel in one object, and the loop that sends to them (rules F1 to F5).
 *
 * A publication is encoded once. To many subscribers several publications share a frame when they come fast, because
 * sending a frame takes the runtime about 25 µs for each socket, whatever the frame holds. The hub collects in
 * {@link publish} and sends in {@link settle}, which the owner calls, and which says when it is to be called again.
 */
export class Hub<Local extends Subscriber = Subscriber> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #subscribers = new SmallSet<Local>();
  /**
   * The next frame; undefined while nothing is collected. Before a subscriber is added or removed the frame is sent.
   */
  #pending: BatchFrames | undefined;
  /** Undefined while there is none: a gateway has thousands of hubs, in most of which nothing happens. */
  #awaitingFlush: Set<Local> | undefined;
  /**
   * Subscribers to disconnect as slow; undefined while there is none. It is a set, because the leave of each is
   * announced, and the loop that does so finds the others again.
   */
  #slow: Set<Local> | undefined;
  #cutting = false;
  /**
   * Undefined until there are more than `immediateSubscribersMax` subscribers: to fewer, every frame is sent at once.
   */
  #window: BatchWindow | undefined;
  /** The backlog of all subscribers, as the last frame left it or as it was last counted. */
  #backlogBytes = 0;
  /** Undefined until the backlog is too large for the first time. */
  #overload: Overload | undefined;

  constructor(channel: string, queueMaxBytes: number) {
    this.#channel = channel;
    this.#queueMaxBytes = queueMaxBytes;
  }

  get subscribers(): readonly Local[] {
    return this.#subscribers.list;
  }

  /** The same, for a loop that ends early: no list is made. */
  get members(): Iterable<Local> {
    return this.#subscribers.members;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** Whether publications are collected for the next frame. */
  get collecting(): boolean {
    return this.#pending !== undefined;
  }

  has(subscriber: Local): boolean {
    return this.#subscribers.has(subscriber);
  }

  /**
   * Adds a subscriber, which gets every later publication. Collected publications are sent first, without it (rule F5).
   */
  add(subscriber: Local): void {
    this.flush();
    this.#subscribers.add(subscriber);
  }

  /**
   * Removes a subscriber. Collected publications are sent first, to it as well (rule F5).
   *
   * @returns whether it was there
   */
  remove(subscriber: Local): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    this.flush();
    this.#subscribers.delete(subscriber);
    return true;
  }

  /** Puts a publication into the next frame (rule F3). {@link settle} must follow. */
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
   * Sends what was collected, unless it is cheaper to wait for more publications (rule F2).
   *
   * @returns in how many ms this must be called again; undefined when nothing is collected any more
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

  /** Sends what was collected, now. A subscriber whose backlog is too large is disconnected instead (rule F4). */
  flush(): void {
    if (this.#pending === undefined) return;
    const frames = this.#pending;
    this.#pending = undefined;
    this.#backlogBytes = this.#send(frames, false);
    for (const subscriber of this.#awaitingFlush ?? []) subscriber.flushed();
    this.#awaitingFlush = undefined;
  }

  /** Calls the subscriber's `flushed` once, after the next frame. */
  callAfterFlush(subscriber: Local): void {
    this.#awaitingFlush ??= new Set();
    this.#awaitingFlush.add(subscriber);
  }

  /** Sends a join or a leave to the subscribers that get them. Collected publications are sent first. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    this.flush();
    if (this.subscribers.some((subscriber) => subscriber.hearsJoinLeave)) {
      const push = { type, channel: this.#channel, info };
      this.#send(new FrameCache((codec) => codec.encodePush(push)), true);
    }
  }

  /**
   * Tells all of a user's subscribers that one of them is to be the only one (rule C10). The others disconnect, and so
   * are removed, while the loop runs.
   *
   * @param client the ID of the connection that stays
   */
  makeExclusive(user: string, client: string): void {
    // A removal makes a new list, and leaves this one as it is.
    for (const subscriber of this.subscribers) {
      if (subscriber.info.user === user) subscriber.replacedBy(client);
    }
  }

  /**
   * Whether the subscribers' backlogs together take too much memory (rule B3); see {@link Overload}. The backlogs are
   * counted anew only if they were too large after the last frame, so this is usually one comparison.
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

  /**
   * Adds up the subscribers' backlogs, without those that are larger than allowed: their subscribers are disconnected.
   */
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
   * Sends a frame to each subscriber. Slow ones are disconnected after the loop, as each disconnect changes the list
   * and is itself announced.
   *
   * @param onlyJoinLeave leaves out subscribers that don't get joins and leaves
   * @returns the backlog of all subscribers after it
   */
  #send(frames: Frames, onlyJoinLeave: boolean): number {
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
      const frame = frames.frameFor(subscriber);
      if (frame === undefined) continue;
      backlogBytes += frame.length;
      subscriber.send(frame);
    }
    this.#cutSlow();
    return backlogBytes;
  }

  #addSlow(subscriber: Local): void {
    this.#slow ??= new Set();
    this.#slow.add(subscriber);
  }

  /**
   * Disconnects the slow subscribers, one after the other. A disconnect announces a leave, which may find more of them
   * and call this again: were that call to go on itself, thousands of slow subscribers would overflow the stack.
   */
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
