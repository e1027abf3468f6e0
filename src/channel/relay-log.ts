import { limits } from "../limits.ts";
import type { PublicationColumns } from "../protocol/publication-columns.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { Erased } from "../contract/erased.ts";
import { type RelayEntry, entryBytes, withoutErased } from "../contract/relay-batch.ts";

/**
 * The numbered entries of one instance, from the first entry that some gateway hasn't taken. Beyond
 * `limits.relayLogEntriesMax` or `limits.relayLogBytesMax` the oldest entries are dropped (rule L2): a gateway that is
 * so far behind reads the history instead.
 */
export class RelayLog {
  readonly #logged = new Map<number, LoggedEntry>();
  #first = 1;
  #last = 0;
  /** Of all entries since the first one. */
  #bytesSoFar = 0;

  /** The number of the oldest entry that is kept, or of the next entry if none is. */
  get first(): number {
    return this.#first;
  }

  /** The number of the newest entry; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /**
   * Numbers an entry and keeps it.
   *
   * @param top the top after the entry; undefined on a channel without history
   */
  append(entry: RelayEntry, top: StreamPosition | undefined): void {
    const bytes = entryBytes(entry);
    this.#logged.set(++this.#last, { entry, bytes, bytesBefore: this.#bytesSoFar, top });
    this.#bytesSoFar += bytes;
    while (
      this.#logged.size > limits.relayLogEntriesMax ||
      this.bytesFrom(this.#first) > limits.relayLogBytesMax
    ) {
      this.#dropFirst();
    }
  }

  /** Numbers an entry that no gateway needs. Call this only while no gateway waits for an earlier entry. */
  skip(): void {
    this.dropBefore(++this.#last + 1);
  }

  /** Drops the entries before this number: all gateways have taken them. */
  dropBefore(number: number): void {
    while (this.#first < number) this.#dropFirst();
  }

  /** Gives the publication at an offset other contents, if it waits here. Its entry keeps the bytes that it was counted with. */
  amend(offset: number, contents: PublicationColumns): void {
    for (const [number, logged] of this.#logged) {
      if (logged.entry.type !== "publication") continue;
      const { offset: own, epoch, except } = logged.entry.publication;
      if (own !== offset) continue;
      const kept = {
        ...(epoch !== undefined && { epoch }),
        ...(except !== undefined && { except }),
      };
      const entry = { type: "publication", publication: { offset, ...contents, ...kept } } as const;
      this.#logged.set(number, { ...logged, entry });
    }
  }

  /** Blanks publications that are erased. Their entries keep the bytes that they were counted with. */
  erase(erased: Erased): void {
    for (const [number, logged] of this.#logged) {
      const entry = withoutErased(logged.entry, erased);
      if (entry !== logged.entry) this.#logged.set(number, { ...logged, entry });
    }
  }

  /** The bytes of the entries from this number on; of all that are kept, if it was dropped. */
  bytesFrom(number: number): number {
    const oldest = this.#logged.get(Math.max(number, this.#first));
    return oldest === undefined ? 0 : this.#bytesSoFar - oldest.bytesBefore;
  }

  /** As many entries from this number on as one call carries. A single larger entry is sent alone. */
  slice(from: number): LogSlice {
    const entries: RelayEntry[] = [];
    let bytes = 0;
    let top: StreamPosition | undefined;
    for (let number = from; number <= this.#last; number++) {
      const logged = this.#logged.get(number);
      if (logged === undefined) break;
      bytes += logged.bytes;
      const full = entries.length === limits.relayBatchEntriesMax;
      if (full || (entries.length > 0 && bytes > limits.relayBatchBytesMax)) {
        return { entries, whole: false, top };
      }
      entries.push(logged.entry);
      ({ top } = logged);
    }
    return { entries, whole: true, top };
  }

  #dropFirst(): void {
    this.#logged.delete(this.#first);
    this.#first++;
  }
}

/** The entries for one batch. */
export interface LogSlice {
  readonly entries: readonly RelayEntry[];
  /** Whether no entry comes after these. */
  readonly whole: boolean;
  /** The top after the last of them; undefined on a channel without history, and if there are no entries. */
  readonly top: StreamPosition | undefined;
}

interface LoggedEntry {
  readonly entry: RelayEntry;
  readonly bytes: number;
  /** Of all entries before it. */
  readonly bytesBefore: number;
  /** The top after the entry; undefined on a channel without history. */
  readonly top: StreamPosition | undefined;
}
