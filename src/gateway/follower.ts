import type { JoinWish } from "../channel/channel.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { JoinAnswer } from "../session/ports.ts";
import type { Subscription } from "../session/subscription.ts";
import { Audience, type PublishWait } from "./local-subscribers.ts";
import { BatchBuffer, sortBatch } from "./batch-order.ts";
import type { Batch, BatchAnswer, RelayEntry } from "../contract/relay-batch.ts";
import { Joins } from "./pending-subscribes.ts";
import type { Answer } from "../contract/relay-request.ts";
import { type Reached, reachedBefore, sameStream } from "./cursor.ts";
import { Window } from "./replay-buffer.ts";
import type { ClientConfig } from "../config/config.ts";
import type { HeldSubscriptions } from "./memory.ts";
import type { Asked } from "./channel-client.ts";

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
  readonly #host: FollowerHost;
  readonly #audience: Audience;
  /** Those who want to subscribe; undefined while nobody does and nothing is read for any of them. */
  #joins: Joins | undefined;
  /** What came since something was read for them; undefined while it is closed and nobody joins. */
  #window: Window | undefined;
  /** What came while something missing was read, or before it was known what the gateway needs; undefined otherwise. */
  #buffer: BatchBuffer | undefined;
  /** Where it stands; undefined while that is unknown. */
  #reached: Reached | undefined;
  /** `follow` is under way. */
  #following = false;
  /** What is missing is being read. */
  #catchingUp = false;
  /** The offset after which something was missing the last time. */
  #missedAfter: number | undefined;
  #working = false;

  constructor(channel: string, host: FollowerHost) {
    this.channel = channel;
    this.#host = host;
    this.#audience = new Audience(channel, host.client);
  }

  /** Nobody here wants the channel, or is about to. */
  get idle(): boolean {
    return this.#audience.size === 0 && !this.#joining;
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.#audience.unsettled;
  }

  /** The subscribers here. */
  get subscriptions(): readonly Subscription[] {
    return this.#audience.subscriptions;
  }

  /** What it holds for clients that recover together. */
  get windowBytes(): number {
    return this.#window?.bytes ?? 0;
  }

  /** Takes what the channel's object tells. Follow it, in the same stretch, with {@link settle}. */
  take(batch: Batch, nowMs: number): BatchAnswer {
    // It cuts those who are too far behind, and may leave nobody.
    const overloaded = this.#audience.overloaded(nowMs);
    if (this.idle) return { outcome: "left" };
    if (overloaded) return { outcome: "busy" };
    this.#run(() => this.#take(batch));
    return { outcome: "taken" };
  }

  /** Makes somebody a subscriber; `answer` may be called at once. */
  join(
    subscription: Subscription,
    wish: JoinWish,
    nowMs: number,
    answer: (outcome: JoinAnswer) => void,
  ): void {
    const { held } = this.#host;
    const answered = (outcome: JoinAnswer): void => {
      if (outcome.outcome === "failed") held.remove(subscription);
      answer(outcome);
    };
    held.add(subscription);
    this.#run(() => {
      this.expireWindow(nowMs);
      this.#joins ??= this.#newJoins();
      this.#joins.add({ subscription, wish, nowMs, answer: answered });
    });
  }

  /** Ends a subscription, or the wish for one, which then isn't answered any more (rule G5). */
  leave(subscription: Subscription): void {
    this.#host.held.remove(subscription);
    this.#run(() => {
      this.#joins?.cancel(subscription);
      this.#audience.remove(subscription);
    });
  }

  /** Takes up a subscription that slept, and where it noted that the gateway stands. */
  restore(subscription: Subscription): void {
    this.#host.held.add(subscription);
    this.#run(() => {
      this.#reached = this.#audience.restore(subscription, this.#reached);
    });
  }

  /** Answers a publisher once its publication has reached the hub (rule O4): at once, unless it is a subscriber here. */
  awaitPublication(wait: PublishWait): void {
    this.#run(() => this.#audience.awaitPublication(wait));
  }

  /** Whether publications are being collected; then the subscription's `flushed` is called once they went out. */
  awaitFlush(subscription: Subscription): boolean {
    return this.#audience.awaitFlush(subscription);
  }

  /**
   * Sends what was collected and gives up what has waited too long.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    let settleInMs: number | undefined;
    this.#run(() => {
      settleInMs = this.#audience.settle(nowMs);
    });
    return settleInMs;
  }

  /** Lets go of what was held for clients that recover together, if that was long ago. */
  expireWindow(nowMs: number): void {
    if (!this.#reading) this.#window?.expire(nowMs);
    this.#dropUnused();
  }

  /** The same, however long ago it was. */
  dropWindow(): void {
    if (!this.#reading) this.#window?.close();
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
      if (this.#reached !== undefined) this.#audience.keep(this.#reached);
    } finally {
      this.#working = false;
    }
    this.#dropUnused();
    this.#host.changed(this);
  }

  get #joining(): boolean {
    return this.#joins !== undefined && this.#joins.size > 0;
  }

  get #reading(): boolean {
    return this.#joins?.reading === true;
  }

  #newJoins(): Joins {
    this.#window ??= new Window();
    return new Joins(this.#host.client, {
      window: this.#window,
      position: () => this.#reached?.position,
      ask: (asked) => this.#host.ask(this.channel, asked),
      run: (work) => this.#run(work),
      advance: (publications) => this.#advance(publications),
      begin: (subscription) => this.#audience.add(subscription),
      lose: () => this.#lose(),
    });
  }

  #dropUnused(): void {
    if (this.#working || this.#joining || this.#reading) return;
    this.#joins = undefined;
    if (this.#window?.isOpen === false) this.#window = undefined;
  }

  /** @returns whether something was done, from which more may follow */
  #goOn(): boolean {
    // Whose publication is among what is being read hears of it first (rule O4), though a later instance has been heard.
    if (this.#catchingUp) return false;
    const reached = this.#reached;
    if (reached !== undefined && this.#audience.release(reached)) return true;
    const joins = this.#joins;
    if (joins?.waiting !== true) return false;
    if (reached !== undefined) {
      joins.decide();
      return true;
    }
    if (this.#following) return false;
    this.#follow(joins);
    return true;
  }

  #take(batch: Batch): void {
    if (this.#catchingUp) {
      this.#keepForLater(batch);
      return;
    }
    if (this.#reached === undefined && !this.#standBefore(batch)) {
      // Whoever joins needs what is told after the answer to `follow`, which may come later than this.
      if (this.#joining) this.#keepForLater(batch);
      return;
    }
    if (this.#reached === undefined) return;
    const sorted = sortBatch(batch, this.#reached);
    if (sorted.outcome === "lost") {
      this.#lose();
      return;
    }
    if (sorted.skipped) this.#forgetWindow();
    this.#reached = sorted.reached;
    for (const entry of sorted.entries) this.#deliver(entry);
    if (sorted.rest !== undefined) this.#catchUp(sorted.rest);
  }

  /** @returns whether it is known now where the subscribers stood before the batch */
  #standBefore(batch: Batch): boolean {
    if (this.#audience.size === 0) return false;
    const { certain, first, entries, top } = batch;
    // The first word of an instance that has nothing to tell repeats nothing and leaves nothing out.
    const saysNothing = first === 1 && entries.length === 0 && top === undefined;
    if (certain || saysNothing) this.#standAt(reachedBefore(batch));
    else this.#lose();
    return certain || saysNothing;
  }

  #standAt(reached: Reached): void {
    const { position } = reached;
    this.#reached = reached;
    if (position === undefined) return;
    this.#joins?.settleAhead(position);
  }

  #follow(joins: Joins): void {
    this.#following = true;
    // They slept, and nobody knows what they have. The channel's object begins anew with this gateway: what it tells from
    // then on follows on what joins now, not on what they have, and nothing shows from when on that is so.
    this.#loseAudience();
    this.#host.ask(this.channel, [
      {
        question: { method: "follow" },
        answered: (answer) => this.#run(() => this.#followed(answer)),
      },
      ...joins.askAhead(),
    ]);
  }

  #followed(answer: Answer): void {
    this.#following = false;
    if (answer.outcome !== "following") {
      this.#joins?.fail(answer.outcome === "error" ? answer.error : errorCodes.internal);
      return;
    }
    const { instance, sequence, position } = answer;
    this.#standAt({ instance, sequence, ...(position === undefined ? {} : { position }) });
    this.#takeBuffered();
  }

  #takeBuffered(): void {
    const batches = this.#buffer?.takeAll() ?? [];
    this.#buffer = undefined;
    for (const batch of batches) this.#take(batch);
  }

  #keepForLater(batch: Batch): void {
    // It is passed on in one stretch with the last page of what was missing, in which no socket can drain: together they
    // must not be reason to cut a reader as slow.
    this.#buffer ??= new BatchBuffer(
      Math.min(limits.followerBufferBytesMax, this.#host.client.queueMaxSizeBytes / 2),
    );
    this.#buffer.add(batch);
  }

  /** Reads what is missing (rule L3). What came after it waits, with everything that comes meanwhile. */
  #catchUp(rest: Batch): void {
    const since = this.#reached?.position;
    // It was read just now, and wasn't there.
    if (since === undefined || since.offset === this.#missedAfter) {
      this.#lose();
      return;
    }
    this.#keepForLater(rest);
    this.#readPage(since);
  }

  #readPage(since: StreamPosition): void {
    this.#missedAfter = since.offset;
    this.#catchingUp = true;
    this.#host.ask(this.channel, [
      {
        question: { method: "recover", since, whole: true },
        answered: (answer) => this.#run(() => this.#caughtUp(since, answer)),
      },
    ]);
  }

  #caughtUp(since: StreamPosition, answer: Answer): void {
    this.#catchingUp = false;
    const position = this.#reached?.position;
    if (
      this.idle ||
      answer.outcome !== "recovered" ||
      position === undefined ||
      !sameStream(answer.position, position)
    ) {
      this.#lose();
      return;
    }
    const offset = this.#advance(answer.publications);
    if (offset >= answer.position.offset) this.#takeBuffered();
    // Only a page of what is missing is answered: while the next one is asked for, sockets drain.
    else if (offset > since.offset) this.#readPage({ ...position, offset });
    else this.#lose();
  }

  /**
   * Passes on publications that were read, as far as they follow on where it stands.
   *
   * @returns the offset at which it stands then
   */
  #advance(publications: readonly Publication[]): number {
    for (const publication of publications) {
      const reached = this.#reached;
      if (reached?.position === undefined) break;
      const { offset } = publication;
      if (offset !== reached.position.offset + 1) continue;
      this.#reached = { ...reached, position: { ...reached.position, offset } };
      this.#deliver({
        type: "publication",
        publication: asLive(publication, reached.position.epoch),
      });
    }
    return this.#reached?.position?.offset ?? 0;
  }

  #deliver(entry: RelayEntry): void {
    if (entry.type === "removed") this.#forgetWindow();
    if (entry.type === "publication" && entry.publication.offset > 0) {
      this.#window?.append(asInHistory(entry.publication));
    }
    this.#audience.deliver(entry);
  }

  /** What is being read still needs what comes meanwhile. */
  #forgetWindow(): void {
    if (this.#reading) this.#window?.empty();
    else this.#window?.close();
  }

  /** Something is missing and can't be had. Everybody is told, and whoever wants to join begins anew. */
  #lose(): void {
    this.#reached = undefined;
    this.#missedAfter = undefined;
    this.#buffer = undefined;
    this.#window?.close();
    this.#joins?.restart();
    this.#loseAudience();
  }

  #loseAudience(): void {
    for (const subscription of this.subscriptions) this.#host.held.remove(subscription);
    this.#audience.lose();
  }
}

/** What all followers of a gateway share. */
export interface FollowerHost {
  readonly client: ClientConfig;
  /** Counts the subscribers here, and those about to be. */
  readonly held: HeldSubscriptions;
  /** Asks a channel's object, in order. */
  ask(channel: string, asked: readonly Asked[]): void;
  /** Called at the end of whatever happened to a follower: it may be idle now, or have something to settle. */
  changed(follower: Follower): void;
}

/** A publication as the history has it: it doesn't say the epoch that clients are told with the first one. */
function asInHistory(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

/** A publication as it is told when it happens: the first one of a stream says the epoch (reference 2.6). */
function asLive(publication: Publication, epoch: string): Publication {
  return publication.offset === 1 ? { ...publication, epoch } : publication;
}
