import type { Random } from "../../../support/random.ts";
import { type FaultKind, isOutage } from "./fault-kind.ts";

/**
 * The times of faults: each kind at random moments at its own rate, the same ones for the same seed. The kinds don't
 * depend on each other, so leaving one out doesn't move the others. Faults that end all connections come in storms with
 * calm between them, because slow failures and repairs need connections that last.
 */
export class FaultSchedule {
  readonly #next: { readonly kind: FaultKind; readonly meanMs: number; atMs: number }[];
  readonly #randoms: ReadonlyMap<FaultKind, Random>;

  /**
   * @param rates per minute
   * @param randomOf gives each kind its own generator
   */
  constructor(rates: ReadonlyMap<FaultKind, number>, randomOf: (kind: FaultKind) => Random) {
    this.#randoms = new Map([...rates.keys()].map((kind) => [kind, randomOf(kind)]));
    this.#next = [...rates].map(([kind, perMinute]) => {
      const meanMs = (60_000 / perMinute) * (isOutage(kind) ? stormMs / periodMs : 1);
      return { kind, meanMs, atMs: this.#gapMs(kind, meanMs) };
    });
  }

  /**
   * Takes the next fault.
   *
   * @returns its kind and when it is due, ms since the beginning; undefined when no kind is made
   */
  next(): { readonly kind: FaultKind; readonly atMs: number } | undefined {
    const [first, ...others] = this.#next;
    if (first === undefined) return undefined;
    const earliest = others.reduce(
      (soonest, each) => (dueMs(each) < dueMs(soonest) ? each : soonest),
      first,
    );
    const due = { kind: earliest.kind, atMs: dueMs(earliest) };
    earliest.atMs += this.#gapMs(earliest.kind, earliest.meanMs);
    return due;
  }

  /** Exponential, as between independent events; never so long that a kind is missing for minutes. */
  #gapMs(kind: FaultKind, meanMs: number): number {
    const random = this.#randoms.get(kind);
    if (random === undefined) throw new Error(`no rate was given for ${kind}`);
    return Math.min(-Math.log(1 - random.next()), 3) * meanMs;
  }
}

/** The clock of outages advances during storms only. */
function dueMs({ kind, atMs }: { readonly kind: FaultKind; readonly atMs: number }): number {
  return isOutage(kind) ? Math.floor(atMs / stormMs) * periodMs + (atMs % stormMs) : atMs;
}

/** Each period begins with a storm. */
const periodMs = 45_000;
const stormMs = 20_000;
