import type { SubscribeOptions } from "../channel/channel.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/ports.ts";
import type { Subscription } from "../session/subscription.ts";
import { LocalSubscribers, type PublishWait } from "./local-subscribers.ts";
import { BatchBuffer, sortBatch } from "./batch-order.ts";
import type { RelayBatch, RelayBatchReply, RelayEntry } from "../contract/relay-batch.ts";
import { PendingSubscribes } from "./pending-subscribes.ts";
import type { RelayReply } from "../contract/relay-request.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { cursorBefore, sameStream } from "./cursor.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import type { ClientConfig } from "../config/config.ts";
import type { SubscriptionMemory } from "./memory.ts";
import type { PendingRequest } from "./channel-client.ts";

/**
 * One channel as a gateway follows it, for all its subscribers here (rules L1, L3, L6 and L7).
 *
 * It stands somewhere: everything up to there is with its subscribers. What comes next is passed on; when something between
 * is missing, what came waits until that was read. Where it stands is unknown at first, until the channel's object answers
 * `follow`, and after a sleep of which nothing was noted. Then a batch that is known to follow on what was taken tells it.
 * Any other might repeat what the subscribers have, or leave something out: they are told that they lost the stream, which
 * is never a gap and never anything twice, with history and without.
 *
 * A gateway has thousands of them, of which few are asked for something at a time. So what only joins and catching up need
 * is there only while they do.
 */
export class Follower {
  readonly channel: string;
  readonly #gateway: FollowerGateway;
  readonly #subscribers: LocalSubscribers;
  /** Those who want to subscribe; undefined while nobody does and nothing is read for any of them. */
  #pending: PendingSubscribes | undefined;
  /** What came since something was read for them; undefined while it is closed and nobody joins. */
  #replayBuffer: ReplayBuffer | undefined;
  /** What came while something missing was read, or before it was known what the gateway needs; undefined otherwise. */
  #buffer: BatchBuffer | undefined;
  /** Where it stands; undefined while that is unknown. */
  #cursor: Cursor | undefined;
  /** `follow` is under way. */
  #following = false;
  /** What is missing is being read. */
  #catchingUp = false;
  /** The offset after which something was missing the last time. */
  #missedAfter: number | undefined;
  #working = false;

  constructor(channel: string, gateway: FollowerGateway) {
    this.channel = channel;
    this.#gateway = gateway;
    this.#subscribers = new LocalSubscribers(channel, gateway.client);
  }

  /** Nobody here wants the channel, or is about to. */
  get idle(): boolean {
    return this.#subscribers.size === 0 && !this.#subscribing;
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.#subscribers.unsettled;
  }

  /** The subscribers here. */
  get subscriptions(): readonly Subscription[] {
    return this.#subscribers.subscriptions;
  }

  /** What it holds for clients that recover together. */
  get replayBufferBytes(): number {
    return this.#replayBuffer?.bytes ?? 0;
  }

  /** Takes what the channel's object tells. Follow it, in the same stretch, with {@link settle}. */
  take(batch: RelayBatch, nowMs: number): RelayBatchReply {
    // It cuts those who are too far behind, and may leave nobody.
    const overloaded = this.#subscribers.overloaded(nowMs);
    if (this.idle) return { outcome: "left" };
    if (overloaded) return { outcome: "busy" };
    this.#run(() => this.#take(batch));
    return { outcome: "taken" };
  }

  /** Makes somebody a subscriber; `answer` may be called at once. */
  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (reply: SubscribeReply) => void,
  ): void {
    const { memory } = this.#gateway;
    const answer = (reply: SubscribeReply): void => {
      if (reply.outcome === "failed") memory.remove(subscription);
      done(reply);
    };
    memory.add(subscription);
    this.#run(() => {
      this.expireReplayBuffer(nowMs);
      this.#pending ??= this.#newPending();
      this.#pending.add({ subscription, options, nowMs, done: answer });
    });
  }

  /** Ends a subscription, or the wish for one, which then isn't answered any more (rule G5). */
  unsubscribe(subscription: Subscription): void {
    this.#gateway.memory.remove(subscription);
    this.#run(() => {
      this.#pending?.cancel(subscription);
      this.#subscribers.remove(subscription);
    });
  }

  /** Takes up a subscription that slept, and where it noted that the gateway stands. */
  restore(subscription: Subscription): void {
    this.#gateway.memory.add(subscription);
    this.#run(() => {
      this.#cursor = this.#subscribers.restore(subscription, this.#cursor);
    });
  }

  /** Answers a publisher once its publication has reached the hub (rule O4): at once, unless it is a subscriber here. */
  awaitPublication(wait: PublishWait): void {
    this.#run(() => this.#subscribers.awaitPublication(wait));
  }

  /** Whether publications are being collected; then the subscription's `flushed` is called once they went out. */
  awaitFlush(subscription: Subscription): boolean {
    return this.#subscribers.awaitFlush(subscription);
  }

  /**
   * Sends what was collected and gives up what has waited too long.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    let settleInMs: number | undefined;
    this.#run(() => {
      settleInMs = this.#subscribers.settle(nowMs);
    });
    return settleInMs;
  }

  /** Lets go of what was held for clients that recover together, if that was long ago. */
  expireReplayBuffer(nowMs: number): void {
    if (!this.#reading) this.#replayBuffer?.expire(nowMs);
    this.#dropUnused();
  }

  /** The same, however long ago it was. */
  dropReplayBuffer(): void {
    if (!this.#reading) this.#replayBuffer?.close();
    this.#dropUnused();
  }

  /**
   * Whatever happens here happens inside of this. Sending makes sessions go on with other commands, and they come back here
   * in the middle of something: a subscriber that began between two publications of a batch would see a gap, or one twice.
   * So what follows from all of it comes last.
   */
  #run(work: () => void): void {
    if (this.#working) {
      work();
      return;
    }
    this.#working = true;
    try {
      work();
      while (this.#goOn());
      if (this.#cursor !== undefined) this.#subscribers.keep(this.#cursor);
    } finally {
      this.#working = false;
    }
    this.#dropUnused();
    this.#gateway.changed(this);
  }

  get #subscribing(): boolean {
    return this.#pending !== undefined && this.#pending.size > 0;
  }

  get #reading(): boolean {
    return this.#pending?.reading === true;
  }

  #newPending(): PendingSubscribes {
    this.#replayBuffer ??= new ReplayBuffer();
    return new PendingSubscribes(this.#gateway.client, {
      replayBuffer: this.#replayBuffer,
      position: () => this.#cursor?.position,
      ask: (requests) => this.#gateway.request(this.channel, requests),
      run: (work) => this.#run(work),
      advance: (publications) => this.#advance(publications),
      begin: (subscription) => this.#subscribers.add(subscription),
      insufficientState: () => this.#insufficientState(),
    });
  }

  #dropUnused(): void {
    if (this.#working || this.#subscribing || this.#reading) return;
    this.#pending = undefined;
    if (this.#replayBuffer?.isOpen === false) this.#replayBuffer = undefined;
  }

  /** @returns whether something was done, from which more may follow */
  #goOn(): boolean {
    // Whose publication is among what is being read hears of it first (rule O4), though a later instance has been heard.
    if (this.#catchingUp) return false;
    const cursor = this.#cursor;
    if (cursor !== undefined && this.#subscribers.release(cursor)) return true;
    const pending = this.#pending;
    if (pending?.waiting !== true) return false;
    if (cursor !== undefined) {
      pending.decide();
      return true;
    }
    if (this.#following) return false;
    this.#follow(pending);
    return true;
  }

  #take(batch: RelayBatch): void {
    if (this.#catchingUp) {
      this.#keepForLater(batch);
      return;
    }
    if (this.#cursor === undefined && !this.#standBefore(batch)) {
      // Whoever joins needs what is told after the answer to `follow`, which may come later than this.
      if (this.#subscribing) this.#keepForLater(batch);
      return;
    }
    if (this.#cursor === undefined) return;
    const sorted = sortBatch(batch, this.#cursor);
    if (sorted.outcome === "insufficient-state") {
      this.#insufficientState();
      return;
    }
    if (sorted.skipped) this.#clearReplayBuffer();
    this.#cursor = sorted.cursor;
    for (const entry of sorted.entries) this.#deliver(entry);
    if (sorted.rest !== undefined) this.#catchUp(sorted.rest);
  }

  /** @returns whether it is known now where the subscribers stood before the batch */
  #standBefore(batch: RelayBatch): boolean {
    if (this.#subscribers.size === 0) return false;
    const { certain, first, entries, top } = batch;
    // The first word of an instance that has nothing to tell repeats nothing and leaves nothing out.
    const saysNothing = first === 1 && entries.length === 0 && top === undefined;
    if (certain || saysNothing) this.#standAt(cursorBefore(batch));
    else this.#insufficientState();
    return certain || saysNothing;
  }

  #standAt(cursor: Cursor): void {
    const { position } = cursor;
    this.#cursor = cursor;
    if (position === undefined) return;
    this.#pending?.keepPrefetched(position);
  }

  #follow(pending: PendingSubscribes): void {
    this.#following = true;
    // They slept, and nobody knows what they have. The channel's object begins anew with this gateway: what it tells from
    // then on follows on what joins now, not on what they have, and nothing shows from when on that is so.
    this.#endSubscriptions();
    this.#gateway.request(this.channel, [
      {
        request: { method: "follow" },
        done: (reply) => this.#run(() => this.#followed(reply)),
      },
      ...pending.prefetch(),
    ]);
  }

  #followed(reply: RelayReply): void {
    this.#following = false;
    if (reply.outcome !== "following") {
      this.#pending?.fail(reply.outcome === "error" ? reply.error : errorCodes.internal);
      return;
    }
    const { instance, sequence, position } = reply;
    this.#standAt({ instance, sequence, ...(position === undefined ? {} : { position }) });
    this.#takeBuffered();
  }

  #takeBuffered(): void {
    const batches = this.#buffer?.takeAll() ?? [];
    this.#buffer = undefined;
    for (const batch of batches) this.#take(batch);
  }

  #keepForLater(batch: RelayBatch): void {
    // It is passed on in one stretch with the last page of what was missing, in which no socket can drain: together they
    // must not be reason to cut a reader as slow.
    this.#buffer ??= new BatchBuffer(
      Math.min(limits.followerBufferBytesMax, this.#gateway.client.queueMaxSizeBytes / 2),
    );
    this.#buffer.add(batch);
  }

  /** Reads what is missing (rule L3). What came after it waits, with everything that comes meanwhile. */
  #catchUp(rest: RelayBatch): void {
    const since = this.#cursor?.position;
    // It was read just now, and wasn't there.
    if (since === undefined || since.offset === this.#missedAfter) {
      this.#insufficientState();
      return;
    }
    this.#keepForLater(rest);
    this.#readPage(since);
  }

  #readPage(since: StreamPosition): void {
    this.#missedAfter = since.offset;
    this.#catchingUp = true;
    this.#gateway.request(this.channel, [
      {
        request: { method: "recover", since, whole: true },
        done: (reply) => this.#run(() => this.#caughtUp(since, reply)),
      },
    ]);
  }

  #caughtUp(since: StreamPosition, reply: RelayReply): void {
    this.#catchingUp = false;
    const position = this.#cursor?.position;
    if (
      this.idle ||
      reply.outcome !== "recovered" ||
      position === undefined ||
      !sameStream(reply.position, position)
    ) {
      this.#insufficientState();
      return;
    }
    const offset = this.#advance(reply.publications);
    if (offset >= reply.position.offset) this.#takeBuffered();
    // Only a page of what is missing is answered: while the next one is asked for, sockets drain.
    else if (offset > since.offset) this.#readPage({ ...position, offset });
    else this.#insufficientState();
  }

  /**
   * Passes on publications that were read, as far as they follow on where it stands.
   *
   * @returns the offset at which it stands then
   */
  #advance(publications: readonly Publication[]): number {
    for (const publication of publications) {
      const cursor = this.#cursor;
      if (cursor?.position === undefined) break;
      const { offset } = publication;
      if (offset !== cursor.position.offset + 1) continue;
      this.#cursor = { ...cursor, position: { ...cursor.position, offset } };
      this.#deliver({
        type: "publication",
        publication: asLive(publication, cursor.position.epoch),
      });
    }
    return this.#cursor?.position?.offset ?? 0;
  }

  #deliver(entry: RelayEntry): void {
    if (entry.type === "removed") this.#clearReplayBuffer();
    if (entry.type === "publication" && entry.publication.offset > 0) {
      this.#replayBuffer?.append(asInHistory(entry.publication));
    }
    this.#subscribers.deliver(entry);
  }

  /** What is being read still needs what comes meanwhile. */
  #clearReplayBuffer(): void {
    if (this.#reading) this.#replayBuffer?.empty();
    else this.#replayBuffer?.close();
  }

  /** Something is missing and can't be had. Everybody is told, and whoever wants to join begins anew. */
  #insufficientState(): void {
    this.#cursor = undefined;
    this.#missedAfter = undefined;
    this.#buffer = undefined;
    this.#replayBuffer?.close();
    this.#pending?.restart();
    this.#endSubscriptions();
  }

  #endSubscriptions(): void {
    for (const subscription of this.subscriptions) this.#gateway.memory.remove(subscription);
    this.#subscribers.insufficientState();
  }
}

/** What all followers of a gateway share. */
export interface FollowerGateway {
  readonly client: ClientConfig;
  /** Counts the subscribers here, and those about to be. */
  readonly memory: SubscriptionMemory;
  /** Asks a channel's object, in order. */
  request(channel: string, requests: readonly PendingRequest[]): void;
  /** Called at the end of whatever happened to a follower: it may be idle now, or have something to settle. */
  changed(follower: Follower): void;
}

/** A publication as the history has it: it doesn't say the epoch that clients are told with the first one. */
function asInHistory(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

/** A publication as it is told when it happens: the first one of a stream says the epoch (docs/protocol.md 2.6). */
function asLive(publication: Publication, epoch: string): Publication {
  return publication.offset === 1 ? { ...publication, epoch } : publication;
}
