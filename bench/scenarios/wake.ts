import { objectSystems } from "./compared-systems.ts";
import { Figures } from "./figures.ts";
import { median } from "./median.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The cost of the first publication after hibernation: the object restores its memory from its sockets. */
export const wake: Scenario = {
  name: "wake",
  question: "How soon does the first publication after sleep reach the first and the last socket?",
  run,
};

interface Extent {
  /** Ascending: sockets that are connected stay. */
  readonly sockets: readonly number[];
  /** How often each system hibernates. */
  readonly wakes: number;
}

const fullExtent: Extent = { sockets: [1, 1_000, 8_000], wakes: 5 };
const quickExtent: Extent = { sockets: [1, 300], wakes: 2 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `wake, round ${round} of ${bench.rounds}`;
    const most = extent.sockets.at(-1) ?? 0;
    const options = { observed: true, socketsPerObject: most };
    const detail = `up to ${most} sockets`;
    await measureEach(bench, objectSystems, { during, detail, options }, (measured) =>
      wakeAll(measured, extent, figures),
    );
  }
  return figures.findings;
}

async function wakeAll(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  let connected = 0;
  for (const sockets of extent.sockets) {
    await connect(measured, subscribersOf(channel, sockets - connected));
    connected = sockets;
    // Unmeasured: the code of the first wake has yet to be compiled.
    await publishOnce(measured, "asleep");
    const asleep = await publishRepeatedly(measured, extent.wakes, "asleep");
    const awake = await publishRepeatedly(measured, extent.wakes, "awake");
    const figure = {
      unit: "ms",
      better: "lower",
      system: measured.system,
      point: sockets === 1 ? "1 socket" : `${sockets.toLocaleString("en-US")} sockets`,
      at: { axis: "sockets", value: sockets },
    } as const;
    figures.add({ measure: "first delivery after sleep", ...figure }, asleep.first);
    figures.add({ measure: "last delivery after sleep", ...figure }, asleep.last);
    // For comparison, so that the cost of waking can be told from the cost of sending.
    figures.add({ measure: "last delivery awake", ...figure }, awake.last);
  }
}

async function publishRepeatedly(measured: MeasuredRun, times: number, state: "asleep" | "awake") {
  const firstMs: number[] = [];
  const lastMs: number[] = [];
  let busy = 0;
  for (let time = 0; time < times; time++) {
    const report = await publishOnce(measured, state);
    firstMs.push(report.firstMs);
    lastMs.push(report.lastMs);
    busy = Math.max(busy, report.busy);
  }
  return { first: { value: median(firstMs), busy }, last: { value: median(lastMs), busy } };
}

/** All objects hibernate, so a publication through a gateway wakes two of them. */
async function publishOnce({ running, load }: MeasuredRun, state: "asleep" | "awake") {
  if (state === "asleep") await running.sleep();
  return load.carryOut({ order: "single", channel, dataBytes });
}

const channel = "news";
