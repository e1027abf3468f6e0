import type { SubscribeOptions } from "../channel/channel.ts";
import { recover, recoverNewest, type Recovery } from "../channel/recovery.ts";
import type { ClientConfig } from "../config/config.ts";
import { publicationBytes } from "../contract/relay-batch.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/ports.ts";
import type { Subscription } from "../session/subscription.ts";
import type { PendingRequest } from "./channel-client.ts";
import { sameStream } from "./cursor.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

/**
 * Those who want to subscribe to one channel, until they are answered. What they need to be read is read once for each
 * position, however many want it (rule L6).
 */
export class PendingSubscribes {
  readonly #client: ClientConfig;
  readonly #host: PendingSubscribesHost;
  readonly #all = new Map<Subscription, PendingSubscribe>();
  /** They wait for the gateway to stand somewhere. */
  readonly #waiting = new Set<PendingSubscribe>();
  /** When the last one came. */
  #addedAtMs = 0;
  /** What is being read, by its question. */
  readonly #reads = new Map<string, Read>();

  constructor(client: ClientConfig, host: PendingSubscribesHost) {
    this.#client = client;
    this.#host = host;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether {@link decide} has something to do. */
  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether something is being read: what comes meanwhile belongs into the window. */
  get reading(): boolean {
    return this.#reads.size > 0;
  }

  add(attempt: SubscribeAttempt): void {
    const pending: PendingSubscribe = { ...attempt, caughtUp: false, reread: false };
    this.#addedAtMs = attempt.nowMs;
    this.#all.set(attempt.subscription, pending);
    this.#waiting.add(pending);
  }

  /** The wish is taken back: there will be no answer (rule G5). */
  cancel(subscription: Subscription): void {
    const pending = this.#all.get(subscription);
    if (pending === undefined) return;
    this.#all.delete(subscription);
    this.#waiting.delete(pending);
  }

  /** Goes on with those who wait, now that the gateway stands somewhere. */
  decide(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const pending of waiting) if (this.#isPending(pending)) this.#decide(pending);
  }

  /**
   * What the first of those who wait will need to be read, most likely: asked in the call that follows the channel. Who
   * needs it is found out when the gateway stands somewhere.
   */
  prefetch(): readonly PendingRequest[] {
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
   * The gateway stands somewhere: reads that were asked ahead are of use only if they are of its stream, and then need what
   * comes before their answers.
   */
  keepPrefetched(position: StreamPosition): void {
    for (const [key, { since }] of this.#reads) {
      if (key !== newestKey && !sameStream(since, position)) this.#reads.delete(key);
    }
    if (this.reading) this.#host.replayBuffer.open(position.offset, this.#addedAtMs);
  }

  /** Where the gateway stood is worth nothing any more: everybody waits again. */
  restart(): void {
    this.#reads.clear();
    for (const pending of this.#all.values()) {
      pending.caughtUp = false;
      pending.reread = false;
      this.#waiting.add(pending);
    }
  }

  /** Nobody can be told where the channel stands. */
  fail(error: ErrorCode): void {
    this.#reads.clear();
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
          // What it was read for may have ended meanwhile.
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
      // Of another stream it is of no use; the gateway will hear of that stream, too.
      const isUsable = position !== undefined && sameStream(reply.position, position);
      if (isUsable && key === topKey) this.#readTop(read, reply);
      else if (key === topKey) this.#caughtUp(read);
      else this.#finishRead(key, subscribes, isUsable ? reply : undefined);
    } else if (reply.outcome === "unrecoverable") {
      if (key === topKey) this.#cannotCatchUp(read, position);
      else this.#finishRead(key, subscribes, undefined);
    } else this.#failAll(subscribes, reply.outcome === "error" ? reply.error : errorCodes.internal);
  }

  /** Goes on until the gateway is where the answer says that the channel is: it may be only a page of what is missing. */
  #readTop(read: Read, { publications, position: top }: Recovered): void {
    const { since, subscribes } = read;
    this.#host.advance(publications);
    const position = this.#host.position();
    const isPage = position !== undefined && position.offset < top.offset;
    // With nobody left who wants it, or nothing new in the answer, there is nothing to go on for.
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

  /** @param read undefined when it can't be had */
  #finishRead(
    key: string,
    subscribes: readonly PendingSubscribe[],
    read: Recovered | undefined,
  ): void {
    const { replayBuffer: buffer } = this.#host;
    // What is newer than the gateway goes to all its subscribers; the next batch will only repeat it.
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
      // A newer one than the gateway has passed on would come to the subscriber twice.
      else if (isBehind && !pending.caughtUp) this.#catchUp(pending, position);
      else this.#finishNewest(pending, position, missed);
    }
  }

  /** What was answered may be from before the later of them came, who may have been further by then: they ask anew. */
  #caughtUp({ subscribes, countAtRequest }: Read): void {
    for (const [index, pending] of subscribes.entries()) {
      pending.caughtUp ||= index < countAtRequest;
      this.#waiting.add(pending);
    }
  }

  /**
   * What lies between the gateway and the channel is gone. Whoever has been further already would begin where the gateway
   * stands and hear it again, so the gateway begins anew (rule L3).
   */
  #cannotCatchUp(read: Read, position: StreamPosition | undefined): void {
    const isFurther = (pending: PendingSubscribe): boolean => {
      const { since } = pending.options;
      if (since === undefined || position === undefined || !this.#isPending(pending)) return false;
      return sameStream(since, position) && since.offset > position.offset;
    };
    if (read.subscribes.some(isFurther)) this.#host.insufficientState();
    else this.#caughtUp(read);
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
    // Another life of the channel's object, heard of meanwhile, may have come between what was read and what is held.
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
      // One that was failed may take back another's wish.
      if (!this.#isPending(pending)) continue;
      this.#waiting.delete(pending);
      this.#finish(pending, { outcome: "failed", error });
    }
  }

  #isPending(pending: PendingSubscribe): boolean {
    return this.#all.get(pending.subscription) === pending;
  }
}

/** Somebody who wants to subscribe. */
export interface SubscribeAttempt {
  readonly subscription: Subscription;
  readonly options: SubscribeOptions;
  readonly nowMs: number;
  readonly done: (reply: SubscribeReply) => void;
}

/** What joins need of the follower of their channel. */
export interface PendingSubscribesHost {
  readonly replayBuffer: ReplayBuffer;
  /** Where the gateway stands; undefined while nobody knows, and on a channel without history. */
  position(): StreamPosition | undefined;
  ask(requests: readonly PendingRequest[]): void;
  /** Does what an answer makes necessary, and what follows from it. */
  run(work: () => void): void;
  /** Passes on what was read beyond the gateway's position. */
  advance(publications: readonly Publication[]): void;
  /** From here on the subscription gets everything. */
  begin(subscription: Subscription): void;
  /** What the gateway misses can't be had: it begins anew, and so do all who wait (rule L3). */
  insufficientState(): void;
}

interface PendingSubscribe extends SubscribeAttempt {
  /** The gateway has caught up with the channel for it once. */
  caughtUp: boolean;
  /** What it missed was read for it a second time. */
  reread: boolean;
}

interface Read {
  readonly since: StreamPosition;
  readonly subscribes: PendingSubscribe[];
  /** So many of them were there when it was asked. */
  readonly countAtRequest: number;
}

type Recovered = Extract<RelayReply, { readonly outcome: "recovered" }>;

/**
 * Whether all that came since it was read is there, up to an offset. It isn't when another life of the channel's object was
 * heard of meanwhile, which may have come with a removal of the history; then it can be read once more.
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

/** How a subscriber's wish goes on, on a gateway that stands at a position. */
type SubscribeStep =
  | { readonly outcome: "reply"; readonly reply: SubscribeReply }
  /** What came after this must be read first. */
  | { readonly outcome: "read"; readonly since: StreamPosition }
  /** The newest publication must be read first. */
  | { readonly outcome: "read-newest"; readonly position: StreamPosition }
  /** The subscriber has been further than the gateway, on another one: the gateway must catch up first. */
  | { readonly outcome: "catch-up"; readonly position: StreamPosition };

/**
 * Decides what a subscriber's wish needs, without asking anybody where that isn't needed.
 *
 * @param position where the gateway stands; undefined on a channel without history
 * @param caughtUp whether it has caught up for this subscriber already
 */
function decideSubscribe(
  options: SubscribeOptions,
  position: StreamPosition | undefined,
  buffer: ReplayBuffer,
  caughtUp: boolean,
  client: ClientConfig,
): SubscribeStep {
  const { since } = options;
  if (!options.positioned || position === undefined) return replyStep(subscribed(undefined));
  if (since === undefined) return replyStep(subscribed(position));
  const isSame = sameStream(since, position);
  if (isSame && since.offset > position.offset && !caughtUp) {
    return { outcome: "catch-up", position };
  }
  if (options.mode === "cache") {
    // Before the first publication there is none to be read.
    if (buffer.last === undefined && position.offset > 0) {
      return { outcome: "read-newest", position };
    }
    return replyStep(newestReply(options, since, position, buffer.last, client));
  }
  if (!isSame) return replyStep(notRecovered(options, position));
  if (since.offset >= position.offset) {
    return replyStep(streamReply(options, since, position, [], client));
  }
  const missed = buffer.since(since.offset);
  if (missed === undefined) {
    return { outcome: "read", since: { epoch: position.epoch, offset: since.offset } };
  }
  return replyStep(streamReply(options, since, position, missed, client));
}

/**
 * Answers who recovers a stream.
 *
 * @param missed everything after `since`, up to the position; undefined when it can't be had
 */
function streamReply(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  missed: readonly Publication[] | undefined,
  client: ClientConfig,
): SubscribeReply {
  const limit = client.recoveryMaxPublicationLimit;
  const fits = missed !== undefined && fitsReply(missed, client);
  return recovered(options, position, recover(since, position, fits ? missed : undefined, limit));
}

/**
 * Answers who recovers from the newest publication.
 *
 * @param newest the one at the position; undefined when it is gone
 */
function newestReply(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  newest: Publication | undefined,
  client: ClientConfig,
): SubscribeReply {
  const fits = newest !== undefined && fitsReply([newest], client);
  return recovered(options, position, recoverNewest(since, position, fits ? newest : undefined));
}

/** The subscription begins without what was missed, or not at all if that was the wish (rule R5). */
function notRecovered({ orFail }: SubscribeOptions, position: StreamPosition): SubscribeReply {
  return orFail
    ? { outcome: "failed", error: errorCodes.unrecoverablePosition }
    : subscribed(position);
}

function recovered(
  options: SubscribeOptions,
  position: StreamPosition,
  recovery: Recovery,
): SubscribeReply {
  if (recovery.outcome === "unrecoverable") return notRecovered(options, position);
  return { outcome: "subscribed", position, recovered: true, publications: recovery.publications };
}

function subscribed(position: StreamPosition | undefined): SubscribeReply {
  return {
    outcome: "subscribed",
    recovered: false,
    publications: [],
    ...(position === undefined ? {} : { position }),
  };
}

function replyStep(reply: SubscribeReply): SubscribeStep {
  return { outcome: "reply", reply };
}

/** A subscriber that was sent more at once would be cut as slow, come back, and be sent it again. */
function fitsReply(publications: readonly Publication[], client: ClientConfig): boolean {
  const bytes = publications.reduce((sum, publication) => sum + publicationBytes(publication), 0);
  return bytes <= client.queueMaxSizeBytes - limits.answerRestBytes;
}
