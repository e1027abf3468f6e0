import type { SubscribeOptions } from "../channel/channel.ts";
import type { ClientConfig } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/ports.ts";
import type { Subscription } from "../session/subscription.ts";
import { answerNewest, answerStream, decideSubscribe } from "./subscribe-step.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";
import { sameStream } from "./cursor.ts";
import type { PendingRequest } from "./channel-client.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

/** Somebody who wants to subscribe. */
export interface SubscribeAttempt {
  readonly subscription: Subscription;
  readonly options: SubscribeOptions;
  readonly nowMs: number;
  readonly answer: (outcome: SubscribeReply) => void;
}

/** What joins need of the follower of their channel. */
export interface PendingSubscribesHost {
  readonly replayBuffer: ReplayBuffer;
  /** Where the gateway stands; undefined while nobody knows, and on a channel without history. */
  position(): StreamPosition | undefined;
  ask(asked: readonly PendingRequest[]): void;
  /** Does what an answer makes necessary, and what follows from it. */
  run(work: () => void): void;
  /** Passes on what was read beyond the gateway's position. */
  advance(publications: readonly Publication[]): void;
  /** From here on the subscription gets everything. */
  begin(subscription: Subscription): void;
  /** What the gateway misses can't be had: it begins anew, and so do all who wait (rule L3). */
  insufficientState(): void;
}

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
  #joinedAtMs = 0;
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
    const pending: PendingSubscribe = { ...attempt, caughtUp: false, readAgain: false };
    this.#joinedAtMs = attempt.nowMs;
    this.#all.set(attempt.subscription, pending);
    this.#waiting.add(pending);
  }

  /** The wish is taken back: there will be no answer (rule G5). */
  cancel(subscription: Subscription): void {
    const attempt = this.#all.get(subscription);
    if (attempt === undefined) return;
    this.#all.delete(subscription);
    this.#waiting.delete(attempt);
  }

  /** Goes on with those who wait, now that the gateway stands somewhere. */
  decide(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const attempt of waiting) if (this.#isPending(attempt)) this.#decide(attempt);
  }

  /**
   * What the first of those who wait will need to be read, most likely: asked in the call that follows the channel. Who
   * needs it is found out when the gateway stands somewhere.
   */
  askAhead(): readonly PendingRequest[] {
    for (const { options } of this.#waiting) {
      if (!options.positioned || options.since === undefined) continue;
      const { since, mode } = options;
      const request: RelayRequest =
        mode === "cache" ? { method: "newest" } : { method: "recover", since };
      const key = mode === "cache" ? newestKey : offsetKey(since.offset);
      return [this.#newRead(key, request, { since, joins: [], asked: 0 })];
    }
    return [];
  }

  /**
   * The gateway stands somewhere: reads that were asked ahead are of use only if they are of its stream, and then need what
   * comes before their answers.
   */
  settleAhead(position: StreamPosition): void {
    for (const [key, { since }] of this.#reads) {
      if (key !== newestKey && !sameStream(since, position)) this.#reads.delete(key);
    }
    if (this.reading) this.#host.replayBuffer.open(position.offset, this.#joinedAtMs);
  }

  /** Where the gateway stood is worth nothing any more: everybody waits again. */
  restart(): void {
    this.#reads.clear();
    for (const attempt of this.#all.values()) {
      attempt.caughtUp = false;
      attempt.readAgain = false;
      this.#waiting.add(attempt);
    }
  }

  /** Nobody can be told where the channel stands. */
  fail(error: ErrorCode): void {
    this.#reads.clear();
    this.#failAll([...this.#all.values()], error);
  }

  #decide(attempt: PendingSubscribe): void {
    const position = this.#host.position();
    const step = decideSubscribe(
      attempt.options,
      position,
      this.#host.replayBuffer,
      attempt.caughtUp,
      this.#client,
    );
    switch (step.outcome) {
      case "answer":
        this.#answer(attempt, step.answer);
        return;
      case "read":
        this.#read(
          offsetKey(step.since.offset),
          { method: "recover", since: step.since },
          step.since,
          attempt,
        );
        return;
      case "read-newest":
        this.#read(newestKey, { method: "newest" }, step.position, attempt);
        return;
      case "catch-up":
        this.#catchUp(attempt, step.position);
    }
  }

  #read(
    key: string,
    request: RelayRequest,
    since: StreamPosition,
    attempt: PendingSubscribe,
  ): void {
    const underWay = this.#reads.get(key);
    if (underWay !== undefined) {
      underWay.joins.push(attempt);
      return;
    }
    this.#host.replayBuffer.open(this.#host.position()?.offset ?? 0, attempt.nowMs);
    this.#host.ask([this.#newRead(key, request, { since, joins: [attempt], asked: 1 })]);
  }

  #newRead(key: string, request: RelayRequest, read: Read): PendingRequest {
    this.#reads.set(key, read);
    return {
      request: request,
      done: (answer) => {
        this.#host.run(() => {
          // What it was read for may have ended meanwhile.
          if (this.#reads.get(key) !== read) return;
          this.#reads.delete(key);
          this.#answered(key, read, answer);
        });
      },
    };
  }

  #answered(key: string, read: Read, answer: RelayReply): void {
    const { joins } = read;
    const position = this.#host.position();
    if (answer.outcome === "recovered") {
      // Of another stream it is of no use; the gateway will hear of that stream, too.
      const fits = position !== undefined && sameStream(answer.position, position);
      if (fits && key === topKey) this.#readTop(read, answer);
      else if (key === topKey) this.#caughtUp(read);
      else this.#finish(key, joins, fits ? answer : undefined);
    } else if (answer.outcome === "unrecoverable") {
      if (key === topKey) this.#cannotCatchUp(read, position);
      else this.#finish(key, joins, undefined);
    } else this.#failAll(joins, answer.outcome === "error" ? answer.error : errorCodes.internal);
  }

  /** Goes on until the gateway is where the answer says that the channel is: it may be only a page of what is missing. */
  #readTop(read: Read, { publications, position: top }: Recovered): void {
    const { since, joins } = read;
    this.#host.advance(publications);
    const position = this.#host.position();
    const isPage = position !== undefined && position.offset < top.offset;
    // With nobody left who wants it, or nothing new in the answer, there is nothing to go on for.
    if (
      !isPage ||
      position.offset <= since.offset ||
      !joins.some((attempt) => this.#isPending(attempt))
    ) {
      this.#caughtUp(read);
      return;
    }
    const request: RelayRequest = { method: "recover", since: position, whole: true };
    const next: Read = { since: position, joins, asked: joins.length };
    this.#host.ask([this.#newRead(topKey, request, next)]);
  }

  /** @param read undefined when it can't be had */
  #finish(key: string, joins: readonly PendingSubscribe[], read: Recovered | undefined): void {
    const { replayBuffer: buffer } = this.#host;
    // What is newer than the gateway goes to all its subscribers; the next batch will only repeat it.
    if (key === newestKey) this.#host.advance(read?.publications ?? []);
    const position = this.#host.position();
    if (position === undefined) return;
    const missed = read && buffer.merge(read.publications);
    const isBehind = read !== undefined && read.position.offset > position.offset;
    const isInterrupted = read !== undefined && !reaches(read, missed ?? [], position.offset);
    for (const attempt of joins) {
      if (!this.#isPending(attempt)) continue;
      if (key !== newestKey && isInterrupted && !attempt.readAgain) {
        attempt.readAgain = true;
        this.#waiting.add(attempt);
      } else if (key !== newestKey) this.#answerStream(attempt, position, missed);
      // A newer one than the gateway has passed on would come to the subscriber twice.
      else if (isBehind && !attempt.caughtUp) this.#catchUp(attempt, position);
      else this.#answerNewest(attempt, position, missed);
    }
  }

  /** What was answered may be from before the later of them came, who may have been further by then: they ask anew. */
  #caughtUp({ joins, asked }: Read): void {
    for (const [index, attempt] of joins.entries()) {
      attempt.caughtUp ||= index < asked;
      this.#waiting.add(attempt);
    }
  }

  /**
   * What lies between the gateway and the channel is gone. Whoever has been further already would begin where the gateway
   * stands and hear it again, so the gateway begins anew (rule L3).
   */
  #cannotCatchUp(read: Read, position: StreamPosition | undefined): void {
    const isFurther = (attempt: PendingSubscribe): boolean => {
      const { since } = attempt.options;
      if (since === undefined || position === undefined || !this.#isPending(attempt)) return false;
      return sameStream(since, position) && since.offset > position.offset;
    };
    if (read.joins.some(isFurther)) this.#host.insufficientState();
    else this.#caughtUp(read);
  }

  #catchUp(attempt: PendingSubscribe, position: StreamPosition): void {
    this.#read(topKey, { method: "recover", since: position, whole: true }, position, attempt);
  }

  #answerStream(
    attempt: PendingSubscribe,
    position: StreamPosition,
    missed: readonly Publication[] | undefined,
  ): void {
    const { since } = attempt.options;
    if (since === undefined) return;
    const own = missed?.filter(({ offset }) => offset > since.offset);
    this.#answer(attempt, answerStream(attempt.options, since, position, own, this.#client));
  }

  #answerNewest(
    attempt: PendingSubscribe,
    position: StreamPosition,
    missed: readonly Publication[] | undefined,
  ): void {
    const { since } = attempt.options;
    if (since === undefined) return;
    // Another life of the channel's object, heard of meanwhile, may have come between what was read and what is held.
    const { last } = this.#host.replayBuffer;
    const newest = last?.offset === position.offset ? last : missed?.at(-1);
    this.#answer(attempt, answerNewest(attempt.options, since, position, newest, this.#client));
  }

  #answer(attempt: PendingSubscribe, outcome: SubscribeReply): void {
    this.#all.delete(attempt.subscription);
    if (outcome.outcome === "subscribed") this.#host.begin(attempt.subscription);
    attempt.answer(outcome);
  }

  #failAll(joins: readonly PendingSubscribe[], error: ErrorCode): void {
    for (const attempt of joins) {
      // One that was failed may take back another's wish.
      if (!this.#isPending(attempt)) continue;
      this.#waiting.delete(attempt);
      this.#answer(attempt, { outcome: "failed", error });
    }
  }

  #isPending(attempt: PendingSubscribe): boolean {
    return this.#all.get(attempt.subscription) === attempt;
  }
}

interface PendingSubscribe extends SubscribeAttempt {
  /** The gateway has caught up with the channel for it once. */
  caughtUp: boolean;
  /** What it missed was read for it a second time. */
  readAgain: boolean;
}

interface Read {
  readonly since: StreamPosition;
  readonly joins: PendingSubscribe[];
  /** So many of them were there when it was asked. */
  readonly asked: number;
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
