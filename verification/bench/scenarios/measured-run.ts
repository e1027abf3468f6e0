import type { Load } from "../load/load.ts";
import type { Order, Report } from "../load/orders.ts";
import type { SystemOptions, RunningSystem } from "../systems/system.ts";
import type { Caller, SystemName } from "../systems/wire.ts";
import type { Bench } from "./scenario.ts";

/** One system and one load process while something is measured with them. */
export interface MeasuredRun {
  readonly system: SystemName;
  readonly running: RunningSystem;
  readonly load: Load;
}

/**
 * Starts a system and a load process, measures, and ends both whatever comes of it. Both are fresh each time: what one run
 * left on the heap or compiled in haste must not show in the figures of the next.
 */
export async function measuredRun<Result>(
  bench: Bench,
  system: SystemName,
  options: SystemOptions,
  measure: (run: MeasuredRun) => Promise<Result>,
): Promise<Result> {
  const running = await bench.start(system, options);
  try {
    const load = await bench.startLoad();
    try {
      return await measure({ system, running, load });
    } finally {
      await load.close();
    }
  } finally {
    await running.stop();
  }
}

/** What is said of one turn, and what its system is arranged for. */
export interface Turn {
  /** What the turn is part of, such as `wake, round 1 of 3`. */
  readonly during: string;
  /** What is done with each system; said after its name. */
  readonly detail?: string;
  readonly options?: SystemOptions;
}

/** Measures with each of the wanted systems in turn, and says which one is next. */
export async function measureEach(
  bench: Bench,
  systems: readonly SystemName[],
  { during, detail, options = {} }: Turn,
  measure: (run: MeasuredRun) => Promise<void>,
): Promise<void> {
  for (const system of wantedOf(bench, systems)) {
    bench.print(`${during}: ${system}${detail === undefined ? "" : `, ${detail}`}`);
    await measuredRun(bench, system, options, measure);
  }
}

/** Of the systems that a scenario knows how to measure, those that are wanted, in the scenario's order. */
export function wantedOf(bench: Bench, systems: readonly SystemName[]): readonly SystemName[] {
  return systems.filter((system) => bench.systems.includes(system));
}

/** So many subscribers of one channel, without tokens. */
export function subscribersOf(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, () => ({ channel, token: "" }));
}

/** Connects them and resolves when all of them are subscribed; those who are connected already stay. */
export async function connect(run: MeasuredRun, callers: readonly Caller[]): Promise<void> {
  await run.load.carryOut({
    order: "connect",
    system: run.system,
    port: run.running.port,
    callers,
    // Few enough that no system's queue of new connections overflows.
    concurrency: 32,
    missed: 0,
  });
}

/** What is asked of a closed loop besides what is the same everywhere. */
export type ClosedLoop = Pick<
  Extract<Order, { order: "closed-loop" }>,
  "publishers" | "seconds" | "channels" | "batch"
>;

/** Publishes in a closed loop, and resolves when everybody has got everything. */
export async function publishClosedLoop(
  run: MeasuredRun,
  closedLoop: ClosedLoop,
): Promise<Extract<Report, { order: "closed-loop" }>> {
  return run.load.carryOut({ order: "closed-loop", dataBytes, ...closedLoop });
}

/** Of each publication, in all scenarios: about a short chat message. */
export const dataBytes = 128;
