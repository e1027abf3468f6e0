import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { Piece } from "../protocol/piece.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { Overload } from "./backlog.ts";
import { BatchFrames } from "./batch-frames.ts";
import { FrameOnItsWay } from "./frame-on-its-way.ts";
import { PieceWindows } from "./piece-windows.ts";
import { SmallSet } from "./small-set.ts";
import type { ChannelPush, Subscriber } from "./subscriber.ts";

/**
 * The subscribers of one channel in one object, and the loop that sends to them (rules F1 to F10).
 *
 * Sending a frame takes the runtime about 25 µs for each socket, whatever the frame holds. So a frame to many is sent
 * in slices, with a turn of the event loop after each, and what comes meanwhile is collected and shares the next frame.
 * A subscriber that comes or goes between two slices is caught up alone; nothing is sent to the others because of it.
 *
 * The hub collects in {@link publish} and {@link announce}. Its owner starts the next frame with {@link begin}, and
 * calls {@link sendSlice} in later turns for as long as the hub is {@link sending}.
 */
export class Hub<Local extends Subscriber = Subscriber> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #limits: FanOutLimits;
  readonly #frames: FrameObserver | undefined;
  /** Counts publications that were sent, each subscriber counted; undefined where nobody counts them. */
  readonly #deliveries: { value: number } | undefined;
  readonly #hidesOffsets: boolean;
  readonly #joins: JoinTaker | undefined;
  readonly #subscribers = new SmallSet<Local>();
  /** How many of them are onlookers (rule N26). */
  #onlookers = 0;
  /** The frame that some subscribers have and others haven't yet; undefined while there is none. */
  #frame: FrameOnItsWay<Local> | undefined;
  /** The next frames, the last of which is being collected; undefined while there are none. */
  #batches: BatchFrames[] | undefined;
  /**
   * Subscribers to disconnect as slow; undefined while there is none. It is a set, because the leave of each is
   * announced, and the loop that does so finds the others again.
   */
  #slow: Set<Local> | undefined;
  #cutting = false;
  /** The backlog of all subscribers, as the last frame left it or as it was last counted. */
  #backlogBytes = 0;
  /**
   * Up to which offset those subscribers have everything that were restored after a hibernation: what they have of windows that
   * were open then isn't known (rule Z39). Undefined where none was restored.
   */
  restoredAt: number | undefined;
  /** Undefined until a value grows. */
  #windows: PieceWindows | undefined;
  /** Undefined until the backlog is too large for the first time. */
  #overload: Overload<Local> | undefined;

  constructor(
    channel: string,
    queueMaxBytes: number,
    { fanOut = limits, deliveries, frames, hidesOffsets = false, joins }: HubSetup = {},
  ) {
    this.#channel = channel;
    this.#queueMaxBytes = queueMaxBytes;
    this.#limits = fanOut;
    this.#deliveries = deliveries;
    this.#hidesOffsets = hidesOffsets;
    this.#frames = frames;
    this.#joins = joins?.((type, info) => this.#collect({ type, channel, info }));
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

  /** How many subscribers others may know of: all but onlookers (rule N26). */
  get shownSize(): number {
    return this.#subscribers.size - this.#onlookers;
  }

  /** Whether something is collected for the next frame. */
  get collecting(): boolean {
    return this.#batches !== undefined;
  }

  /** Whether a frame is on its way: {@link sendSlice} has to be called in another turn of the event loop. */
  get sending(): boolean {
    return this.#frame !== undefined;
  }

  /** Whether so much is collected that the publishers have to wait (rule F6). */
  get full(): boolean {
    if (this.#batches === undefined || this.#frame === undefined) return false;
    const { batchesWaitingMax, batchesWaitingBytesMax } = this.#limits;
    if (this.#batches.length > batchesWaitingMax) return true;
    return this.#batches.reduce((sum, { bytes }) => sum + bytes, 0) > batchesWaitingBytesMax;
  }

  /**
   * Whether something is collected behind a frame that takes a while yet: then nothing is sent sooner because it comes
   * sooner (rule F8).
   */
  get sendsLater(): boolean {
    if (this.#batches === undefined || this.#frame === undefined) return false;
    return this.#frame.rest > this.#limits.frameEndSubscribers;
  }

  /** Whether a frame is on its way that takes a while yet, whatever is collected (rule F7). */
  get sendsLong(): boolean {
    return this.#frame !== undefined && this.#frame.rest > this.#limits.longRestSubscribers;
  }

  /** Whether nearly so much is collected that publishers have to wait (rule F11). */
  get isBehind(): boolean {
    return this.#batches !== undefined && this.#batches.length > this.#limits.batchesAheadMax;
  }

  /** The first offset that some subscribers may not have been sent yet; undefined if all have been sent everything. */
  get firstWaitingOffset(): number | undefined {
    const { firstOffset = 0 } = this.#frame?.batch ?? {};
    if (firstOffset > 0) return firstOffset;
    return this.#batches?.find((batch) => batch.firstOffset > 0)?.firstOffset;
  }

  has(subscriber: Local): boolean {
    return this.#subscribers.has(subscriber);
  }

  /** Adds a subscriber, which gets everything that comes later and nothing that came before (rule F5). */
  add(subscriber: Local): void {
    if (subscriber.onlooks === true && !this.has(subscriber)) this.#onlookers++;
    this.#subscribers.add(subscriber);
    this.#windows?.joined(subscriber);
    for (const batch of this.#batches ?? []) batch.skipSoFar(subscriber);
  }

  /**
   * Removes a subscriber, which is sent first what it hasn't been sent yet (rule F5).
   *
   * @returns whether it was there
   */
  remove(subscriber: Local): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    this.catchUp(subscriber);
    this.#windows?.left(subscriber);
    this.#subscribers.delete(subscriber);
    if (subscriber.onlooks === true) this.#onlookers--;
    if (this.#subscribers.size > 0) return true;
    // Nobody else is sent them, but the last subscriber may have been.
    if (this.#frame !== undefined) this.#note(this.#frame.row, this.#frame.batch, true);
    for (const batch of this.#batches ?? []) this.#note(this.#noted(batch), batch, true);
    this.#frame = undefined;
    this.#batches = undefined;
    return true;
  }

  /** Sends one subscriber all that it hasn't been sent yet (rule F5). */
  catchUp(subscriber: Local): void {
    if (this.#frame === undefined && this.#batches === undefined) return;
    if (this.#frame?.take(subscriber) === true) this.#sendTo(subscriber, this.#frame.batch);
    for (const batch of this.#batches ?? []) {
      this.#sendTo(subscriber, batch);
      batch.skipSoFar(subscriber);
    }
    this.#cutSlow();
  }

  /**
   * Removes all subscribers, and notifies each that it has to begin anew: the stream that it follows has ended (rule
   * Z5).
   */
  insufficientState(): void {
    const ended = this.subscribers;
    for (const subscriber of ended) this.remove(subscriber);
    for (const subscriber of ended) subscriber.insufficientState();
  }

  /** Puts a publication into the next frame (rule F3). {@link begin} must follow. */
  publish(publication: Publication): void {
    const shown = this.#hidesOffsets ? withoutPosition(publication) : publication;
    // Pieces that an earlier hub sent count as well: subscribers with deltas may have them.
    if (shown.grown !== undefined) this.#windows ??= new PieceWindows();
    const told = this.#windows?.end(shown) ?? { publication: shown };
    this.#collect({ type: "publication", channel: this.#channel, ...told });
  }

  /** Puts a piece by which a value has grown into the next frame of subscribers with deltas (rule Z39). */
  grow(piece: Piece): void {
    this.#windows ??= new PieceWindows();
    const late = this.#windows.take(piece, this.restoredAt);
    if (late !== undefined) this.#collect({ type: "piece", channel: this.#channel, piece, late });
  }

  /** Puts a join or a leave into the next frame, for the subscribers that get them. {@link begin} must follow. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    if (this.#joins === undefined) this.#collect({ type, channel: this.#channel, info });
    else this.#joins.take(type, info);
  }

  /** Joins and leaves before the next ones may be missing. */
  missedJoins(): void {
    this.#joins?.missed();
  }

  /** Sends everything that was collected to all subscribers, however many they are. */
  flush(): void {
    while (this.#frame !== undefined || this.#startFrame()) this.#send(Infinity, Infinity);
  }

  /**
   * Starts the next frame, unless one is on its way: sends it to all subscribers if they are few, and otherwise to the
   * first slice of them (rule F2).
   */
  begin(): void {
    if (this.#subscribers.size <= this.#limits.immediateSubscribersMax) {
      this.flush();
      return;
    }
    if (this.#frame === undefined && this.#startFrame()) this.sendSlice();
    // The leaves of slow subscribers that were cut just now have a frame of their own, in the next turn.
    if (this.#frame === undefined) this.#startFrame();
  }

  /** Sends the frame that is on its way to the next slice of the subscribers (rule F2). */
  sendSlice(): void {
    this.#send(this.#limits.sliceSubscribersMax, this.#limits.sliceBytesMax);
  }

  /**
   * Notifies all of a user's subscribers that one of them is to be the only one (rule C10). The others disconnect, and
   * so are removed, while the loop runs.
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
    const backlogBytes = Math.max(this.#backlogBytes, this.#frame?.backlogBytes ?? 0);
    if (backlogBytes <= limits.backlogBytesMax) return false;
    const bearable: Local[] = [];
    for (const subscriber of this.subscribers) {
      if (subscriber.backlogBytes() > this.#queueMaxBytes) this.#addSlow(subscriber);
      else bearable.push(subscriber);
    }
    this.#overload ??= new Overload();
    const { bytes, tooMuch, cut } = this.#overload.judge(bearable, nowMs);
    this.#backlogBytes = bytes;
    if (this.#frame !== undefined) this.#frame.backlogBytes = bytes;
    for (const subscriber of cut) this.#addSlow(subscriber);
    this.#cutSlow();
    return tooMuch;
  }

  #collect(push: ChannelPush): void {
    const { first } = this.#subscribers;
    if (first === undefined) return;
    this.#batches ??= [];
    if (this.#batches.at(-1)?.append(push) === "added") return;
    const batch = new BatchFrames(first.codec, this.#hidesOffsets);
    batch.append(push);
    this.#batches.push(batch);
    // Publishers wait before it comes to this (rule F6). Joins and leaves can't wait (rule F10).
    while (this.#batches !== undefined && this.#batches.length > limits.batchesCollectedMax) {
      if (this.#frame !== undefined || this.#startFrame()) this.#send(Infinity, Infinity);
    }
  }

  /** @returns whether there was a next frame */
  #startFrame(): boolean {
    const batch = this.#batches?.shift();
    if (this.#batches?.length === 0) this.#batches = undefined;
    if (batch === undefined) return false;
    this.#frame = new FrameOnItsWay(batch, this.subscribers, this.#noted(batch));
    return true;
  }

  /** Notes a frame that begins. @returns its number there; undefined if it isn't noted */
  #noted(batch: BatchFrames): number | undefined {
    return batch.firstOffset === 0 ? undefined : this.#frames?.begun(this.#channel, batch);
  }

  #note(row: number | undefined, batch: BatchFrames, isOver: boolean): void {
    if (row !== undefined) this.#frames?.sent(row, batch, isOver);
  }

  /**
   * Sends the frame that is on its way to its next subscribers, until a slice is full. Slow subscribers are
   * disconnected after the loop, as each disconnect changes the list and is itself announced.
   */
  #send(subscribersMax: number, bytesMax: number): void {
    const frame = this.#frame;
    if (frame === undefined) return;
    const seenMax = subscribersMax * seenForEachSent;
    let sent = 0;
    let bytes = 0;
    let seen = 0;
    while (sent < subscribersMax && bytes < bytesMax && seen < seenMax) {
      const subscriber = frame.next();
      if (subscriber === undefined) break;
      const sentBytes = this.#sendTo(subscriber, frame.batch);
      seen++;
      if (sentBytes > 0) sent++;
      bytes += sentBytes;
    }
    this.#note(frame.row, frame.batch, frame.isOver);
    if (frame.isOver) {
      this.#backlogBytes = frame.backlogBytes;
      this.#frame = undefined;
    }
    this.#cutSlow();
  }

  /**
   * Sends a subscriber what a batch holds for it, unless the subscriber is slow.
   *
   * @returns the size of the frame; 0 if there was none
   */
  #sendTo(subscriber: Local, batch: BatchFrames): number {
    if (!batch.concerns(subscriber)) return 0;
    // Nearly always there is no onlooker to be asked for.
    const isCounted = this.#onlookers === 0 || subscriber.onlooks !== true;
    const behind = subscriber.backlogBytes();
    if (behind > this.#queueMaxBytes) {
      this.#addSlow(subscriber);
      if (isCounted) batch.slow++;
      return 0;
    }
    const message = batch.frameFor(subscriber);
    const bytes = message?.length ?? 0;
    if (this.#frame === undefined) this.#backlogBytes += bytes;
    else this.#frame.backlogBytes += behind + bytes;
    if (message === undefined) {
      if (isCounted && subscriber.filter !== undefined) batch.leftOut++;
      return 0;
    }
    if (isCounted) {
      batch.sent++;
      if (subscriber.filter !== undefined) batch.filtered++;
      if (this.#deliveries !== undefined)
        this.#deliveries.value += batch.publicationsFor(subscriber);
    }
    subscriber.send(message);
    return bytes;
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

function withoutPosition(publication: Publication): Publication {
  const { epoch: _, ...rest } = publication;
  return { ...rest, offset: 0 };
}

/** The optional parts of a hub. */
export interface HubSetup {
  /** Absent for the usual limits. */
  readonly fanOut?: FanOutLimits;
  /** Where deliveries are counted; absent without `prometheus.enabled`. */
  readonly deliveries?: { value: number };
  /** Observes the frames of all hubs of the object; absent if nothing observes them. */
  readonly frames?: FrameObserver;
  /**
   * Whether subscribers get no offsets, and only the newest of a key's changes that wait together: subscribers of an
   * ephemeral map have no use for more. Absent: they get everything.
   */
  readonly hidesOffsets?: boolean;
  /**
   * Takes the joins and leaves, and sends those that subscribers get, now or later. Absent: they get all.
   *
   * @param send puts one into the next frame; {@link Hub.begin} must follow
   */
  readonly joins?: (send: TakeJoin) => JoinTaker;
}

/** Takes the joins and leaves of a channel. */
export interface JoinTaker {
  readonly take: TakeJoin;
  /** Some before the next ones may be missing: the channel's object began anew, or numbers of entries are missing. */
  readonly missed: () => void;
}

/** Takes a join or a leave. */
export type TakeJoin = (type: "join" | "leave", info: ClientInfo) => void;

/** Observes frames with publications. */
export interface FrameObserver {
  /** A frame begins to be sent. @returns the number under which {@link sent} knows it */
  begun(channel: string, batch: BatchFrames): number;
  /** A frame has been sent to some subscribers more; `isOver`: to all. */
  sent(frame: number, batch: BatchFrames, isOver: boolean): void;
}

/** The limits of the fan-out, as src/limits.ts explains them. The simulator has smaller ones, to reach them. */
export interface FanOutLimits {
  readonly sliceSubscribersMax: number;
  readonly sliceBytesMax: number;
  readonly immediateSubscribersMax: number;
  readonly frameEndSubscribers: number;
  readonly batchesWaitingMax: number;
  readonly batchesWaitingBytesMax: number;
  readonly longRestSubscribers: number;
  readonly batchesAheadMax: number;
  readonly relayAheadEntriesMax: number;
}

/** Looking at a subscriber for which the frame holds nothing takes far less time than sending to it. */
const seenForEachSent = 40;
