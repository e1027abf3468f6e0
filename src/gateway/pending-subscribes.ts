import { errorOf } from "../contract/channel-call.ts";
import { limits } from "../limits.ts";
import { elapsed } from "../moment.ts";
import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import type { ClientConfig } from "../config/config.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/channels.ts";
import type { Subscription } from "../session/subscription.ts";
import type { PendingRequest } from "./channel-client.ts";
import { sameStream } from "./cursor.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";
import { beginsAt, decideSubscribe, newestReply, streamReply } from "./subscribe-step.ts";

/**
 * The subscribes to one channel on a gateway that have no reply yet. A subscribe waits until the gateway has a cursor,
 * and until the publications that it recovers have been read, once for each position, however many subscribes need them
 * (rule L6). {@link decideSubscribe} says what a subscribe needs next. The follower owns the cursor and passes on
 * publications; the channel client makes the calls.
 */
export class PendingSubscribes {
  readonly #client: ClientConfig;
  readonly #host: PendingSubscribesHost;
  readonly #all = new Map<Subscription, PendingSubscribe>();
  /** Subscribes that wait for {@link decide}. */
  readonly #waiting = new Set<PendingSubscribe>();
  /** Those that are further than the cursor was, at this offset: they wait until it moves. */
  readonly #ahead = new Set<PendingSubscribe>();
  #aheadOf = 0;
  /** Since when, ms since 1970; undefined before the first event has ended since. */
  #aheadSinceMs: number | undefined;
  /** When the newest one was added, ms since 1970. */
  #addedAtMs = 0;
  /** The reads in flight, by what they read. */
  readonly #reads = new Map<string, Read>();

  constructor(client: ClientConfig, host: PendingSubscribesHost) {
    this.#client = client;
    this.#host = host;
  }

  /** How many subscribes are pending. */
  get size(): number {
    return this.#all.size;
  }

  /** Whether one of them isn't an onlooker's (rule N26). */
  get isByOthers(): boolean {
    for (const { onlooks } of this.#all.keys()) if (!onlooks) return true;
    return false;
  }

  /** Whether {@link decide} has something to do. */
  get waiting(): boolean {
    return this.#waiting.size > 0 || this.#hasMoved;
  }

  /** Whether a read is in flight: publications that come meanwhile belong in the replay buffer. */
  get reading(): boolean {
    return this.#reads.size > 0;
  }

  /** Adds a subscribe, which waits for {@link decide}. */
  enqueue(attempt: SubscribeAttempt): void {
    const pending: PendingSubscribe = { ...attempt, caughtUp: false, reread: false };
    this.#addedAtMs = attempt.nowMs;
    this.#all.set(attempt.subscription, pending);
    this.#waiting.add(pending);
  }

  /** The client unsubscribed or disconnected: the `done` of the subscribe isn't called any more (rule G5). */
  cancel(subscription: Subscription): void {
    const pending = this.#all.get(subscription);
    if (pending === undefined) return;
    this.#all.delete(subscription);
    this.#waiting.delete(pending);
    this.#ahead.delete(pending);
  }

  /** Whether subscribes wait for the cursor to move. */
  get areAhead(): boolean {
    return this.#ahead.size > 0;
  }

  /** For how many ms they may go on waiting; 0 if that is over, undefined if none waits. */
  waitMs(nowMs: number): number | undefined {
    if (this.#ahead.size === 0) return undefined;
    this.#aheadSinceMs ??= nowMs;
    const { aheadWaitMs } = limits;
    return elapsed(this.#aheadSinceMs, aheadWaitMs, nowMs)
      ? 0
      : aheadWaitMs - Math.abs(nowMs - this.#aheadSinceMs);
  }

  /** Goes on with the waiting subscribes, now that the gateway has a cursor. */
  decide(): void {
    const waiting = [...this.#waiting, ...(this.#hasMoved ? this.#ahead : [])];
    if (this.#hasMoved) this.#ahead.clear();
    this.#waiting.clear();
    for (const pending of waiting) if (this.#isPending(pending)) this.#decide(pending);
  }

  /**
   * The read that the first recovering subscribe most likely needs, to be sent in the same call as `follow`. Once the
   * gateway has a cursor, {@link decide} finds the subscribes that need its result.
   */
  prefetch(): readonly PendingRequest[] {
    if (this.#host.amends) return [];
    for (const { options } of this.#waiting) {
      if (!options.positioned || options.since === undefined) continue;
      const { since, mode } = options;
      const request: RelayRequest =
        mode === "cache" ? { method: "newest" } : { method: "recover", since };
      const key = mode === "cache" ? newestKey : offsetKey(since.offset);
      return [this.#newRead(key, request, { since, subscribes: [], countAtRequest: 0 })];
    }
    return [];
  }

  /**
   * The gateway has a cursor at this position. Prefetched reads of another stream are dropped. The others need every
   * publication that comes before their replies, so the replay buffer is opened.
   */
  keepPrefetched(position: StreamPosition): void {
    for (const [key, { since }] of this.#reads) {
      if (key !== newestKey && !sameStream(since, position)) this.#reads.delete(key);
    }
    if (this.reading) this.#host.replayBuffer.open(position.offset, this.#addedAtMs);
  }

  /** The gateway has lost its cursor: all subscribes wait again. */
  restart(): void {
    this.#reads.clear();
    this.#ahead.clear();
    for (const pending of this.#all.values()) {
      pending.caughtUp = false;
      pending.reread = false;
      this.#waiting.add(pending);
    }
  }

  /** The gateway can't follow the channel: all subscribes fail. */
  fail(error: ErrorCode): void {
    this.#reads.clear();
    this.#ahead.clear();
    this.#failAll([...this.#all.values()], error);
  }

  #decide(pending: PendingSubscribe): void {
    const position = this.#host.position();
    const step = decideSubscribe(
      pending.options,
      position,
      this.#host.replayBuffer,
      pending.caughtUp,
      this.#client,
    );
    switch (step.outcome) {
      case "reply":
        this.#finish(pending, step.reply);
        return;
      case "read":
        this.#read(
          offsetKey(step.since.offset),
          { method: "recover", since: step.since },
          step.since,
          pending,
        );
        return;
      case "read-newest":
        this.#read(newestKey, { method: "newest" }, step.position, pending);
        return;
      case "catch-up":
        this.#catchUp(pending, step.position);
    }
  }

  #read(
    key: string,
    request: RelayRequest,
    since: StreamPosition,
    pending: PendingSubscribe,
  ): void {
    const inFlight = this.#reads.get(key);
    if (inFlight !== undefined) {
      inFlight.subscribes.push(pending);
      return;
    }
    this.#host.replayBuffer.open(this.#host.position()?.offset ?? 0, pending.nowMs);
    this.#host.ask([
      this.#newRead(key, request, { since, subscribes: [pending], countAtRequest: 1 }),
    ]);
  }

  #newRead(key: string, request: RelayRequest, read: Read): PendingRequest {
    this.#reads.set(key, read);
    return {
      request,
      done: (reply) => {
        this.#host.run(() => {
          // The subscribes may have started over meanwhile.
          if (this.#reads.get(key) !== read) return;
          this.#reads.delete(key);
          this.#replied(key, read, reply);
        });
      },
    };
  }

  #replied(key: string, read: Read, reply: RelayReply): void {
    const { subscribes } = read;
    const position = this.#host.position();
    if (reply.outcome === "recovered") {
      // A reply from another stream is of no use; the channel object will tell the gateway of that stream, too.
      const isUsable = position !== undefined && sameStream(reply.position, position);
      if (isUsable && key === topKey) this.#readTop(read, reply);
      else if (key === topKey) this.#caughtUp(read);
      else this.#finishRead(key, this.#answered(read), isUsable ? reply : undefined);
    } else if (reply.outcome === "unrecoverable") {
      if (key === topKey) this.#cannotCatchUp(read, position);
      else this.#finishRead(key, this.#answered(read), undefined);
    } else this.#failAll(subscribes, errorOf(reply));
  }

  /**
   * The subscribes that the reply to a read answers. Where publications are amended it may have contents that were amended
   * before the later ones asked: those need another read (rule ED11).
   */
  #answered({ subscribes, countAtRequest }: Read): readonly PendingSubscribe[] {
    if (!this.#host.amends) return subscribes;
    for (const later of subscribes.slice(countAtRequest)) this.#waiting.add(later);
    return subscribes.slice(0, countAtRequest);
  }

  /**
   * Goes on until the gateway is at the top that the reply names: the reply may hold only a page of the missing
   * publications.
   */
  #readTop(read: Read, { publications, position: top }: Recovered): void {
    const { since, subscribes } = read;
    this.#host.advance(publications);
    const position = this.#host.position();
    const isPage = position !== undefined && position.offset < top.offset;
    // Without a pending subscribe, or without a new publication in the reply, there is no reason to go on.
    if (
      !isPage ||
      position.offset <= since.offset ||
      !subscribes.some((pending) => this.#isPending(pending))
    ) {
      this.#caughtUp(read);
      return;
    }
    const request: RelayRequest = { method: "recover", since: position, whole: true };
    const next: Read = { since: position, subscribes, countAtRequest: subscribes.length };
    this.#host.ask([this.#newRead(topKey, request, next)]);
  }

  /** @param read undefined if the publications can't be read any more */
  #finishRead(
    key: string,
    subscribes: readonly PendingSubscribe[],
    read: Recovered | undefined,
  ): void {
    const { replayBuffer: buffer } = this.#host;
    // A publication beyond the cursor goes to all subscribers of the gateway. The next batch merely repeats it.
    if (key === newestKey) this.#host.advance(read?.publications ?? []);
    const position = this.#host.position();
    if (position === undefined) return;
    const missed = read && buffer.merge(read.publications);
    const isBehind = read !== undefined && read.position.offset > position.offset;
    const isInterrupted = read !== undefined && !reaches(read, missed ?? [], position.offset);
    for (const pending of subscribes) {
      if (!this.#isPending(pending)) continue;
      if (key !== newestKey && isInterrupted && !pending.reread) {
        pending.reread = true;
        this.#waiting.add(pending);
      } else if (key !== newestKey) this.#finishStream(pending, position, missed);
      // A publication that the gateway hasn't passed on yet would reach the subscriber twice.
      else if (isBehind && !pending.caughtUp) this.#catchUp(pending, position);
      else this.#finishNewest(pending, position, missed);
    }
  }

  /**
   * Only the subscribes that were there when the read was sent are caught up. The reply may be from before the later
   * ones, whose clients may have been further by then: those need another read.
   */
  #caughtUp({ subscribes, countAtRequest }: Read): void {
    for (const [index, pending] of subscribes.entries()) {
      pending.caughtUp ||= index < countAtRequest;
      this.#waiting.add(pending);
    }
  }

  /**
   * The publications between the cursor and the top are gone from the history. A client that has been beyond the cursor would
   * begin at the cursor and receive publications again, so it waits until the cursor moves: the channel's object is about to
   * send the next batch, or to tell of a gap that can't be read. If neither comes, the gateway begins anew (rule L3).
   */
  #cannotCatchUp(read: Read, position: StreamPosition | undefined): void {
    const isFurther = (pending: PendingSubscribe): boolean => {
      const { since } = pending.options;
      if (since === undefined || position === undefined || !this.#isPending(pending)) return false;
      return sameStream(since, position) && beginsAt(pending.options) > position.offset;
    };
    const ahead = new Set(read.subscribes.filter(isFurther));
    if (ahead.size === 0) {
      this.#caughtUp(read);
      return;
    }
    this.#aheadOf = position?.offset ?? 0;
    this.#aheadSinceMs = undefined;
    for (const pending of read.subscribes)
      (ahead.has(pending) ? this.#ahead : this.#waiting).add(pending);
  }

  /** Whether the cursor has moved since subscribes began to wait for that. */
  get #hasMoved(): boolean {
    return this.#ahead.size > 0 && this.#host.position()?.offset !== this.#aheadOf;
  }

  #catchUp(pending: PendingSubscribe, position: StreamPosition): void {
    this.#read(topKey, { method: "recover", since: position, whole: true }, position, pending);
  }

  #finishStream(
    pending: PendingSubscribe,
    position: StreamPosition,
    missed: readonly Publication[] | undefined,
  ): void {
    const { since } = pending.options;
    if (since === undefined) return;
    const own = missed?.filter(({ offset }) => offset > since.offset);
    this.#finish(pending, streamReply(pending.options, since, position, own, this.#client));
  }

  #finishNewest(
    pending: PendingSubscribe,
    position: StreamPosition,
    missed: readonly Publication[] | undefined,
  ): void {
    const { since } = pending.options;
    if (since === undefined) return;
    // A batch of a later instance of the channel object may have come between the read and its reply.
    const { last } = this.#host.replayBuffer;
    const newest = last?.offset === position.offset ? last : missed?.at(-1);
    this.#finish(pending, newestReply(pending.options, since, position, newest, this.#client));
  }

  #finish(pending: PendingSubscribe, reply: SubscribeReply): void {
    this.#all.delete(pending.subscription);
    if (reply.outcome === "subscribed") this.#host.begin(pending.subscription);
    pending.done(reply);
  }

  #failAll(subscribes: readonly PendingSubscribe[], error: ErrorCode): void {
    for (const pending of subscribes) {
      // The failure of one subscribe may make its client cancel another one.
      if (!this.#isPending(pending)) continue;
      this.#waiting.delete(pending);
      this.#finish(pending, { outcome: "failed", error });
    }
  }

  #isPending(pending: PendingSubscribe): boolean {
    return this.#all.get(pending.subscription) === pending;
  }
}

/** A subscribe of a client. */
export interface SubscribeAttempt {
  readonly subscription: Subscription;
  readonly options: SubscribeOptions;
  readonly nowMs: number;
  /** Called once, unless the subscribe is cancelled. */
  readonly done: (reply: SubscribeReply) => void;
}

/** The part of the follower that pending subscribes need. */
export interface PendingSubscribesHost {
  /** Whether publications of the channel get other contents after they were read. */
  readonly amends: boolean;
  readonly replayBuffer: ReplayBuffer;
  /** The position of the cursor; undefined without a cursor, and on a channel without history. */
  position(): StreamPosition | undefined;
  /** Sends requests to the channel object, in order. */
  ask(requests: readonly PendingRequest[]): void;
  /** Carries out what a reply leads to, and everything that follows from that. */
  run(work: () => void): void;
  /** Passes on publications beyond the cursor. */
  advance(publications: readonly Publication[]): void;
  /** Adds a subscriber: from here on it receives every publication. */
  begin(subscription: Subscription): void;
}

interface PendingSubscribe extends SubscribeAttempt {
  /** Whether the gateway has caught up with the channel for this subscribe. */
  caughtUp: boolean;
  /** Whether the missed publications were read a second time. */
  reread: boolean;
}

interface Read {
  readonly since: StreamPosition;
  readonly subscribes: PendingSubscribe[];
  /** How many of them were there when the read was sent. */
  readonly countAtRequest: number;
}

type Recovered = Extract<RelayReply, { readonly outcome: "recovered" }>;

/**
 * Whether every publication from the read up to an offset is there. One is missing if a batch of a later instance of
 * the channel object came meanwhile, perhaps with a removal of the history, and emptied the replay buffer. Then the
 * publications can be read once more.
 */
function reaches({ position }: Recovered, missed: readonly Publication[], offset: number): boolean {
  const since = missed.filter((publication) => publication.offset > position.offset);
  return since.length >= offset - position.offset;
}

const newestKey = "newest";
const topKey = "top";

function offsetKey(offset: number): string {
  return `since ${offset}`;
}
