import type { EventTaken } from "../history-event.ts";
import type { DeliveredAnswered } from "./cursor-event.ts";
import { Furthest } from "./furthest.ts";
import { UserArrivals } from "./user-arrivals.ts";

/** What the history says about one user in one epoch of a channel. */
export class UserCursor {
  readonly user: string;
  readonly epoch: string;
  readonly arrivals = new UserArrivals();
  /** The furthest that somebody has asked to mark, and that a client of the user has. */
  readonly asked = new Furthest();
  readonly claimed = new Furthest();
  /** The furthest mark of which somebody was told. */
  readonly marked = new Furthest();
  /** What somebody was told to have arrived, and the furthest of that. */
  readonly delivered: DeliveredAnswered[] = [];
  readonly deliveredTo = new Furthest();
  /** What a backend was told that the user hasn't seen, in the order of the events. */
  readonly unseen: EventTaken[] = [];
  /** What of that it wasn't told to have been seen since. */
  outstanding: { readonly from: number; readonly to: number } | undefined;

  constructor(user: string, epoch: string) {
    this.user = user;
    this.epoch = epoch;
  }

  /** Whether a backend was told that the user hasn't seen a publication. */
  isTold(offset: number): boolean {
    return this.unseen.some(({ from = 0, to = 0 }) => from <= offset && offset <= to);
  }
}
