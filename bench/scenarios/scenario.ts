import type { Load } from "../load/load.ts";
import type { SystemOptions, RunningSystem } from "../systems/system.ts";
import type { SystemName } from "../systems/wire.ts";

/** One question that the bench answers. */
export interface Scenario {
  /** The name for `--only`, such as `fan-out`. */
  readonly name: string;
  /** The question, as a sentence. */
  readonly question: string;
  /** Measures, and gives everything that is shown. Throws when a delivery was lost or a system failed. */
  run(bench: Bench): Promise<readonly Finding[]>;
}

/** The means of measurement that a scenario gets. */
export interface Bench {
  /**
   * Whether to measure less of everything, so that all scenarios together take less than a minute; figures are rough
   * then.
   */
  readonly quick: boolean;
  /** How often each figure is taken; the systems take turns. */
  readonly rounds: number;
  /** The wanted systems; a scenario leaves the others out. */
  readonly systems: readonly SystemName[];
  start(system: SystemName, options: SystemOptions): Promise<RunningSystem>;
  /** Starts a process that connects, publishes and counts; the caller closes it. */
  startLoad(): Promise<Load>;
  /** Prints a line of progress. */
  print(line: string): void;
}

/** One figure of one system, with its value in each round. */
export interface Finding {
  /** The measure, such as `deliveries a second`; figures of the same measure are comparable. */
  readonly measure: string;
  readonly unit: "per second" | "ms" | "bytes" | "count" | "ratio";
  readonly better: "higher" | "lower";
  readonly system: SystemName;
  /** The circumstances, such as `64 publishers`. */
  readonly point: string;
  /** The same as a number and its unit, if a curve is drawn over it. */
  readonly at?: { readonly axis: string; readonly value: number };
  /** One value for each round. */
  readonly values: readonly number[];
  /** Whether the load generator was the bottleneck. */
  readonly limitedByLoad?: boolean;
}
