import type { EventsConfig, EventType } from "./config.ts";
import type { Erased } from "../../contract/erased.ts";
import { CommitTimes } from "./commit-times.ts";
import { eventLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import type { Sql } from "../../sql.ts";
import { encodeEvent, type ObjectEvent } from "./event.ts";
import { OutboxTable, type StoredEvent } from "./outbox-table.ts";
import { dueMoment } from "../../moment.ts";
import { utf8Length } from "../../protocol/bytes.ts";

/**
 * The events of one object, from when they happen until the backend has taken them (rules E1 to E6, E18). An event is a
 * row of a ring, written in the stretch in which it happens, and numbered. Batches go to the target one after the other,
 * in order, and each is repeated until it is taken. Which number the target has taken is stored in the rows of later
 * events; a row of its own stores it only when nothing waits any more. `EventDelivery` sends the batches.
 */
export class Outbox {
  /** The object's name in its events, such as `channel/news`. */
  readonly object: string;
  readonly #config: OutboxConfig;
  readonly #form: EventForm;
  readonly #table: OutboxTable;
  readonly #isQueue: boolean;
  /** The number of the newest event, and when it happened. Both are 0 before the first. */
  #last = 0;
  #lastMs = 0;
  /** The newest number that was given before all events were deleted; 0 if there is none, and while there are events. */
  #lastBefore = 0;
  /** Called before the oldest events are deleted or overwritten, with the number of the oldest one that stays. */
  beforeDeletion: ((oldest: number) => void) | undefined;
  /** The number of the last event that the target has taken, or of the last one before the object's first. */
  #delivered = 0;
  /** The same as it is stored. */
  #storedDelivered = 0;
  #failures = 0;
  /** When the next batch may go, ms since 1970. */
  #nextAtMs = 0;
  #inFlight: EventBatch | undefined;
  /** Short texts that the row of the newest event has beside the event, by name: what was reported until then. */
  #marks: ReadonlyMap<string, string> = new Map();
  readonly #commits = new CommitTimes();

  /** Also restores an outbox: what the target hasn't been seen to take is sent again. */
  constructor({ sql, object, config, form = ownForm(object), prefix }: OutboxSetup) {
    this.object = object;
    this.#config = config;
    this.#form = form;
    this.#isQueue = config.target.kind === "queue";
    this.#table = new OutboxTable(sql, config.keepMax, prefix);
    const stored = this.#table.load();
    if (stored === undefined) return;
    if (typeof stored === "number") {
      this.#lastBefore = stored;
      return;
    }
    this.#last = stored.last;
    this.#lastMs = stored.lastMs;
    this.#delivered = stored.delivered;
    this.#storedDelivered = stored.delivered;
    this.#failures = stored.failures;
    this.#nextAtMs = stored.retryAtMs;
    this.#marks = stored.marks;
  }

  /** The number of the newest event; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** The number of the object's first event; 0 before it. */
  get first(): number {
    return this.#table.first;
  }

  /** How many events the target hasn't taken, whether they are kept or not. */
  get untaken(): number {
    return this.#last - this.#delivered;
  }

  /** Whether nothing is stored. */
  get storesNothing(): boolean {
    return !this.#table.exists && this.#lastBefore === 0;
  }

  /** What was noted with the newest event by this name; undefined if nothing was. */
  mark(name: string): string | undefined {
    return this.#marks.get(name);
  }

  /** Notes a short text with the events from here on, in the rows that they cost anyway; undefined for nothing. */
  setMark(name: string, value: string | undefined): void {
    const marks = new Map(this.#marks);
    if (value === undefined) marks.delete(name);
    else marks.set(name, value);
    this.#marks = marks;
  }

  /** Adds an event: one row written (rule E1). The owner calls {@link begin} before it ends its own event. */
  append(event: ObjectEvent, nowMs: number): void {
    const dataBytesMax = this.#isQueue
      ? eventLimits.eventsQueueDataBytesMax
      : Number.POSITIVE_INFINITY;
    this.add(event.type, encodeEvent(event, dataBytesMax), nowMs);
  }

  /** The same for an event in another form. @param body its fields as JSON, without the braces */
  add(type: string, body: string, nowMs: number): void {
    if (!this.#table.exists) this.#create(nowMs);
    const bytes = utf8Length(body);
    const oldest = this.#table.oldestWith(bytes, this.#last);
    this.beforeDeletion?.(oldest);
    const isIdle = this.#last === this.#delivered;
    this.#last++;
    // The clock may have been set back, and events expire in order.
    this.#lastMs = Math.max(nowMs, this.#lastMs);
    this.#table.append({
      number: this.#last,
      timeMs: this.#lastMs,
      delivered: this.#delivered,
      marks: this.#marks,
      type,
      body,
      bytes,
      oldest,
    });
    this.#storedDelivered = this.#delivered;
    if (isIdle) this.#nextAtMs = Math.max(this.#nextAtMs, nowMs + eventLimits.eventsFirstWaitMs);
  }

  /**
   * Adds an event of a publication whose row waits for a commit: {@link committed} has to follow. It isn't sent before
   * that, so that it can say when it was durable (rule E12).
   */
  addInCommit(event: ObjectEvent, nowMs: number): void {
    this.append(event, nowMs);
    this.#commits.written(this.#last);
  }

  /**
   * Blanks events of publications that are erased, whether the target has taken them or not: a slice (rule E20).
   *
   * @param from where the slice begins; 0 for the first one
   * @returns where the next one begins; undefined if there is none
   */
  erase(erased: Erased, from: number): number | undefined {
    return this.#table.erase(erased, from);
  }

  /** The publications that were added are durable. */
  committed(nowMs: number): void {
    this.#commits.committed(nowMs);
  }

  /**
   * Begins the next batch, if one is due. Report the answer to {@link answered}, once: until then no other one begins.
   */
  begin(nowMs: number): EventBatch | undefined {
    const dueAtMs = this.dueAtMs(nowMs);
    if (dueAtMs === undefined || dueAtMs > nowMs) return undefined;
    const bytesMax = this.#isQueue
      ? eventLimits.eventsQueueBytesMax
      : eventLimits.eventsBatchBytesMax;
    const bounds = { countMax: this.#config.batchMax, bytesMax, last: this.#sendable };
    const page = this.#page(this.#delivered + 1, bounds, nowMs);
    const texts = this.#texts(page, this.#committedAt);
    if (page.first > this.#delivered + 1)
      texts.unshift(this.#gap(this.#delivered + 1, page.first - 1, nowMs));
    const batch = { last: page.last, body: this.#form.body(texts, page.firstMs) };
    this.#inFlight = batch;
    return batch;
  }

  /** Takes the answer to a batch. @param taken whether the target has taken all of its events */
  answered(batch: EventBatch, taken: boolean, nowMs: number): void {
    if (this.#inFlight !== batch) return;
    this.#inFlight = undefined;
    if (taken) {
      this.#delivered = batch.last;
      this.#failures = 0;
      this.#nextAtMs = nowMs + eventLimits.eventsPauseMs;
      // If events wait, the row of the next event stores the number that was taken.
      if (this.#last === this.#delivered) this.#storeProgress();
      return;
    }
    this.#failures++;
    const pauseMs = this.#pauseMs;
    this.#nextAtMs = nowMs + pauseMs;
    // The object may hibernate in a long pause, and has to go on with the next longer one.
    if (pauseMs >= eventLimits.eventsAlarmMs) this.#storeProgress();
  }

  /**
   * When {@link begin} is to be called next, ms since 1970; undefined while a batch is in flight, and if nothing waits.
   */
  dueAtMs(nowMs: number): number | undefined {
    const waiting = this.#sendable - this.#delivered;
    if (this.#inFlight !== undefined || waiting <= 0) return undefined;
    return this.#failures === 0 && waiting >= this.#config.batchMax
      ? 0
      : dueMoment(this.#nextAtMs, this.#pauseMs, nowMs);
  }

  /** In how many ms a timer has to call {@link begin}; undefined if none has to, because that is done by the alarm. */
  beginInMs(nowMs: number): number | undefined {
    const dueAtMs = this.dueAtMs(nowMs);
    if (dueAtMs === undefined || dueAtMs - nowMs >= eventLimits.eventsAlarmMs) return undefined;
    return Math.max(0, dueAtMs - nowMs);
  }

  /**
   * When an alarm has to wake the object, ms since 1970; Infinity for never. The timer of {@link beginInMs} is due
   * earlier, so the alarm begins a batch only after a crash (rule E4).
   */
  alarmAtMs(nowMs: number): number {
    if (this.#last === this.#delivered) return this.#endsAtMs;
    return Math.max(this.dueAtMs(nowMs) ?? 0, nowMs + eventLimits.eventsAlarmMs);
  }

  /** Deletes everything once it is of no use any more (rule E16). */
  deleteExpired(nowMs: number): void {
    if (nowMs < this.#endsAtMs) return;
    if (this.#table.exists) this.#clear();
    if (nowMs < this.#endsAtMs) return;
    this.#table.drop();
    this.#lastBefore = 0;
  }

  #clear(): void {
    this.#table.clear(this.#last);
    this.#lastBefore = this.#last;
    this.#inFlight = undefined;
    this.#last = 0;
    this.#delivered = 0;
    this.#failures = 0;
    this.#nextAtMs = 0;
    this.#marks = new Map();
  }

  /**
   * The events after a number, oldest first, as many as the limits allow (rule E5).
   *
   * @param since 0 for all that are kept
   */
  after(since: number, limit: number, nowMs: number): readonly string[] {
    const { first } = this.#table;
    if (since >= this.#last) return [];
    const bounds = { countMax: limit, bytesMax: limits.answerBytesMax, last: this.#last };
    const page = this.#page(since + 1, bounds, nowMs);
    // A receiver that asks from 0 gets all events that are kept, without a gap. One whose number lies before the object's
    // first event has missed nothing before that event.
    const missedFrom = since === 0 ? page.first : Math.max(since + 1, first);
    const texts = this.#texts(page);
    return missedFrom < page.first
      ? [this.#gap(missedFrom, page.first - 1, nowMs), ...texts]
      : texts;
  }

  /** The stored events of some types after a number, oldest first. */
  stored(after: number, types: readonly EventType[]): readonly StoredEvent[] {
    if (after >= this.#last) return [];
    return this.#table.read(Math.max(after + 1, this.#table.oldest(this.#last)), this.#last, types);
  }

  /** The first number has to be beyond all numbers that a receiver may remember of the object (rule E15). */
  #create(nowMs: number): void {
    // The clock may have been set back since, or have been slower than the events.
    this.#last = Math.max(nowMs - 1, this.#lastBefore);
    this.#lastBefore = 0;
    this.#table.create(this.#last + 1);
    this.#lastMs = nowMs;
    this.#delivered = this.#last;
    this.#storedDelivered = this.#last;
  }

  /**
   * When the rows are of no use, ms since 1970; Infinity for never. If the target has taken all events, that is when they
   * have been kept for as long as they may be asked for; otherwise after twice that time (rule E16).
   */
  get #endsAtMs(): number {
    if (this.storesNothing || this.#marks.size > 0) return Number.POSITIVE_INFINITY;
    // Only the newest number is stored. The next first number is a time, and so beyond it once the clock is.
    if (!this.#table.exists) return this.#lastBefore + eventLimits.eventsNumberMs;
    const isTaken = this.#last === this.#delivered;
    return this.#lastMs + this.#config.keepMs * (isTaken ? 1 : 2);
  }

  /** Stores how far the target is, unless that is stored: one row written. */
  #storeProgress(): void {
    const delivered = this.#delivered;
    if (this.#failures === 0 && delivered === this.#storedDelivered) return;
    this.#table.storeProgress({ delivered, failures: this.#failures, retryAtMs: this.#nextAtMs });
    this.#storedDelivered = delivered;
  }

  /** The numbers of as many events as fit, from a number on, without those that have expired. */
  #page(from: number, { countMax, bytesMax, last }: EventPageBounds, nowMs: number): EventRange {
    const { keepMs } = this.#config;
    const eachBytes = this.object.length * 3 + commonBytes;
    let first = Math.max(from, this.#table.oldest(this.#last));
    let firstMs = nowMs;
    let bytes = 0;
    for (const { number, timeMs, bytes: bodyBytes } of this.#table.sizes(first, last)) {
      if (timeMs < nowMs - keepMs) {
        first = number + 1;
        continue;
      }
      if (number === first) firstMs = timeMs;
      bytes += bodyBytes + eachBytes;
      const isFull = bytes > bytesMax || number - first >= countMax;
      if (number > first && isFull) return { first, last: number - 1, firstMs };
    }
    return { first, last, firstMs };
  }

  /** The time between the answer to a batch and the next batch, ms. */
  get #pauseMs(): number {
    if (this.#failures === 0) return eventLimits.eventsPauseMs;
    const pauseMs = eventLimits.eventsRetryMs * 2 ** (this.#failures - 1);
    return Math.min(pauseMs, eventLimits.eventsRetryMsMax);
  }

  /** The number of the last event that may be sent. */
  get #sendable(): number {
    const { firstOpen } = this.#commits;
    return firstOpen === undefined ? this.#last : firstOpen - 1;
  }

  /** @param more gives further fields of an event as JSON, each with a comma behind it */
  #texts({ first, last }: Pick<EventRange, "first" | "last">, more = noFields): string[] {
    if (first > last) return [];
    return this.#table.read(first, last).map(({ number, timeMs, body }) => {
      const isFirst = number === this.#table.first ? `"first":true,` : "";
      return `${this.#form.head(number, timeMs)}${isFirst}${more(number, body)}${body}}`;
    });
  }

  /** When a publication was durable. That isn't stored, so only batches have it, and no answers of the API (rule E12). */
  readonly #committedAt = (number: number, body: string): string => {
    // Other events may lie between the publications of a commit.
    if (!body.startsWith(publicationType)) return "";
    const atMs = this.#commits.of(number);
    return atMs === undefined ? "" : `"committed_at":${atMs},`;
  };

  /** The event in place of deleted ones. It has the last of their numbers, so that receivers drop its repetition, too. */
  #gap(from: number, to: number, nowMs: number): string {
    const { head, gap } = this.#form;
    return `${head(to, nowMs)}${gap},"from":${from},"to":${to}}`;
  }
}

/** How events are written for their receiver. */
export interface EventForm {
  /** How an event begins: the brace, and fields that each have a comma behind them. */
  readonly head: (number: number, timeMs: number) => string;
  /** The field that says of an event that it is in place of deleted ones. */
  readonly gap: string;
  /** Writes a batch. @param firstMs when its first event happened, ms since 1970 */
  readonly body: (events: readonly string[], firstMs: number) => string;
}

function ownForm(object: string): EventForm {
  const start = `{"object":${JSON.stringify(object)},`;
  return {
    head: (number, timeMs) => `${start}"number":${number},"time":${timeMs},`,
    gap: '"type":"gap"',
    body: (events) => `{"events":[${events.join(",")}]}`,
  };
}

/** The part of the configuration of events that an outbox needs. */
export interface OutboxConfig extends Pick<EventsConfig, "batchMax" | "keepMs" | "keepMax"> {
  readonly target: Pick<EventsConfig["target"], "kind">;
}

/** The parts of an outbox. */
export interface OutboxSetup {
  readonly sql: Sql;
  readonly object: string;
  readonly config: OutboxConfig;
  /** Absent: the server's own (docs/events.md). */
  readonly form?: EventForm;
  /** Of the tables' names; absent for none. */
  readonly prefix?: string;
}

/** A batch that is to be sent. */
export interface EventBatch {
  /** The number of its last event. */
  readonly last: number;
  /** The JSON that the target is sent. */
  readonly body: string;
}

/** How many events a page may hold, their bytes, and the number of the last one at most. */
interface EventPageBounds {
  readonly countMax: number;
  readonly bytesMax: number;
  readonly last: number;
}

/** Consecutive numbers, both ends included; none if the last is less than the first. */
interface EventRange {
  readonly first: number;
  readonly last: number;
  /** When the first one happened, ms since 1970; now if there is none. */
  readonly firstMs: number;
}

/** The fields that every event has, without the object's name, and the time of a commit. */
const commonBytes = 110;

const noFields = (_number: number, _body: string): string => "";

/** How the stored fields of a publication begin. */
const publicationType = '"type":"publication"';
