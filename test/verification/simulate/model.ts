import type { HistoryQuery, PublicationRequest } from "../../../src/contract/channel-call.ts";
import type { SubscribeOptions } from "../../../src/channel/channel-outcomes.ts";
import type { ChannelOptions } from "../../../src/config/config.ts";
import { limits } from "../../../src/limits.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { Kept, Key, ModelAnswer, ModelState, Stream } from "./model-state.ts";

/**
 * The reference model of one channel: a list of publications, a map of keys, and the rules of src/SPEC.md, without
 * storage or optimizations.
 */
export class Model {
  state: ModelState = { stream: undefined, keys: new Map() };
  readonly #options: ModelOptions;
  readonly #recoveryLimit: number;
  readonly #newEpoch: () => string;

  constructor(options: ModelOptions, recoveryLimit: number, newEpoch: () => string) {
    this.#options = options;
    this.#recoveryLimit = recoveryLimit;
    this.#newEpoch = newEpoch;
  }

  get hasHistory(): boolean {
    return this.#options.historySize > 0 && this.#options.historyTtlMs > 0;
  }

  /** The top of the stream; creates an epoch if there is none. */
  position(nowMs: number): ModelAnswer {
    if (!this.hasHistory) return { outcome: "none" };
    return { outcome: "position", position: positionOf(this.#open(nowMs)) };
  }

  /** @param publisher the user whose client publishes; undefined for a backend */
  publish(request: PublicationRequest, publisher: string | undefined, nowMs: number): ModelAnswer {
    const { idempotencyKey: key, skipHistory, data, version, versionEpoch } = request;
    const first = this.firstResult(key, nowMs);
    if (first !== undefined) return { outcome: "suppressed", ...first };
    if (!this.hasHistory || skipHistory) {
      if (key !== "") this.#note(key, { timeMs: nowMs });
      return { outcome: "published" };
    }
    const stream = this.#open(nowMs);
    const isOld = versionEpoch === stream.versionEpoch && version <= stream.version;
    if (version > 0n && isOld) return { outcome: "suppressed", position: positionOf(stream) };
    const newVersion = version > 0n ? { version, versionEpoch } : {};
    const appended = publisher === undefined ? { data } : { data, publisher };
    return { outcome: "published", position: this.append(appended, key, nowMs, newVersion) };
  }

  /** The first result of a publish with this idempotency key; undefined if the key is new, or "". */
  firstResult(key: string, nowMs: number): { readonly position?: StreamPosition } | undefined {
    const known = this.state.keys.get(key);
    if (key === "" || known === undefined || !this.#remembers(known, nowMs)) return undefined;
    const { timeMs: _, ...first } = known;
    return first;
  }

  /** Appends a publication to the stream. */
  append(
    publication: Omit<Kept, "offset">,
    idempotencyKey: string,
    nowMs: number,
    version: Partial<Pick<Stream, "version" | "versionEpoch">> = {},
  ): StreamPosition {
    const stream = this.#open(nowMs);
    const offset = stream.top + 1;
    const kept = [...this.#readable(stream, nowMs), { ...publication, offset }];
    const next: Stream = {
      ...stream,
      top: offset,
      publications: kept.slice(-this.#options.historySize),
      timeMs: Math.max(stream.timeMs, nowMs),
      ...version,
    };
    this.state = { ...this.state, stream: next };
    const position = positionOf(next);
    if (idempotencyKey !== "") this.#note(idempotencyKey, { timeMs: nowMs, position });
    return position;
  }

  history({ since, limit, reverse }: HistoryQuery, nowMs: number): ModelAnswer {
    if (!this.hasHistory) return { outcome: "not-available" };
    const stream = this.#open(nowMs);
    if (isElsewhere(since, stream)) return { outcome: "unrecoverable-position" };
    const ordered = this.#readable(stream, nowMs).slice();
    if (reverse) ordered.reverse();
    const wanted = ordered.filter(
      ({ offset }) =>
        since === undefined || (reverse ? offset < since.offset : offset > since.offset),
    );
    const publications = limit < 0 ? wanted : wanted.slice(0, limit);
    return { outcome: "history", position: positionOf(stream), publications };
  }

  removeHistory(nowMs: number): ModelAnswer {
    if (!this.hasHistory) return { outcome: "not-available" };
    const { stream } = this.state;
    if (stream !== undefined) {
      const timeMs = Math.max(stream.timeMs, nowMs);
      this.state = { ...this.state, stream: { ...stream, publications: [], timeMs } };
    }
    return { outcome: "removed" };
  }

  /** The publications that can be read. */
  kept(nowMs: number): readonly Kept[] {
    const { stream } = this.state;
    return stream === undefined ? [] : this.#readable(stream, nowMs);
  }

  /** @param whole whether a gateway reads, which gets everything in pages */
  recover(
    since: StreamPosition,
    mode: SubscribeOptions["mode"],
    whole: boolean,
    nowMs: number,
  ): ModelAnswer {
    if (!this.hasHistory) return { outcome: "none" };
    const stream = this.#open(nowMs);
    const position = positionOf(stream);
    const readable = this.#readable(stream, nowMs);
    if (mode === "cache") {
      // Who has the newest publication has missed nothing, whether it can still be read or not (rule R6).
      if (stream.top > 0 && since.epoch === stream.epoch && since.offset === stream.top)
        return { outcome: "recovered", position, publications: [] };
      const newest = readable.at(-1);
      if (newest === undefined) return { outcome: "unrecoverable", position };
      return { outcome: "recovered", position, publications: [newest] };
    }
    const missed = readable.filter(({ offset }) => offset > since.offset);
    const isComplete = missed.length === stream.top - since.offset;
    const isTooMuch = !whole && missed.length >= this.#recoveryLimit;
    return isElsewhere(since, stream) || !isComplete || isTooMuch
      ? { outcome: "unrecoverable", position }
      : { outcome: "recovered", position, publications: missed };
  }

  /** Deletes a stream that has ended. The channel has no subscribers. */
  forget(nowMs: number): boolean {
    const { stream } = this.state;
    if (stream === undefined || nowMs < stream.timeMs + this.#options.historyMetaTtlMs)
      return false;
    this.state = { ...this.state, stream: undefined, checkpoint: undefined };
    return true;
  }

  #open(nowMs: number): Stream {
    const fresh = { top: 0, publications: [], timeMs: nowMs, version: 0n, versionEpoch: "" };
    const stream = this.state.stream ?? { epoch: this.#newEpoch(), ...fresh };
    this.state = { ...this.state, stream };
    return stream;
  }

  #readable({ publications, timeMs }: Stream, nowMs: number): readonly Kept[] {
    return nowMs >= timeMs + this.#options.historyTtlMs ? [] : publications;
  }

  #remembers({ timeMs, position }: Key, nowMs: number): boolean {
    const { stream } = this.state;
    const isReadable =
      stream !== undefined &&
      position?.epoch === stream.epoch &&
      this.#readable(stream, nowMs).some(({ offset }) => offset === position.offset);
    return isReadable || nowMs < timeMs + limits.idempotencyMs;
  }

  #note(key: string, entry: Key): void {
    this.state = { ...this.state, keys: new Map(this.state.keys).set(key, entry) };
  }
}

/** How the stream of a channel is kept. */
type ModelOptions = Pick<ChannelOptions, "historySize" | "historyTtlMs" | "historyMetaTtlMs">;

function positionOf({ epoch, top }: Stream): StreamPosition {
  return { epoch, offset: top };
}

function isElsewhere(since: StreamPosition | undefined, { epoch }: Stream): boolean {
  return since !== undefined && since.epoch !== "" && since.epoch !== epoch;
}
