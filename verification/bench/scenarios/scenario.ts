import type { Load } from "../load/load.ts";
import type { SystemOptions, RunningSystem } from "../systems/system.ts";
import type { SystemName } from "../systems/wire.ts";

/** One question that the bench answers. */
export interface Scenario {
  /** As `--only` takes it, such as `fan-out`. */
  readonly name: string;
  /** The question, as a sentence. */
  readonly question: string;
  /** Measures; what it gives is all that is shown of it. Throws when something was lost or a system failed. */
  run(bench: Bench): Promise<readonly Finding[]>;
}

/** What a scenario is given to measure with. */
export interface Bench {
  /** Less of everything, so that all scenarios together take less than a minute; figures are rough then. */
  readonly quick: boolean;
  /** How many times each figure is taken, the systems taking turns. */
  readonly rounds: number;
  /** Only these systems are wanted; a scenario leaves the others out. */
  readonly systems: readonly SystemName[];
  start(system: SystemName, options: SystemOptions): Promise<RunningSystem>;
  /** A process of its own that connects, publishes and counts; the caller closes it. */
  startLoad(): Promise<Load>;
  /** Tells whoever waits what is being done. */
  print(line: string): void;
}

/** One figure of one system, with its value of each round. */
export interface Finding {
  /** What was measured, such as `deliveries a second`; figures of the same measure are comparable. */
  readonly measure: string;
  readonly unit: "per second" | "ms" | "bytes" | "count" | "ratio";
  readonly better: "higher" | "lower";
  readonly system: SystemName;
  /** Under which circumstances, such as `64 publishers`. */
  readonly point: string;
  /** The same as a number, where there is a curve to be drawn over it, and what it counts. */
  readonly at?: { readonly axis: string; readonly value: number };
  /** One a round. */
  readonly values: readonly number[];
  /** The load generator was what limited it. */
  readonly limitedByLoad?: boolean;
}
