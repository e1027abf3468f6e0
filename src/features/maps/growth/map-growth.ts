import type { HistoryEntry } from "../../../channel/history-table.ts";
import type { FirstResult } from "../../../channel/idempotency.ts";
import type { Changer } from "../../../channel/publication-request.ts";
import type { Rate } from "../../../config/rate-limit.ts";
import { dueMoment } from "../../../moment.ts";
import { type ErrorCode, errorCodes } from "../../../protocol/codes.ts";
import type { Piece } from "../../../protocol/piece.ts";
import type { StreamPosition } from "../../../protocol/publication.ts";
import { TokenBucket } from "../../../session/token-bucket.ts";
import type { AppendSuppression, MapAppendRequest } from "../map-call.ts";
import type { ChangeFailure } from "../map-outcomes.ts";
import type { KnownKey, MapEntry } from "../map-state.ts";
import { GrowingValue } from "./growing-value.ts";
import { growthLimits } from "./limits.ts";
import type { WindowMark } from "./window-mark.ts";

/**
 * The values of a map that grow (rules Z38 to Z44). The first piece of a key is a change like any other, and begins a window.
 * Pieces that come within it are told to subscribers with deltas at once, and are kept in memory; one change at the end of the
 * window makes them durable, and begins the next window. A window without a piece is the last one.
 */
export class MapGrowth {
  readonly #map: GrowingMap;
  readonly #windowMs: number;
  readonly #windowMsMax: number;
  /** When what was written without a window would be over at the rate of `writtenBytesPerMs`, ms since 1970. */
  #writtenUntilMs = 0;
  readonly #mark: WindowMark | undefined;
  /** The key that grew longest ago comes first. */
  readonly #keys = new Map<string, GrowingKey>();
  #bytes = 0;
  readonly #rate = new TokenBucket(mapRate);

  /**
   * @param windowMs how long pieces may wait to be durable; 0: they don't
   * @param keyTtlMs how long a key lives, in ms, which is longer than any window; 0: for ever
   * @param mark     undefined for an ephemeral map, whose subscribers are told no piece before it is in the state
   */
  constructor(map: GrowingMap, windowMs: number, keyTtlMs: number, mark: WindowMark | undefined) {
    this.#map = map;
    this.#windowMs = windowMs;
    const { appendWindowMsMax } = growthLimits;
    this.#windowMsMax =
      keyTtlMs > 0 ? Math.min(appendWindowMsMax, keyTtlMs / 2) : appendWindowMsMax;
    this.#mark = mark;
  }

  /** Whether subscribers may have been told pieces that aren't durable, also by an instance before this one. */
  get isTelling(): boolean {
    return this.#mark?.isOpen === true;
  }

  /** Appends a text to the value of a key (rule Z38). */
  append(request: MapAppendRequest, by: Changer): AppendOutcome {
    const { nowMs } = by;
    const first = this.#map.firstResult(request.idempotencyKey, nowMs);
    const found = this.#find(request, nowMs);
    if (found === "not_text") return { outcome: "not-appended", reason: found, length: 0 };
    const { length } = found.value;
    if (first !== undefined) return { outcome: "not-appended", reason: "idempotency", length };
    const { at, text, final } = request;
    const isThere = found.known !== undefined && at !== undefined && isAt(found.value, at, text);
    if (!isThere && at !== undefined && at !== length)
      return { outcome: "not-appended", reason: "length_mismatch", length };
    const mayEnd = final && !found.isFinal;
    // A text that is there can't close the value where more follows it (rule Z48).
    if (mayEnd && isThere && at + text.length !== length)
      return { outcome: "not-appended", reason: "length_mismatch", length };
    if ((isThere || text === "") && !mayEnd) {
      // The text that is already there may not be durable yet (rule Z40).
      const key = request.idempotencyKey;
      const writes = key !== "" && this.isWaiting(request.key);
      if (writes && !this.#mayWrite(found, nowMs)) return { outcome: "failed", error: tooMuch };
      const failure = writes ? this.makeDurable(request.key, nowMs, key) : undefined;
      if (failure !== undefined) return { outcome: failure };
      return { outcome: "appended", length, position: this.#map.position(nowMs) };
    }
    if (found.isFinal) return { outcome: "not-appended", reason: "final", length };
    const added = isThere ? "" : text;
    const refused = this.#refusal(found, GrowingValue.bytesOf(added), nowMs);
    if (refused !== undefined) return { outcome: "failed", error: refused };
    const mayWait = this.#mayWait(found, request, nowMs);
    if (!mayWait && !this.#mayWrite(found, nowMs)) return { outcome: "failed", error: tooMuch };
    this.#keep(found, nowMs);
    if (mayWait) this.#tell(found, added, by);
    else {
      const failure = this.#write(found, added, request, by);
      if (failure !== undefined) return { outcome: failure };
    }
    const position = this.#map.position(nowMs);
    return { outcome: "appended", length: found.value.length, position };
  }

  /**
   * Another change of the key comes: what was told of it becomes durable, and its growth is over (rule Z43).
   *
   * @returns why that couldn't be done; undefined if it was
   */
  end(key: string, nowMs: number): ChangeFailure | undefined {
    const growing = this.#keys.get(key);
    if (growing === undefined) return undefined;
    const failure = this.makeDurable(key, nowMs);
    if (failure === undefined) this.forget(key);
    return failure;
  }

  /** Whether pieces of the key wait to become durable. */
  isWaiting(key: string): boolean {
    return this.#keys.get(key)?.waiting !== undefined;
  }

  /** Makes the pieces of a key durable. @returns why that couldn't be done; undefined if it was */
  makeDurable(key: string, nowMs: number, idempotencyKey = ""): ChangeFailure | undefined {
    const growing = this.#keys.get(key);
    if (growing?.waiting === undefined) return undefined;
    return this.#write(
      growing,
      "",
      { idempotencyKey, final: false },
      { ...growing.waiting, nowMs },
    );
  }

  /** Ends the windows that are over: those with pieces become durable (rule Z40). */
  endWindows(nowMs: number): void {
    for (const [key, growing] of this.#keys) {
      const { windowEndsMs, windowMs } = growing;
      if (windowEndsMs === undefined) continue;
      const leftMs = windowEndsMs - nowMs;
      // A whole window is left only where the clock was set back, or stands (rule S5).
      if (leftMs > 0 && leftMs < windowMs) continue;
      if (growing.waiting === undefined) growing.windowEndsMs = undefined;
      else if (this.makeDurable(key, nowMs) !== undefined)
        openWindow(growing, growthLimits.windowRetryMs, nowMs);
    }
    this.#closeMark();
  }

  /** In how many ms to call {@link endWindows}; undefined if no window is open. */
  endsInMs(nowMs: number): number | undefined {
    let inMs = Number.POSITIVE_INFINITY;
    for (const { windowEndsMs, windowMs } of this.#keys.values()) {
      if (windowEndsMs === undefined) continue;
      // A clock that was set back makes no window longer.
      inMs = Math.min(inMs, Math.max(0, windowEndsMs - nowMs), windowMs);
    }
    return inMs === Number.POSITIVE_INFINITY ? undefined : inMs;
  }

  /** Forgets what is in memory of a key, whatever of it isn't durable. Its window is over. */
  forget(key: string): void {
    this.#drop(key);
    this.#closeMark();
  }

  #drop(key: string): void {
    const growing = this.#keys.get(key);
    if (growing === undefined) return;
    this.#keys.delete(key);
    this.#bytes -= growing.bytes;
  }

  /** The keys are gone, or their stream has another epoch: what isn't durable is lost, and the subscribers are told. */
  clear(): void {
    this.#keys.clear();
    this.#bytes = 0;
    this.#mark?.close();
  }

  /** The key as it grows, which may have to be read; not_text if there is no text that can grow. */
  #find({ key, field = "" }: MapAppendRequest, nowMs: number): GrowingKey | "not_text" {
    const kept = this.#keys.get(key);
    const isSame = kept?.field === field;
    // Nothing else has changed the key within its window, which is shorter than a key lives.
    if (isSame && kept.windowEndsMs !== undefined) return kept;
    if (!isSame) this.end(key, nowMs);
    const known = this.#map.known(key, nowMs);
    if (isSame && known?.isRemoved === false && known.offset === kept.known?.offset) return kept;
    this.forget(key);
    const entry = known?.isRemoved === false ? this.#map.entry(key) : undefined;
    const value = GrowingValue.of(entry?.data, field);
    if (value === undefined) return "not_text";
    return {
      key,
      field,
      value,
      known: entry,
      before: known,
      isFinal: entry?.isFinal === true,
      isTold: value.isAsTold && entry?.isDiverted === false,
      pieces: 0,
      waiting: undefined,
      windowEndsMs: undefined,
      windowMs: 0,
      appendedMs: nowMs,
      bytes: value.bytes,
      rate: new TokenBucket(keyRate),
    };
  }

  #refusal(growing: GrowingKey, bytes: number, nowMs: number): ErrorCode | undefined {
    if (growing.value.bytes + bytes > growthLimits.grownValueBytesMax) return tooLong;
    if (!growing.rate.hasOne(nowMs) || !this.#rate.hasOne(nowMs)) return tooFast;
    if (!this.#hasRoom(growing, bytes, nowMs)) return tooMany;
    growing.rate.spendIfLeft(nowMs);
    this.#rate.spendIfLeft(nowMs);
    return undefined;
  }

  /** Whether one more key may grow: those that are quiet make room for it (rule Z44). */
  #hasRoom(growing: GrowingKey, added: number, nowMs: number): boolean {
    const isKept = this.#keys.get(growing.key) === growing;
    const bytes = isKept ? added : growing.bytes + added;
    for (const [key, { appendedMs }] of this.#keys) {
      const keys = this.#keys.size + (isKept ? 0 : 1);
      const fits = this.#bytes + bytes <= growthLimits.growingBytesMax;
      if (fits && keys <= growthLimits.growingKeysMax) return true;
      const isQuiet = nowMs - appendedMs >= growthLimits.growingKeyIdleMs;
      if (key === growing.key || !isQuiet || this.end(key, nowMs) !== undefined) return false;
    }
    return true;
  }

  /** Keeps a key in memory, as the one that grew last. */
  #keep(growing: GrowingKey, nowMs: number): void {
    this.#drop(growing.key);
    this.#keys.set(growing.key, growing);
    growing.appendedMs = nowMs;
    this.#bytes += growing.bytes;
  }

  #mayWait(growing: GrowingKey, { final, idempotencyKey }: Written, nowMs: number): boolean {
    if (final || idempotencyKey !== "" || growing.windowEndsMs === undefined) return false;
    return nowMs < growing.windowEndsMs;
  }

  /** Counts a change that can't wait for the end of a window; false if such changes have written too much (rule Z46). */
  #mayWrite({ value }: GrowingKey, nowMs: number): boolean {
    const { writtenBytesPerMs, writtenAheadMs } = growthLimits;
    const fromMs = Math.max(nowMs, dueMoment(this.#writtenUntilMs, writtenAheadMs, nowMs));
    if (fromMs - nowMs > writtenAheadMs) return false;
    this.#writtenUntilMs = fromMs + value.bytes / writtenBytesPerMs;
    return true;
  }

  /**
   * How long the next window of a key lasts, in ms. Its end writes the whole value, and tells it to subscribers without
   * deltas: the longer the values, the seldomer (rule Z46).
   */
  #windowOf({ bytes }: GrowingKey): number {
    const { keyBytesPerMs, mapBytesPerMs } = growthLimits;
    const neededMs = Math.ceil(Math.max(bytes / keyBytesPerMs, this.#bytes / mapBytesPerMs));
    return Math.max(this.#windowMs, Math.min(neededMs, this.#windowMsMax));
  }

  /** Tells a piece before it is durable. */
  #tell(growing: GrowingKey, text: string, { info, apiKey, nowMs }: Changer): void {
    const splice = growing.value.append(text);
    this.#counted(growing);
    growing.waiting = { info, apiKey };
    this.#map.changing(nowMs);
    if (this.#mark === undefined) return;
    this.#mark.open(nowMs);
    growing.pieces++;
    const { key, pieces: number, known } = growing;
    this.#map.tell({ key, number, ...(known && { base: known.offset }), splice });
  }

  /** Makes what a key has grown by durable, with a further text. @returns why that couldn't be done */
  #write(
    growing: GrowingKey,
    text: string,
    { final, idempotencyKey, traceparent }: Written,
    by: Changer,
  ): ChangeFailure | undefined {
    const { value, pieces, known, before, key } = growing;
    const undo = value.save();
    const rest = value.append(text);
    const entry: Omit<MapEntry, "offset"> = {
      key,
      timeMs: by.nowMs,
      isRemoved: false,
      isDiverted: false,
      version: before?.version ?? 0n,
      versionEpoch: before?.versionEpoch ?? "",
      score: known?.score ?? 0,
      data: value.data,
      ...(final ? { isFinal: true } : {}),
      ...(known?.tags === undefined ? {} : { tags: known.tags }),
      ...(by.info === undefined ? {} : { info: by.info }),
    };
    const grown = {
      pieces,
      ...(growing.isTold ? { splice: value.sinceSettled } : {}),
      ...(pieces > 0 ? { rest } : {}),
    };
    const change = { entry, grown, idempotencyKey, ...(traceparent && { traceparent }) };
    const position = this.#map.write(change, growing.before, by);
    if (typeof position === "string") {
      undo();
      return position;
    }
    value.settle();
    this.#counted(growing);
    growing.known = { ...entry, offset: position.offset, data: nothing };
    growing.before = growing.known;
    growing.isTold = true;
    growing.isFinal = final;
    growing.pieces = 0;
    growing.waiting = undefined;
    growing.windowEndsMs = undefined;
    if (!final && this.#windowMs > 0) openWindow(growing, this.#windowOf(growing), by.nowMs);
    if (final) this.#drop(key);
    this.#closeMark();
    return undefined;
  }

  #counted(growing: GrowingKey): void {
    const { bytes } = growing.value;
    this.#bytes += bytes - growing.bytes;
    growing.bytes = bytes;
  }

  /** Takes the mark away if all that was told is durable, and no more is to be expected. */
  #closeMark(): void {
    if (this.#mark?.isOpen !== true) return;
    for (const { windowEndsMs } of this.#keys.values()) if (windowEndsMs !== undefined) return;
    this.#mark.close();
  }
}

/** The map, as its growing values see it. */
export interface GrowingMap {
  /** The first result of a change with this key (rule I1). */
  firstResult(idempotencyKey: string, nowMs: number): FirstResult | undefined;
  /** Finds a key, which is removed first if it has ended. */
  known(key: string, nowMs: number): KnownKey | undefined;
  entry(key: string): MapEntry | undefined;
  /** The top. */
  position(nowMs: number): StreamPosition;
  /** Something is about to be changed, or will be. */
  changing(nowMs: number): void;
  /** Tells subscribers a piece that isn't durable. */
  tell(piece: Piece): void;
  /**
   * Stores a change, and tells it.
   *
   * @param known the key before; undefined if the map doesn't know it
   */
  write(
    change: GrownChange,
    known: KnownKey | undefined,
    by: Changer,
  ): StreamPosition | ChangeFailure;
}

/** A change that makes pieces durable. */
export interface GrownChange extends Pick<HistoryEntry, "idempotencyKey" | "traceparent"> {
  readonly entry: Omit<MapEntry, "offset">;
  readonly grown: NonNullable<HistoryEntry["grown"]>;
}

/** The outcome of {@link MapGrowth.append}. `length` is that of the text, in UTF-16 units. */
export type AppendOutcome =
  /** The text is there. */
  | { readonly outcome: "appended"; readonly length: number; readonly position: StreamPosition }
  | {
      readonly outcome: "not-appended";
      readonly reason: AppendSuppression;
      readonly length: number;
    }
  | { readonly outcome: "failed"; readonly error: ErrorCode }
  | { readonly outcome: ChangeFailure };

/** A key that grows. */
interface GrowingKey {
  readonly key: string;
  /** The member of the value that grows; "" if the value does. */
  readonly field: string;
  readonly value: GrowingValue;
  /** The entry of the key, without its data; undefined if the map hasn't the key. */
  known: MapEntry | undefined;
  /** The same, also if the key was removed. */
  before: KnownKey | undefined;
  isFinal: boolean;
  /** Whether subscribers have the value as it is durable. */
  isTold: boolean;
  /** How many pieces subscribers were told since. */
  pieces: number;
  /** Who appended the last piece that isn't durable; undefined if all are. */
  waiting: Omit<Changer, "nowMs"> | undefined;
  windowEndsMs: number | undefined;
  /** How long the window that is open lasts, or lasted, in ms. */
  windowMs: number;
  appendedMs: number;
  /** As it counts for all. */
  bytes: number;
  readonly rate: TokenBucket;
}

type Written = Pick<MapAppendRequest, "final" | "idempotencyKey" | "traceparent">;

/** Begins a window, after the one before. */
function openWindow(growing: GrowingKey, windowMs: number, nowMs: number): void {
  growing.windowMs = windowMs;
  growing.windowEndsMs = nowMs + windowMs;
}

/** Whether a text is at a place already. No text is at the end only. */
function isAt(value: GrowingValue, at: number, text: string): boolean {
  return text === "" ? at === value.length : value.holds(at, text);
}

const nothing = new Uint8Array(0);

const keyRate: Rate = {
  perSecond: growthLimits.keyAppendsPerSecond,
  burst: growthLimits.keyAppendsBurst,
};
const mapRate: Rate = {
  perSecond: growthLimits.mapAppendsPerSecond,
  burst: growthLimits.mapAppendsBurst,
};

/** The errors of the bounds, each with a word. */
const tooLong = { ...errorCodes.limitExceeded, message: "limit exceeded: value length" };
const tooMany = { ...errorCodes.limitExceeded, message: "limit exceeded: growing keys" };
const tooMuch = { ...errorCodes.tooManyRequests, message: "too many requests: bytes of appends" };
const tooFast = { ...errorCodes.tooManyRequests, message: "too many requests: appends a second" };
