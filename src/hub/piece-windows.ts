import type { Piece } from "../protocol/piece.ts";
import type { Publication } from "../protocol/publication.ts";
import type { PublicationPush, Subscriber } from "./subscriber.ts";

/**
 * The windows of one hub: the keys of which subscribers were told pieces since the key's last publication, which made the
 * value before them durable (rule Z39). A subscriber that comes within a window has the value without the pieces: it is told
 * none of them, and gets them with the publication that ends the window. Where pieces are missing, nobody is told the rest,
 * and the publication goes to all in full. So a delta fits the value that its subscriber has, or isn't sent.
 */
export class PieceWindows {
  readonly #open = new Map<string, PieceWindow>();

  /** Takes a piece. @returns those who came late for it; undefined if nobody can be told it */
  take({ key, number }: Piece): ReadonlySet<Subscriber> | undefined {
    let window = number === 1 ? undefined : this.#open.get(key);
    if (window === undefined) {
      window = new PieceWindow();
      this.#open.set(key, window);
    }
    return window.take(number) ? window.late : undefined;
  }

  /**
   * Ends the window of the key that a publication changes.
   *
   * @returns the publication, in full if its subscribers may not have what its delta is made from, with those who
   *          came late for the pieces that it makes durable
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
    return { publication, late: window.late };
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
  /** Those who came within the window, and are told none of its pieces. */
  readonly late = new Set<Subscriber>();
  #pieces = 0;
  #isBroken = false;

  /** @returns whether all pieces before it came, too */
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
type Told = Pick<PublicationPush, "publication" | "late">;

function inFull(publication: Publication): Publication {
  const { before: _, grown: __, ...rest } = publication;
  return rest;
}
