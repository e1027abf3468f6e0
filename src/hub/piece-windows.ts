import type { Piece } from "../protocol/piece.ts";
import type { Publication } from "../protocol/publication.ts";
import type { ChannelPush, PublicationPush, Subscriber } from "./subscriber.ts";

/**
 * The windows of one hub: the keys whose subscribers have been sent pieces since the key's last publication, which made
 * the value before these pieces durable (rule Z39). A subscriber that comes within a window has the value without the
 * pieces. It is sent none of them, and gets them with the publication that ends the window. If a piece is missing,
 * nobody is sent the later ones, and the publication goes to all in full. A subscriber that came back with a value that
 * may have pieces of a window already is sent none of them, and gets the publication in full. So a delta fits the value
 * that its subscriber has, or isn't sent.
 */
export class PieceWindows {
  readonly #open = new Map<string, PieceWindow>();

  /**
   * Takes a piece.
   *
   * @param restoredAt the offset at which the subscribers were restored after a hibernation: it isn't known which
   *                   pieces they have of windows that were open then
   * @returns the subscribers that came late for it; undefined if it can't be sent to anybody
   */
  take(
    { key, number, base = 0 }: Piece,
    restoredAt: number | undefined,
  ): ReadonlySet<Subscriber> | undefined {
    let window = number === 1 ? undefined : this.#open.get(key);
    if (window === undefined) {
      window = new PieceWindow(base, restoredAt !== undefined && base <= restoredAt);
      this.#open.set(key, window);
    }
    return window.take(number) ? window.late : undefined;
  }

  /**
   * Ends the window of the key that a publication changes.
   *
   * @returns the publication, in full if its subscribers may not have what its delta is made from, with the subscribers
   *          that came late for the pieces that it makes durable
   */
  end(publication: Publication): Told {
    const { key, grown } = publication;
    if (key === undefined || (this.#open.size === 0 && grown === undefined)) return { publication };
    const window = this.#open.get(key);
    this.#open.delete(key);
    const told = grown?.pieces ?? 0;
    if (window === undefined)
      return { publication: told === 0 ? publication : inFull(publication) };
    if (grown === undefined || !window.hasAll(told)) return { publication: inFull(publication) };
    return { publication, late: window.late, base: window.base };
  }

  /** A subscriber comes, with all values as their last publications made them. */
  joined(subscriber: Subscriber): void {
    for (const window of this.#open.values()) window.late.add(subscriber);
  }

  left(subscriber: Subscriber): void {
    for (const window of this.#open.values()) window.late.delete(subscriber);
  }
}

/** The pieces of a key since its last publication. */
class PieceWindow {
  /** The offset of that publication. */
  readonly base: number;
  /** The subscribers that came within the window, and are sent none of its pieces. */
  readonly late = new Set<Subscriber>();
  #pieces = 0;
  #isBroken: boolean;

  constructor(base: number, isBroken: boolean) {
    this.base = base;
    this.#isBroken = isBroken;
  }

  /** @returns whether all earlier pieces came as well */
  take(number: number): boolean {
    this.#isBroken ||= number !== this.#pieces + 1;
    if (!this.#isBroken) this.#pieces++;
    return !this.#isBroken;
  }

  hasAll(pieces: number): boolean {
    return !this.#isBroken && this.#pieces === pieces;
  }
}

/** See {@link PieceWindows.end}. */
type Told = Pick<PublicationPush, "publication" | "late" | "base">;

/** The part of a window that a subscriber has: all pieces that the hub has sent, none, or it isn't known. */
export type Standing = "on time" | "late" | "unknown";

/** What a subscriber has of the window that a push belongs to. */
export function standingOf(subscriber: Subscriber, push: ChannelPush | undefined): Standing {
  if (push === undefined || !("late" in push)) return "on time";
  const base = (push.type === "piece" ? push.piece.base : push.base) ?? 0;
  const { recoveredTo } = subscriber;
  if (recoveredTo !== undefined && base <= recoveredTo) return "unknown";
  return push.late.has(subscriber) ? "late" : "on time";
}

/** The publication in a form that subscribers can read without an earlier value. */
export function inFull(publication: Publication): Publication {
  const { before: _, grown: __, ...rest } = publication;
  return rest;
}
