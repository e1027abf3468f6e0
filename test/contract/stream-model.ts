import type { PublicationRequest } from "../../src/contract/channel-call.ts";
import type { PublishOutcome } from "../../src/channel/channel-outcomes.ts";
import type { HistoryOutcome } from "../../src/channel/history.ts";
import { limits } from "../../src/limits.ts";
import type { Publication, StreamPosition } from "../../src/protocol/publication.ts";

/** A stream that deletes nothing: all publications, and the offset from which they are visible. */
interface ModelStream {
  readonly epoch: string;
  readonly publications: Publication[];
  /** The oldest offset that is shown. */
  firstShown: number;
  /** The oldest offset that is still stored. */
  firstStored: number;
  timeMs: number;
  version: bigint;
  versionEpoch: string;
}

interface ModelKey {
  readonly timeMs: number;
  /** Absent for a publication without history, or one whose whole stream was deleted. */
  readonly position?: StreamPosition;
}

/** The expected answers of a channel, computed in the slow and obvious way. */
export class StreamModel {
  readonly #ttlMs: number;
  readonly #metaTtlMs: number;
  #size: number;
  #stream: ModelStream | undefined;
  readonly #keys = new Map<string, ModelKey>();
  #epochs = 0;

  constructor(size: number, ttlMs: number, metaTtlMs: number) {
    this.#size = size;
    this.#ttlMs = ttlMs;
    this.#metaTtlMs = metaTtlMs;
  }

  reopen(size: number): void {
    const stream = this.#stream;
    if (stream !== undefined && size === 0) {
      for (const [key, { timeMs, position: where }] of this.#keys) {
        const stored = where?.epoch === stream.epoch && where.offset >= stream.firstStored;
        if (stored) this.#keys.set(key, { timeMs });
      }
      this.#stream = undefined;
    }
    if (stream !== undefined) keepLast(stream, Math.min(this.#size, size));
    this.#size = size;
  }

  clean(): void {
    // A model has nothing to delete.
  }

  publish(request: PublicationRequest, _info: undefined, nowMs: number): PublishOutcome {
    this.#advance(nowMs);
    const { idempotencyKey, version, versionEpoch, data } = request;
    const before = this.#keys.get(idempotencyKey);
    if (before !== undefined && this.#remembers(before, nowMs)) {
      return { outcome: "suppressed", ...(before.position && { position: before.position }) };
    }
    if (this.#size === 0 || request.skipHistory) {
      if (idempotencyKey !== "") this.#keys.set(idempotencyKey, { timeMs: nowMs });
      return { outcome: "published" };
    }
    const stream = this.#open(nowMs);
    if (version > 0n && versionEpoch === stream.versionEpoch && version <= stream.version) {
      return { outcome: "suppressed", position: position(stream) };
    }
    if (version > 0n) Object.assign(stream, { version, versionEpoch });
    stream.publications.push({ data, offset: stream.publications.length + 1 });
    stream.timeMs = nowMs;
    keepLast(stream, this.#size);
    if (idempotencyKey !== "") {
      this.#keys.set(idempotencyKey, { timeMs: nowMs, position: position(stream) });
    }
    return { outcome: "published", position: position(stream) };
  }

  history(
    query: { readonly since?: StreamPosition; readonly limit: number; readonly reverse: boolean },
    nowMs: number,
  ): HistoryOutcome {
    if (this.#size === 0) return { outcome: "not-available" };
    this.#advance(nowMs);
    const stream = this.#open(nowMs);
    const { since, limit, reverse } = query;
    if (since !== undefined && since.epoch !== "" && since.epoch !== stream.epoch) {
      return { outcome: "unrecoverable-position" };
    }
    const found = stream.publications.filter(({ offset }) => {
      if (offset < firstReadable(stream)) return false;
      if (since === undefined) return true;
      return reverse ? offset < since.offset : offset > since.offset;
    });
    if (reverse) found.reverse();
    const publications = limit < 0 ? found : found.slice(0, limit);
    return { outcome: "history", publications, position: position(stream) };
  }

  removeHistory(nowMs: number): "removed" | "not-available" {
    if (this.#size === 0) return "not-available";
    this.#advance(nowMs);
    if (this.#stream !== undefined) {
      keepLast(this.#stream, 0);
      // A removal extends the life of the position.
      this.#stream.timeMs = nowMs;
    }
    return "removed";
  }

  /** Expires state. */
  #advance(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    if (nowMs >= stream.timeMs + this.#metaTtlMs) this.#stream = undefined;
    if (nowMs >= stream.timeMs + this.#ttlMs) {
      stream.firstShown = stream.publications.length + 1;
    }
  }

  #open(nowMs: number): ModelStream {
    if (this.#stream !== undefined) return this.#stream;
    this.#epochs++;
    this.#stream = {
      epoch: `epoch${this.#epochs}`,
      publications: [],
      firstShown: 1,
      firstStored: 1,
      timeMs: nowMs,
      version: 0n,
      versionEpoch: "",
    };
    return this.#stream;
  }

  #remembers(key: ModelKey, nowMs: number): boolean {
    if (nowMs < key.timeMs + limits.idempotencyMs) return true;
    const stream = this.#stream;
    return (
      key.position !== undefined &&
      key.position.epoch === stream?.epoch &&
      key.position.offset >= firstReadable(stream)
    );
  }
}

/** Stores no more than the newest publications. */
function keepLast(stream: ModelStream, count: number): void {
  stream.firstStored = Math.max(stream.firstStored, stream.publications.length - count + 1);
}

function firstReadable({ firstShown, firstStored }: ModelStream): number {
  return Math.max(firstShown, firstStored);
}

function position({ epoch, publications }: ModelStream): StreamPosition {
  return { epoch, offset: publications.length };
}
