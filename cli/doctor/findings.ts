/** What the doctor found: measurements, and checks with their verdicts. */

/** A series of times. */
export interface Measurement {
  readonly name: string;
  readonly samplesMs: readonly number[];
  /** Samples that never came. */
  readonly lost: number;
  /** What is to be known of it, such as places; "" for nothing. */
  readonly detail: string;
}

/** A check. */
export type Finding =
  | { readonly verdict: "good" | "note"; readonly name: string; readonly text: string }
  /** `mend` is the line that mends it. */
  | {
      readonly verdict: "wrong";
      readonly name: string;
      readonly text: string;
      readonly mend: string;
    }
  /** What the server doesn't allow, or what wasn't asked for. */
  | { readonly verdict: "skipped"; readonly name: string; readonly text: string };

/** It is as it should be. */
export function good(name: string, text: string): Finding {
  return { verdict: "good", name, text };
}

/** It may be meant. */
export function note(name: string, text: string): Finding {
  return { verdict: "note", name, text };
}

/** It isn't as it should be. */
export function wrong(name: string, text: string, mend: string): Finding {
  return { verdict: "wrong", name, text, mend };
}

/** It wasn't looked at. */
export function skipped(name: string, text: string): Finding {
  return { verdict: "skipped", name, text };
}

/** The middle and the worst of some times, in ms; undefined if there are none. */
export function spreadOf(
  samplesMs: readonly number[],
): { readonly medianMs: number; readonly worstMs: number } | undefined {
  const sorted = samplesMs.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const worstMs = sorted.at(-1);
  if (low === undefined || high === undefined || worstMs === undefined) return undefined;
  return { medianMs: (low + high) / 2, worstMs };
}
