import type { Finding } from "./scenario.ts";

/** A finding without the values of the rounds. */
export type Figure = Omit<Finding, "values" | "limitedByLoad">;

/** The result of one round. */
export interface Measured {
  readonly value: number;
  /** The load generator's share of a processor meanwhile, 0 to 1. */
  readonly busy: number;
}

/** Collects the values of all rounds in findings, one value for each round. */
export class Figures {
  readonly #gathered = new Map<string, Gathered>();

  /** @throws if the value is NaN, such as the median of nothing; a finding must not hide that */
  add(figure: Figure, { value, busy }: Measured): void {
    if (!Number.isFinite(value))
      throw new Error(`${figure.system}, ${figure.point}: no ${figure.measure} could be measured`);
    const key = JSON.stringify([figure.measure, figure.system, figure.point]);
    const gathered = this.#gathered.get(key) ?? { figure, values: [], busy: 0 };
    gathered.values.push(value);
    // One round suffices for both: a figure that the load generator may have limited says little about the system.
    gathered.busy = Math.max(gathered.busy, busy);
    this.#gathered.set(key, gathered);
  }

  /** All findings, in the order in which each was first measured. */
  get findings(): readonly Finding[] {
    return [...this.#gathered.values()].map(finding);
  }
}

interface Gathered {
  readonly figure: Figure;
  readonly values: number[];
  busy: number;
}

function finding({ figure, values, busy }: Gathered): Finding {
  return {
    ...figure,
    values,
    ...(busy >= busyShare ? { limitedByLoad: true } : {}),
  };
}

/** From this share of a processor on, the load generator counts as the bottleneck. */
const busyShare = 0.9;

/** The two latencies that most scenarios show: that of half of the events, and that of all but one in a hundred. */
export interface MedianAndTail {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** @param sortedMs ascending; gives NaN for an empty list */
export function medianAndTail(sortedMs: readonly number[]): MedianAndTail {
  return { p50Ms: percentile(sortedMs, 0.5), p99Ms: percentile(sortedMs, 0.99) };
}

/**
 * The value that this share of the values don't exceed.
 *
 * @param sorted ascending; gives NaN for an empty list
 * @param share 0 to 1
 */
export function percentile(sorted: readonly number[], share: number): number {
  const index = Math.ceil(share * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? Number.NaN;
}
