import { changeBytes, type KeyChange } from "./poll-batch.ts";
import { pollLimits } from "./limits.ts";
import { dueMoment } from "../../moment.ts";

/**
 * One object whose connections track keys of a channel, as the channel's object sees it: a gateway, or the channel's
 * object itself. It knows which version of each key the watcher has, and keeps the newest value of each key that the
 * watcher hasn't got: a watcher that is slow, or can't be reached, gets fewer of them, and never an older one (rule SP7).
 */
export class Watcher {
  /** The name of the gateway; "" for the channel's object itself. */
  readonly name: string;
  /** The keys that it tracks, each with the version that all of its connections have, or are about to get. */
  readonly has = new Map<string, bigint>();
  /** Whether it has to be called although nothing has changed. */
  mustCall = false;
  /** The number of its newest request to track keys. */
  newestRequest = 0;
  /** The `since` of its last reply; undefined before the first. */
  since: number | undefined;
  /** When it was first seen, or last took the changes of a call, ms since 1970. */
  checkedAtMs: number;
  readonly #pending = new Map<string, KeyChange>();
  /** Those of the pending changes whose data nobody else keeps, and the characters of that data. */
  readonly #loose = new Set<string>();
  #looseLength = 0;
  /** The keys that it has begun to track since the call in flight was made; undefined while there is none. */
  #trackedSince: Set<string> | undefined;
  /** Whether the changes of the call in flight are of an epoch that has ended. */
  #callIsOver = false;
  #failures = 0;
  #retryAtMs = 0;

  constructor(name: string, nowMs: number) {
    this.name = name;
    this.checkedAtMs = nowMs;
  }

  /** Whether it has no keys, and nothing is to be sent to it. */
  get idle(): boolean {
    return this.has.size === 0 && !this.#hasNews;
  }

  /** Whether it is a gateway to which something has to be sent, or is being sent. */
  get isOwed(): boolean {
    return this.name !== "" && (this.#hasNews || this.calling);
  }

  /** Whether a call is in flight. */
  get calling(): boolean {
    return this.#trackedSince !== undefined;
  }

  /** When it is to be called next, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    if (this.calling) return Number.POSITIVE_INFINITY;
    const retryAtMs = dueMoment(this.#retryAtMs, pollLimits.pollCallRetryMsMax, nowMs);
    if (this.#hasNews) return retryAtMs;
    if (this.has.size === 0) return Number.POSITIVE_INFINITY;
    const checkAtMs = this.checkedAtMs + pollLimits.pollCheckMs;
    return Math.max(dueMoment(checkAtMs, pollLimits.pollCheckMs, nowMs), retryAtMs);
  }

  /**
   * Notes that the watcher tracks a key, and has this version of it, or is about to get it. A removal of the key that
   * waits to be sent is dropped: the backend is asked anew.
   */
  track(key: string, version: bigint): void {
    if (this.#pending.get(key)?.removed === true) this.#drop(key);
    this.has.set(key, version);
    this.#trackedSince?.add(key);
  }

  /** Forgets a key. */
  untrack(key: string): void {
    this.has.delete(key);
    this.#drop(key);
  }

  /** Forgets all keys, because their versions count no more. */
  restart(): void {
    this.has.clear();
    this.#clear();
    this.mustCall = true;
    this.#callIsOver = this.calling;
  }

  /**
   * Queues a change to be sent, unless the watcher has it already. If too much waits for the watcher, the change is
   * dropped, and the backend will bring it again.
   *
   * @param isKept whether the channel keeps the change anyway
   */
  tell(change: KeyChange, isKept: boolean): void {
    const { key, removed, version = 0n, data } = change;
    const known = this.has.get(key);
    if (known === undefined || (removed !== true && known >= version)) return;
    this.#drop(key);
    if (!isKept && this.#looseLength + data.length > pollLimits.polledWaitingMax) return;
    if (removed === true) this.has.delete(key);
    else this.has.set(key, version);
    if (!isKept) this.#addLoose(change);
    this.#pending.set(key, change);
  }

  /** All changes to send, for an object that can't fail to take them. */
  takeAll(): readonly KeyChange[] {
    const all = [...this.#pending.values()];
    this.#clear();
    this.mustCall = false;
    return all;
  }

  /** The changes of the next call, which is in flight from here on. */
  begin(): readonly KeyChange[] {
    const taken: KeyChange[] = [];
    let bytes = 0;
    for (const change of this.#pending.values()) {
      bytes += changeBytes(change);
      if (taken.length >= pollLimits.pollBatchChangesMax) break;
      if (taken.length > 0 && bytes > pollLimits.pollBatchBytesMax) break;
      taken.push(change);
    }
    for (const { key } of taken) this.#drop(key);
    this.mustCall = false;
    this.#callIsOver = false;
    this.#trackedSince = new Set();
    return taken;
  }

  /** The call in flight has ended, and the watcher has its changes. @returns the keys that it has tracked meanwhile */
  took(nowMs: number): ReadonlySet<string> {
    const meanwhile = this.#trackedSince ?? new Set();
    this.#trackedSince = undefined;
    this.#failures = 0;
    this.#retryAtMs = 0;
    this.checkedAtMs = nowMs;
    return meanwhile;
  }

  /** The call in flight has failed: its changes are sent again, unless newer ones wait or the epoch has changed. */
  failed(changes: readonly KeyChange[], nowMs: number): void {
    this.#trackedSince = undefined;
    for (const change of this.#callIsOver ? [] : changes) {
      const { key, removed, version } = change;
      // A newer value may wait by now, and a key that was removed may be tracked again.
      const isWanted = removed === true ? !this.has.has(key) : this.has.get(key) === version;
      if (isWanted) this.#pending.set(key, change);
    }
    this.mustCall = true;
    const { pollCallRetryMs, pollCallRetryMsMax } = pollLimits;
    this.#retryAtMs = nowMs + Math.min(pollCallRetryMs * 2 ** this.#failures, pollCallRetryMsMax);
    this.#failures++;
  }

  /** Whether something is to be sent to it. */
  get #hasNews(): boolean {
    return this.mustCall || this.#pending.size > 0;
  }

  #addLoose({ key, data }: KeyChange): void {
    this.#loose.add(key);
    this.#looseLength += data.length;
  }

  /** Drops a change that waits. */
  #drop(key: string): void {
    if (this.#loose.delete(key)) this.#looseLength -= this.#pending.get(key)?.data.length ?? 0;
    this.#pending.delete(key);
  }

  #clear(): void {
    this.#pending.clear();
    this.#loose.clear();
    this.#looseLength = 0;
  }
}
