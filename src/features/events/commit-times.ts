import { eventLimits } from "./limits.ts";

/**
 * When the publications of an object were durable (rule E12), for the events that report them: an event's row is
 * written before the time is known. The times are kept in memory only; the oldest make room beyond
 * `limits.eventsCommitTimesMax`.
 */
export class CommitTimes {
  readonly #rounds: CommittedRound[] = [];
  /** The numbers of the first and the last event whose commit is under way; undefined without one. */
  #open: { readonly first: number; last: number } | undefined;

  /** The event with this number is written, and {@link committed} will be called. */
  written(number: number): void {
    if (this.#open === undefined) this.#open = { first: number, last: number };
    else this.#open.last = number;
  }

  /** Everything that was written is durable. */
  committed(atMs: number): void {
    if (this.#open === undefined) return;
    this.#rounds.push({ ...this.#open, atMs });
    this.#open = undefined;
    if (this.#rounds.length > eventLimits.eventsCommitTimesMax) this.#rounds.shift();
  }

  /** The number of the first event whose commit is under way; undefined without one. */
  get firstOpen(): number | undefined {
    return this.#open?.first;
  }

  /** When an event was durable, ms since 1970; undefined if that isn't known. */
  of(number: number): number | undefined {
    const round = this.#rounds.findLast(({ first }) => first <= number);
    return round !== undefined && number <= round.last ? round.atMs : undefined;
  }
}

/** Events that shared a commit. */
interface CommittedRound {
  readonly first: number;
  readonly last: number;
  readonly atMs: number;
}
