import type { CursorsOpened, MarksListed, ReceiptTold, UnreadAnswered } from "./cursor-event.ts";
import type { UserSubscription } from "./user-arrivals.ts";
import { UserCursor } from "./user-cursor.ts";

/** What the history says about what the users of one channel have got and read. */
export class CursorChannel {
  readonly name: string;
  readonly opened: CursorsOpened;
  readonly #users = new Map<string, UserCursor>();
  /** The subscriptions that last, by client. */
  readonly subscriptions = new Map<string, UserSubscription>();
  /** The users who published values. */
  readonly publishers = new Map<string, string>();
  /** Since when users certainly are members of the audience, µs. */
  readonly members = new Map<string, number>();
  /** Those who may be members: they have subscribed, or a backend has named them. */
  readonly mayBeMembers = new Set<string>();
  /** The answers whose count is judged when all positions are known, and whether everything had settled by then. */
  readonly counts: { readonly answer: UnreadAnswered; readonly isSettled: boolean }[] = [];
  /** The clients that have followed the channel's receipts, and want to. */
  readonly followers = new Map<string, ReceiptsFollower>();
  /** What all users have read in the end; undefined if nobody has asked. */
  listed: MarksListed | undefined;
  /** The users whom a backend has had forgotten. */
  readonly forgotten = new Set<string>();

  constructor(opened: CursorsOpened) {
    this.name = opened.channel;
    this.opened = opened;
  }

  get users(): Iterable<UserCursor> {
    return this.#users.values();
  }

  /** The record of a user in an epoch; creates it if there is none. */
  user(user: string, epoch: string): UserCursor {
    const key = `${epoch} ${user}`;
    const known = this.#users.get(key);
    if (known !== undefined) return known;
    const made = new UserCursor(user, epoch);
    this.#users.set(key, made);
    return made;
  }

  /** A client of a user was subscribed. */
  begin(process: string, user: string): void {
    this.subscriptions.set(process, { user, pongs: [] });
    if (this.opened.audience === "subscribed") this.mayBeMembers.add(user);
  }
}

/** A client that follows the receipts of a channel. */
export interface ReceiptsFollower {
  /** Whether its subscription lasts. */
  isFollowing: boolean;
  /** What it shows, by user. */
  readonly shown: Map<string, ReceiptTold>;
}
