import type { StreamPosition } from "../protocol/publication.ts";
import type { PublicationRequest } from "../contract/channel-call.ts";
import type { Sql } from "../sql.ts";
import type { PublishOutcome } from "./channel-outcomes.ts";
import type { History } from "./history.ts";
import type { HistoryEntry } from "./history-table.ts";
import type { PublicationColumns } from "../protocol/publication-columns.ts";
import type { FirstResult, Idempotency } from "./idempotency.ts";

/**
 * The stored publications of a channel together with their idempotency keys: whatever overwrites or deletes rows
 * retains the young keys of these rows first (rule I2), in the same transaction.
 */
export class PublicationStore {
  readonly #sql: Sql;
  readonly #history: History;
  readonly #idempotency: Idempotency;
  readonly #hasRows: boolean;

  /** @param hasRows whether publications have rows; otherwise they are in memory, and their keys have rows of their own */
  constructor(sql: Sql, history: History, idempotency: Idempotency, hasRows: boolean) {
    this.#sql = sql;
    this.#history = history;
    this.#idempotency = idempotency;
    this.#hasRows = hasRows;
  }

  /** The first result of a publish with this key (rule I1); undefined if the key is new, or "". */
  firstResult(key: string, nowMs: number): FirstResult | undefined {
    if (key === "") return undefined;
    return this.#idempotency.firstResult(key, this.#history.epoch ?? "", nowMs, (offset) =>
      this.#history.isReadable(offset, nowMs),
    );
  }

  /**
   * Why a publish does nothing (rules H9, I1 and Z13); undefined if it makes a publication.
   *
   * @param request of a channel without keys
   */
  suppressionOf(request: PublicationRequest, nowMs: number): Suppression | undefined {
    const first = this.firstResult(request.idempotencyKey, nowMs);
    if (first !== undefined)
      return { counted: "repeated", suppressed: { outcome: "suppressed", ...first } };
    if (!this.#history.enabled || request.skipHistory) return undefined;
    if (request.version > 0n) {
      const { version, versionEpoch } = this.#history.version;
      if (request.versionEpoch === versionEpoch && request.version <= version) {
        const position = this.#history.position(nowMs);
        return { counted: "outdated", suppressed: { outcome: "suppressed", position } };
      }
    }
    if (request.ifOffset === undefined) return undefined;
    const position = this.#history.position(nowMs);
    return position.offset === request.ifOffset
      ? undefined
      : { suppressed: { outcome: "position-mismatch", position } };
  }

  /** Whether so many publications can be made one after the other: none of them would be refused (rule I4). */
  hasRoom(publications: number, nowMs: number): boolean {
    return this.#idempotency.hasRoom(nowMs, publications);
  }

  /**
   * Writes the row of a publication. It takes the place of the oldest row, whose key may have to be retained.
   *
   * @param also writes what belongs to the publication at this offset, in the same transaction
   * @returns undefined if nothing was done, because a key would have no room (rule I4)
   */
  append(
    entry: HistoryEntry,
    nowMs: number,
    also?: (offset: number) => void,
  ): StreamPosition | undefined {
    if (!this.#hasRows) return this.#appendInMemory(entry, nowMs, also);
    const retains = this.#idempotency.holdsYoungKey(this.#history.oldestRow, nowMs);
    if (retains && !this.#idempotency.hasRoom(nowMs)) return undefined;
    const write = (): StreamPosition => {
      this.#idempotency.release(this.#history.oldestRow, this.#history.epoch, nowMs);
      const position = this.#history.append(entry, nowMs);
      also?.(position.offset);
      return position;
    };
    const isAlone = !retains && also === undefined;
    const position = isAlone ? write() : this.#sql.transaction(write);
    if (entry.idempotencyKey !== "") {
      this.#idempotency.addRingKey(entry.idempotencyKey, position.offset, nowMs);
    }
    return position;
  }

  /** Gives the publication at an offset other contents: one row written, or none if it isn't kept any more. */
  amend(offset: number, contents: PublicationColumns): void {
    this.#history.amend(offset, contents);
  }

  /**
   * Erases publications, and appends the one that says so, in one transaction.
   *
   * @param erased the new contents of the rows, by their offsets: two rows written for each
   * @param entry  undefined if nobody could read any of them
   * @returns undefined if there is no entry
   */
  erase(
    erased: ReadonlyMap<number, PublicationColumns>,
    entry: HistoryEntry | undefined,
    nowMs: number,
  ): StreamPosition | undefined {
    return this.#sql.transaction(() => {
      for (const [offset, contents] of erased) this.#history.erase(offset, contents);
      // After that: its row may take the place of one of them.
      return entry && this.append(entry, nowMs);
    });
  }

  /** Overwrites the copies of rows that the storage has left elsewhere: a row written for each publication, at most. */
  rewrite(rowsMax: number, bytesMax: number): void {
    this.#history.rewrite(rowsMax, bytesMax);
  }

  /** To be called once what {@link rewrite} has written is committed. */
  rewritten(): void {
    this.#history.rewritten();
  }

  /** As {@link append}, of a publication without a row: its key outlives the instance in a row of its own (rule I2). */
  #appendInMemory(
    entry: HistoryEntry,
    nowMs: number,
    also?: (offset: number) => void,
  ): StreamPosition | undefined {
    const key = entry.idempotencyKey;
    if (key !== "" && !this.#idempotency.hasRoom(nowMs)) return undefined;
    const position = this.#history.append(entry, nowMs);
    also?.(position.offset);
    if (key !== "") this.#idempotency.retain(key, position, nowMs, nowMs);
    return position;
  }

  /** Deletes the publications and keeps the position (rule H10). */
  remove(nowMs: number): void {
    this.#deleteAll(nowMs, () => this.#history.remove(nowMs));
  }

  /**
   * Deletes the publications and gives the stream another epoch, at the same top.
   *
   * @param also writes what belongs to that, in the same transaction
   */
  renew(nowMs: number, also: () => void): void {
    this.#deleteAll(nowMs, () => {
      this.#history.renew(nowMs);
      also();
    });
  }

  /**
   * Deletes the stream, too: the next one has another epoch.
   *
   * @param also deletes what belongs to the stream, or begins the next one, in the same transaction
   */
  forget(nowMs: number, also?: () => void): void {
    this.#deleteAll(nowMs, () => {
      this.#history.forget();
      also?.();
    });
  }

  #deleteAll(nowMs: number, remove: () => void): void {
    const epoch = this.#history.epoch ?? "";
    this.#sql.transaction(() => {
      this.#idempotency.releaseBelow(Number.POSITIVE_INFINITY, epoch, nowMs);
      remove();
    });
  }
}

/** A publish that does nothing. */
interface Suppression {
  /** The count that it belongs to; absent without any. */
  readonly counted?: "repeated" | "outdated";
  readonly suppressed: PublishOutcome;
}
