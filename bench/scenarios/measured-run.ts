import type { Load } from "../load/load.ts";
import type { Order, Report } from "../load/orders.ts";
import { type Server, serverOf } from "../systems/server.ts";
import type { SystemOptions, RunningSystem } from "../systems/system.ts";
import type { Caller, SystemName } from "../systems/wire.ts";
import type { Bench } from "./scenario.ts";

/** One system and one load process during a measurement. */
export interface MeasuredRun {
  readonly system: SystemName;
  readonly running: RunningSystem;
  /** The running system, as the load process reaches it. */
  readonly server: Server;
  readonly load: Load;
}

/**
 * Starts a system and a load process, measures, and ends both in any case. Both are new each time, so that the heap and
 * the compiled code of one run don't affect the next.
 */
export async function measuredRun<Result>(
  bench: Bench,
  system: SystemName,
  options: SystemOptions,
  measure: (run: MeasuredRun) => Promise<Result>,
): Promise<Result> {
  const running = await bench.start(system, options);
  try {
    return await withLoad(bench, (load) =>
      measure({ system, running, server: serverOf(system, running), load }),
    );
  } finally {
    await running.stop();
  }
}

/** Starts a load process, works with it, and ends it in any case. */
export async function withLoad<Result>(
  bench: Bench,
  work: (load: Load) => Promise<Result>,
): Promise<Result> {
  const load = await bench.startLoad();
  try {
    return await work(load);
  } finally {
    await load.close();
  }
}

/** The description of one turn, and the options of its system. */
export interface Turn {
  /** The scenario and the round, such as `wake, round 1 of 3`. */
  readonly during: string;
  /** The measurement, printed after the system's name. */
  readonly detail?: string;
  readonly options?: SystemOptions;
}

/** Measures each of the wanted systems in turn, and prints which one is next. */
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

/** The wanted ones among the systems that a scenario can measure, in the scenario's order. */
export function wantedOf(bench: Bench, systems: readonly SystemName[]): readonly SystemName[] {
  return systems.filter((system) => bench.systems.includes(system));
}

/** The process of a system that the bench has started. */
export function processOf({ system, running }: MeasuredRun): number {
  if (running.processId === undefined) throw new Error(`${system} has no process of this bench`);
  return running.processId;
}

/** So many subscribers of one channel, without tokens. */
export function subscribersOf(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, () => ({ channel, token: "" }));
}

/** Connects callers and resolves when all are subscribed; earlier callers stay. */
export async function connect(run: MeasuredRun, callers: readonly Caller[]): Promise<void> {
  await run.load.carryOut({
    order: "connect",
    server: run.server,
    callers,
    // Low enough that no system's queue of new connections overflows.
    concurrency: 32,
    missed: 0,
  });
}

/** The options of a closed loop that differ between scenarios. */
export type ClosedLoop = Pick<
  Extract<Order, { order: "closed-loop" }>,
  "publishers" | "seconds" | "channels" | "batch" | "keys" | "grow" | "call" | "onlyNewest"
> & {
  /** Absent for {@link dataBytes}. */
  readonly dataBytes?: number;
};

/** Publishes in a closed loop, and resolves when all deliveries have arrived. */
export async function publishClosedLoop(
  run: MeasuredRun,
  closedLoop: ClosedLoop,
): Promise<Extract<Report, { order: "closed-loop" }>> {
  return run.load.carryOut({ order: "closed-loop", dataBytes, ...closedLoop });
}

/** The size of each publication in all scenarios: about a short chat message. */
export const dataBytes = 128;
