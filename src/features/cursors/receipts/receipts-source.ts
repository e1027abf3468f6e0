import { MirrorLine } from "../../maps/mirror/mirror-line.ts";
import type { StreamPosition } from "../../../protocol/publication.ts";
import type { MarkWatcher } from "../forgetting/kept-users.ts";
import { type MarkTable, type ReadMark, inEpoch, type UserMark } from "../mark-table.ts";
import type { ReceiptKey, ReceiptsAnswer } from "../calls.ts";
import { trustedJsonText } from "../../../protocol/json/text.ts";
import { cursorLimits } from "../limits.ts";

/**
 * The marks that the object of a channel lists and reports to the object of its receipts (rules CU38 and CU39). While nobody
 * looks at the receipts, it keeps nothing in memory.
 */
export class ReceiptsSource implements MarkWatcher {
  /** The changes that haven't been reported to the receipts' object yet. */
  readonly line = new MirrorLine<ReceiptKey>(({ key }) => key);
  readonly #table: MarkTable;
  readonly #topOf: () => StreamPosition;
  /** Undefined before the first list, and after what has made it void. */
  #count: ReceiptsCount | undefined;

  /** @param topOf the channel's position; without a stream its epoch is "" */
  constructor(table: MarkTable, topOf: () => StreamPosition) {
    this.#table = table;
    this.#topOf = topOf;
  }

  /** The edition of the keys that are reported. Before the first list it is "", which no list has. */
  get edition(): string {
    return this.#count?.edition ?? "";
  }

  /** Goes on with a list. @returns the list; undefined if there is more to count */
  list(): Extract<ReceiptsAnswer, { readonly outcome: "listed" }> | undefined {
    const { epoch, offset } = this.#topOf();
    if (this.#count?.epoch !== epoch || this.#count.isTooCoarse)
      this.#count = new ReceiptsCount(this.#table, epoch);
    this.#count.countNext();
    if (!this.#count.isComplete) return undefined;
    return { outcome: "listed", edition: this.#count.edition, keys: this.#count.keys(offset) };
  }

  changed(user: string, before: UserMark | undefined, after: UserMark | undefined): void {
    const { epoch } = this.#topOf();
    const [had, has] = [readOf(before, epoch), readOf(after, epoch)];
    if (had?.read === has?.read && had?.atMs === has?.atMs) return;
    if (!this.line.isHeard) {
      this.#count = undefined;
      return;
    }
    const { edition } = this;
    const keys = this.#count?.note(user, had, has) ?? [];
    if (this.#count?.epoch !== epoch || this.edition !== edition) this.line.renew();
    // A list that isn't complete yet will have it.
    else if (this.#count.isComplete) for (const key of keys) this.line.tell(key);
  }

  /** An event of the object ends, in which the channel may have begun a new epoch (rule CU5). */
  checkEpoch(): void {
    if (!this.line.isHeard) this.#count = undefined;
    if (this.#count === undefined || this.#count.epoch === this.#topOf().epoch) return;
    this.#count = undefined;
    this.line.renew();
  }
}

/** A user's mark in an epoch; undefined if the user has marked nothing there. */
function readOf(mark: UserMark | undefined, epoch: string): ReadMark | undefined {
  const { user, read, readMs = 0 } = (mark && inEpoch(mark, epoch)) ?? {};
  return user === undefined || read === undefined ? undefined : { user, read, atMs: readMs };
}

/**
 * The marks of a channel's users in one epoch, as its receipts show them: a key for each user or, once there are more
 * users than that, a key for each offset with how many have read up to there and no further (rule CU38). It is counted
 * once, in slices of the users' rows in their order, and kept up to date since then.
 */
export class ReceiptsCount {
  readonly epoch: string;
  readonly #table: MarkTable;
  /** The users up to this one are counted; undefined: all are. */
  #after: string | undefined = "";
  /** Undefined once there are too many. */
  #users: Map<string, ReadMark> | undefined = new Map();
  /** How many have read up to an offset and no further. */
  readonly #reads = new Map<number, number>();
  #size = 0;
  /** Counts of this offset and of earlier ones aren't shown. */
  #floor = 0;

  constructor(table: MarkTable, epoch: string) {
    this.#table = table;
    this.epoch = epoch;
  }

  /** Names what the keys are of. */
  get edition(): string {
    return `${this.#users === undefined ? "counts" : "users"} ${this.epoch}`;
  }

  /** Whether everything is counted. */
  get isComplete(): boolean {
    return this.#after === undefined;
  }

  /** Whether there are counts, although there are so few users that each could be shown. */
  get isTooCoarse(): boolean {
    const isCounted = this.isComplete && this.#users === undefined;
    return isCounted && this.#size <= cursorLimits.receiptKeysMax;
  }

  /** Counts the next users. */
  countNext(): void {
    if (this.#after === undefined) return;
    const after = this.#after;
    for (const { read, users } of this.#table.readCounts(after, this.epoch)) this.#add(read, users);
    const most = cursorLimits.receiptKeysMax + 1;
    const page = this.#users && this.#table.page(after, this.epoch, most);
    for (const mark of page ?? []) this.#users?.set(mark.user, mark);
    this.#bound();
    this.#after = this.#table.lastLooked(after);
  }

  /**
   * Everything that is shown.
   *
   * @param top the offset of the newest publication: counts are shown of the newest ones only
   */
  keys(top: number): readonly ReceiptKey[] {
    if (this.#users !== undefined)
      return [...this.#users.values()].map((mark) => this.#userKey(mark.user, mark));
    this.#floor = Math.max(0, top - cursorLimits.receiptKeysMax);
    return [...this.#reads.keys()]
      .filter((read) => read > this.#floor)
      .map((read) => this.#countKey(read));
  }

  /**
   * Takes what a user has read.
   *
   * @param before what the user had read; undefined for nothing
   * @param after  undefined for nothing any more
   * @returns the keys whose values have changed
   */
  note(
    user: string,
    before: ReadMark | undefined,
    after: ReadMark | undefined,
  ): readonly ReceiptKey[] {
    // The row is counted later, as it is then.
    if (this.#after !== undefined && this.#table.isAfter(user, this.#after)) return [];
    if (before !== undefined) this.#add(before.read, -1);
    if (after !== undefined) this.#add(after.read, 1);
    if (this.#users === undefined) {
      const reads = new Set([before?.read, after?.read]);
      return [...reads].flatMap((read) =>
        read === undefined || read <= this.#floor ? [] : [this.#countKey(read)],
      );
    }
    if (after === undefined) this.#users.delete(user);
    else this.#users.set(user, after);
    this.#bound();
    return [this.#userKey(user, after)];
  }

  #add(read: number, users: number): void {
    this.#size += users;
    const now = (this.#reads.get(read) ?? 0) + users;
    if (now > 0) this.#reads.set(read, now);
    else this.#reads.delete(read);
  }

  #bound(): void {
    if (this.#users !== undefined && this.#users.size > cursorLimits.receiptKeysMax)
      this.#users = undefined;
  }

  #userKey(user: string, mark: ReadMark | undefined): ReceiptKey {
    if (mark === undefined) return { key: user };
    const { read, atMs } = mark;
    return { key: user, data: jsonText({ read, at_ms: atMs, epoch: this.epoch }) };
  }

  #countKey(read: number): ReceiptKey {
    const users = this.#reads.get(read);
    const key = String(read);
    return users === undefined
      ? { key }
      : { key, data: jsonText({ read, users, epoch: this.epoch }) };
  }
}

function jsonText(value: object) {
  return trustedJsonText(JSON.stringify(value));
}
