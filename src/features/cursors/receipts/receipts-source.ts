import { MirrorLine } from "../../maps/mirror/mirror-line.ts";
import type { StreamPosition } from "../../../protocol/publication.ts";
import type { MarkWatcher } from "../forgetting/kept-users.ts";
import type { MarkTable, ReadMark } from "../mark-table.ts";
import { inEpoch, type UserMark } from "../user-mark.ts";
import type { ReceiptKey, ReceiptsAnswer } from "./receipts-call.ts";
import { ReceiptsCount } from "./receipts-count.ts";

/**
 * What the object of a channel lists and tells the object of its receipts (rules CU38 and CU39). While nobody looks, it
 * keeps nothing in memory.
 */
export class ReceiptsSource implements MarkWatcher {
  /** The changes that the receipts' object hasn't been told yet. */
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

  /** The edition of the keys that are told. Before the first list it is "", which no list has. */
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
