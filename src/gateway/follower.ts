import { errorOf } from "../contract/channel-call.ts";
import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import { limits } from "../limits.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/channels.ts";
import type { Subscription } from "../session/subscription.ts";
import { LocalSubscribers, type PublishWait } from "./local-subscribers.ts";
import { BatchBuffer, eraseFrom, sortBatch } from "./batch-order.ts";
import type { FollowerGateway } from "./follower-gateway.ts";
import type { RelayBatch, RelayBatchReply, RelayEntry } from "../contract/relay-batch.ts";
import { PendingSubscribes } from "./pending-subscribes.ts";
import type { RelayReply } from "../contract/relay-request.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { cursorBefore, isKnownStart, sameStream } from "./cursor.ts";
import { asInHistory, asLive, ReplayBuffer } from "./replay-buffer.ts";

/**
 * A gateway's view of one channel, for all its subscribers here (rules L1, L3, L6 and L7).
 *
 * The follower's cursor says how far it is: the subscribers have everything up to there. The entries after it are
 * passed on. If publications are missing before them, they wait until the missing ones have been read.
 *
 * The cursor is unknown until the channel's object replies to `follow`, and after a hibernation for which no cursor was
 * stored. In the second case a batch sets it, if the channel's object knows that the gateway has taken everything
 * before that batch. Any other batch might repeat entries, or leave some out. Then the subscriptions end with
 * insufficient state, so that no subscriber has a gap or gets a publication twice, with history and without.
 *
 * A gateway has thousands of followers, and few of them are catching up or have a pending subscribe. So the state that
 * only these need is built when it is needed, and then dropped.
 */
export class Follower {
  readonly channel: string;
  readonly #gateway: FollowerGateway<Follower>;
  readonly #subscribers: LocalSubscribers;
  /** Undefined while no subscribe is pending, and none of their reads is under way. */
  #pending: PendingSubscribes | undefined;
  /** Those since the first read for a pending subscribe; undefined while it is closed and none is pending. */
  #replayBuffer: ReplayBuffer | undefined;
  /** Batches that came while missing publications are read, or before the cursor is known; undefined without any. */
  #buffer: BatchBuffer | undefined;
  /** Undefined while it is unknown. */
  #cursor: Cursor | undefined;
  /** Whether a `follow` request is under way. */
  #following = false;
  /** Whether missing publications are being read. */
  #catchingUp = false;
  /** The offset after which missing publications were read the last time. */
  #missedAfter: number | undefined;
  /** Whether `#run` is on the call stack. */
  #working = false;
  /** What the channel's object knows of {@link occupied}; undefined while there was no onlooker here. */
  #toldOccupied: boolean | undefined;

  /** @param cursor how far the gateway is, if the channel's object still counts on it (rule L9) */
  constructor(channel: string, gateway: FollowerGateway<Follower>, cursor?: Cursor) {
    this.channel = channel;
    this.#gateway = gateway;
    this.#cursor = cursor;
    this.#subscribers = new LocalSubscribers(channel, gateway.client, gateway.hubSetup?.(channel));
  }

  /** Whether there are neither subscribers nor pending subscribes. */
  get idle(): boolean {
    return this.#subscribers.hub.size === 0 && !this.#subscribing;
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.#subscribers.unsettled || this.#pending?.areAhead === true;
  }

  /** Whether a frame is on its way: {@link sendSlice} has to be called in another turn of the event loop. */
  get sending(): boolean {
    return this.#subscribers.hub.sending;
  }

  /** Whether something waits to be sent. */
  get collecting(): boolean {
    return this.#subscribers.hub.collecting;
  }

  /** Whether the channel's object is to wait with its next batch (rules F6 and F8). */
  get full(): boolean {
    return this.#subscribers.full;
  }

  /** The position that the subscribers have everything up to; undefined without history, and while it is unknown. */
  get position(): StreamPosition | undefined {
    return this.#cursor?.position;
  }

  /** The first offset that some subscribers may not have been sent yet; undefined if all have been sent everything. */
  get firstWaitingOffset(): number | undefined {
    return this.#subscribers.hub.firstWaitingOffset;
  }

  /** How far the gateway is; undefined while that is unknown. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** The same, unless something is being read, which may move it. */
  get cursorAtRest(): Cursor | undefined {
    return this.#catchingUp || this.#reading ? undefined : this.#cursor;
  }

  /** How many subscribes haven't been answered. */
  get pendingCount(): number {
    return this.#pending?.size ?? 0;
  }

  /** How many subscribers others may know of. */
  get subscriberCount(): number {
    return this.#subscribers.hub.shownSize;
  }

  /** Whether there is a subscriber besides onlookers, or is about to be (rule N26). */
  get occupied(): boolean {
    return this.subscriberCount > 0 || this.#pending?.isByOthers === true;
  }

  /** The subscribers here. */
  get subscriptions(): readonly Subscription[] {
    return this.#subscribers.hub.subscribers;
  }

  /** The bytes of the publications that are kept for clients that recover together. */
  get replayBufferBytes(): number {
    return this.#replayBuffer?.bytes ?? 0;
  }

  /** Takes a channel object's batch. The caller has to call {@link settle} next, in the same synchronous run. */
  receive(batch: RelayBatch, nowMs: number): RelayBatchReply {
    // First, because it disconnects connections that are too far behind, after which no subscriber may be left.
    const overloaded = this.#subscribers.hub.overloaded(nowMs);
    if (this.idle) return { outcome: "left" };
    if (overloaded) return { outcome: "busy" };
    this.#gateway.batches?.took(batch);
    this.#run(() => {
      const isErasing = eraseFrom([this.#buffer, this.#replayBuffer], batch);
      this.#take(batch);
      if (isErasing) this.#subscribers.hub.flush();
    });
    return this.occupied ? { outcome: "taken" } : { outcome: "taken", onlooks: true };
  }

  /** Adds a subscription; `done` may be called at once. See `Channels.subscribe`. */
  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (reply: SubscribeReply) => void,
  ): void {
    const { memory } = this.#gateway;
    const counted = (reply: SubscribeReply): void => {
      if (reply.outcome === "failed") memory.release(subscription);
      done(reply);
    };
    memory.reserve(subscription);
    if (subscription.onlooks) this.#toldOccupied ??= this.occupied;
    this.#run(() => {
      this.expireReplayBuffer(nowMs);
      this.#pending ??= this.#newPending();
      this.#pending.enqueue({ subscription, options, nowMs, done: counted });
    });
  }

  /** Ends a subscription, or cancels a pending one, whose `done` then isn't called any more (rule G5). */
  unsubscribe(subscription: Subscription): void {
    this.#gateway.memory.release(subscription);
    this.#run(() => {
      this.#pending?.cancel(subscription);
      this.#subscribers.remove(subscription);
    });
  }

  /** Restores a subscription after hibernation, with the cursor that it stores. */
  restore(subscription: Subscription): void {
    this.#gateway.memory.reserve(subscription);
    this.#run(() => {
      this.#cursor = this.#subscribers.restore(subscription, this.#cursor);
      // The channel's object was informed before the hibernation.
      if (subscription.onlooks || this.#toldOccupied !== undefined)
        this.#toldOccupied = this.occupied;
    });
  }

  /**
   * Answers a publisher once its publication has reached the hub (rule O4), or at once if it isn't a subscriber here.
   */
  awaitPublication(wait: PublishWait): void {
    this.#run(() => this.#subscribers.awaitPublication(wait));
  }

  /** Sends one subscriber all that it hasn't been sent yet (rule F5). */
  catchUp(subscription: Subscription): void {
    this.#run(() => this.#subscribers.hub.catchUp(subscription));
  }

  /** Sends the frame that is on its way to the next slice of the subscribers (rule F2). */
  sendSlice(): void {
    this.#run(() => this.#subscribers.hub.sendSlice());
  }

  /**
   * Starts to send what was collected, unless a frame is on its way, and ends what has waited too long.
   *
   * @returns in how many ms this must be called again; undefined if there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    let settleInMs: number | undefined;
    this.#run(() => {
      settleInMs = this.#subscribers.settle(nowMs);
      const waitMs = this.#pending?.waitMs(nowMs);
      if (waitMs === 0) this.#insufficientState();
      else if (waitMs !== undefined) settleInMs = Math.min(settleInMs ?? waitMs, waitMs);
    });
    return settleInMs;
  }

  /** Drops the publications kept for clients that recover together, if the time to keep them is over. */
  expireReplayBuffer(nowMs: number): void {
    if (!this.#reading) this.#replayBuffer?.expire(nowMs);
    this.#dropUnused();
  }

  /** Drops the publications kept for clients that recover together, unless a read is under way. */
  dropReplayBuffer(): void {
    if (!this.#reading) this.#replayBuffer?.close();
    this.#dropUnused();
  }

  /**
   * Does all work of the follower, and then what follows from it. Sending makes sessions carry out further commands,
   * which call the follower again in the middle of its work: a subscription that began between two publications of a
   * batch would get a gap, or one of them twice. So the outermost call does what follows from all of the work, at its
   * end.
   */
  #run(work: () => void): void {
    if (this.#working) {
      work();
      return;
    }
    this.#working = true;
    try {
      work();
      while (this.#proceed());
      if (this.#cursor !== undefined) this.#subscribers.keep(this.#cursor);
    } finally {
      this.#working = false;
    }
    this.#dropUnused();
    if (this.#toldOccupied !== undefined) this.#tellOccupied(this.occupied);
    this.#gateway.changed(this);
  }

  /** Has the channel's object ask whether there are onlookers alone, if that has changed. */
  #tellOccupied(isOccupied: boolean): void {
    if (isOccupied === this.#toldOccupied || this.idle) return;
    this.#toldOccupied = isOccupied;
    this.#gateway.request(this.channel, [{ request: { method: "check" }, done: () => undefined }]);
  }

  get #subscribing(): boolean {
    return this.#pending !== undefined && this.#pending.size > 0;
  }

  get #reading(): boolean {
    return this.#pending?.reading === true;
  }

  #newPending(): PendingSubscribes {
    const { client, recoveryLimit } = this.#gateway;
    const amends = this.#gateway.amends?.(this.channel) === true;
    this.#replayBuffer ??= new ReplayBuffer(amends);
    const recoveryMaxPublicationLimit =
      recoveryLimit?.(this.channel) ?? client.recoveryMaxPublicationLimit;
    return new PendingSubscribes(
      { ...client, recoveryMaxPublicationLimit },
      {
        amends,
        replayBuffer: this.#replayBuffer,
        position: () => this.#cursor?.position,
        ask: (requests) => this.#gateway.request(this.channel, requests),
        run: (work) => this.#run(work),
        advance: (publications) => this.#advance(publications),
        begin: (subscription) => this.#subscribers.hub.add(subscription),
      },
    );
  }

  #dropUnused(): void {
    if (this.#working || this.#subscribing || this.#reading) return;
    this.#pending = undefined;
    if (this.#replayBuffer?.isOpen === false) this.#replayBuffer = undefined;
  }

  /** @returns whether something was done, from which more may follow; false if there is nothing to do */
  #proceed(): boolean {
    // A publisher whose publication is being read gets it first (rule O4), even if the cursor names a later instance.
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
    // Pending subscribes need the entries after the reply to `follow`, and these may come before that reply.
    if (this.#cursor === undefined && !this.#startBefore(batch) && this.#subscribing)
      this.#keepForLater(batch);
    if (this.#cursor === undefined) return;
    const sorted = sortBatch(batch, this.#cursor);
    if (sorted.outcome === "insufficient-state") {
      this.#insufficientState();
      return;
    }
    if (sorted.skipped) {
      this.#clearReplayBuffer();
      this.#subscribers.hub.missedJoins();
    }
    this.#cursor = sorted.cursor;
    for (const entry of sorted.entries) this.#deliver(entry);
    if (sorted.rest !== undefined) this.#catchUp(sorted.rest);
  }

  /**
   * Sets the unknown cursor to before the batch, if the subscribers are certain to have everything up to there.
   * Otherwise the subscriptions end with insufficient state (rule L3).
   *
   * @returns whether the cursor is known now
   */
  #startBefore(batch: RelayBatch): boolean {
    if (this.#subscribers.hub.size === 0) return false;
    const isKnown = isKnownStart(batch);
    if (isKnown) {
      const cursor = cursorBefore(batch);
      this.#subscribers.hub.restoredAt = cursor.position?.offset;
      this.#startAt(cursor);
    } else this.#insufficientState();
    return isKnown;
  }

  #startAt(cursor: Cursor): void {
    this.#cursor = cursor;
    this.#subscribers.hub.missedJoins();
    if (cursor.position !== undefined) this.#pending?.keepPrefetched(cursor.position);
  }

  #follow(pending: PendingSubscribes): void {
    this.#following = true;
    // Restored subscriptions whose cursor is unknown have to end. The channel's object registers the gateway anew, so
    // its entries follow the reply to `follow`. Nothing shows whether they also follow the last publication that these
    // subscribers have.
    this.#endSubscriptions();
    this.#gateway.request(this.channel, [
      {
        request: this.occupied ? { method: "follow" } : { method: "follow", onlooks: true },
        done: (reply) => this.#run(() => this.#followed(reply)),
      },
      ...pending.prefetch(),
    ]);
  }

  #followed(reply: RelayReply): void {
    this.#following = false;
    if (reply.outcome !== "following") {
      this.#pending?.fail(errorOf(reply));
      return;
    }
    const { instance, sequence, position } = reply;
    this.#startAt({ instance, sequence, ...(position === undefined ? {} : { position }) });
    this.#takeBuffered();
  }

  #takeBuffered(): void {
    const batches = this.#buffer?.takeAll() ?? [];
    this.#buffer = undefined;
    for (const batch of batches) this.#take(batch);
  }

  #keepForLater(batch: RelayBatch): void {
    // The batches are sent in one synchronous run with the last page of missing publications, during which no socket
    // can drain. Together they must not get a reader disconnected as slow.
    this.#buffer ??= new BatchBuffer(
      Math.min(limits.followerBufferBytesMax, this.#gateway.client.queueMaxSizeBytes / 2),
    );
    this.#buffer.append(batch);
  }

  /**
   * Reads missing publications (rule L3). Later entries, and batches that come meanwhile, wait for them.
   *
   * @param rest the part of a batch after the missing publications
   */
  #catchUp(rest: RelayBatch): void {
    const since = this.#cursor?.position;
    // They have just been read from this offset, and weren't there.
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
    // The reply holds only a page of the missing publications. While the next page is requested, sockets drain.
    else if (offset > since.offset) this.#readPage({ ...position, offset });
    else this.#insufficientState();
  }

  /**
   * Passes on publications that were read, as far as they follow on the cursor.
   *
   * @returns the cursor's offset then
   */
  #advance(publications: readonly Publication[]): number {
    const before = this.#cursor?.position?.offset ?? 0;
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
    const offset = this.#cursor?.position?.offset ?? 0;
    this.#gateway.batches?.read(this.channel, before + 1, offset);
    return offset;
  }

  #deliver(entry: RelayEntry): void {
    if (entry.type === "removed") this.#clearReplayBuffer();
    if (entry.type === "publication" && entry.publication.offset > 0) {
      this.#replayBuffer?.append(asInHistory(entry.publication));
    }
    this.#subscribers.deliver(entry);
  }

  /** Forgets what the buffer holds. During a read it stays open, because the read needs what comes meanwhile. */
  #clearReplayBuffer(): void {
    if (this.#reading) this.#replayBuffer?.empty();
    else this.#replayBuffer?.close();
  }

  /** Publications are missing and can't be read (rule L3). Ends all subscriptions; pending subscribes start again. */
  #insufficientState(): void {
    this.#cursor = undefined;
    this.#missedAfter = undefined;
    this.#buffer = undefined;
    this.#replayBuffer?.close();
    this.#pending?.restart();
    this.#endSubscriptions();
  }

  #endSubscriptions(): void {
    for (const subscription of this.subscriptions) this.#gateway.memory.release(subscription);
    this.#subscribers.insufficientState();
  }
}
