import type { Report } from "../load/orders.ts";
import type { SystemName } from "../systems/wire.ts";
import { peersOf } from "./compared-systems.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import {
  connect,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** One channel with many subscribers. */
export const fanOut: Scenario = {
  name: "fan-out",
  question: "How many deliveries a second reach the subscribers of one channel?",
  run,
};

const systems: readonly SystemName[] = [
  "channel",
  "gateway",
  "channel-no-history",
  "gateway-no-history",
  "durable-limit",
  "limit",
  "ws",
  "socket.io",
  "partyserver",
];

const channel = "news";

interface Extent {
  readonly subscribers: number;
  readonly publishers: readonly number[];
  /** How long to publish with each number of publishers. */
  readonly seconds: number;
}

const fullExtent: Extent = {
  subscribers: 1_000,
  publishers: [1, 4, 16, 64],
  seconds: 2,
};
const quickExtent: Extent = {
  subscribers: 200,
  publishers: [1, 64],
  seconds: 0.2,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `fan-out, round ${round} of ${bench.rounds}`;
    await measureEach(bench, [...systems, ...peersOf(bench)], { during }, (measured) =>
      publish(measured, extent, figures),
    );
  }
  return figures.findings;
}

/**
 * Measures all numbers of publishers with the same sockets: starting and connecting takes longer than a measurement.
 */
async function publish(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  await connect(measured, subscribersOf(channel, extent.subscribers));
  for (const publishers of extent.publishers) {
    const report = await publishClosedLoop(measured, {
      publishers,
      seconds: extent.seconds,
      channels: [channel],
      batch: 1,
    });
    addFigures(figures, measured.system, publishers, report);
  }
}

function addFigures(
  figures: Figures,
  system: SystemName,
  publishers: number,
  report: Extract<Report, { order: "closed-loop" }>,
): void {
  const where = {
    system,
    point: publishers === 1 ? "1 publisher" : `${publishers} publishers`,
    at: { axis: "publishers", value: publishers },
  };
  const rate = { unit: "per second", better: "higher" } as const;
  const latency = { unit: "ms", better: "lower" } as const;
  const { deliveries, frames, seconds, answerLatenciesMs } = report;
  const answer = medianAndTail(answerLatenciesMs);
  const measured: readonly (readonly [Omit<Figure, keyof typeof where>, number])[] = [
    [{ measure: "deliveries a second", ...rate }, deliveries / seconds],
    [{ measure: "publications per frame", unit: "ratio", better: "higher" }, deliveries / frames],
    [{ measure: "answer to a post, p50", ...latency }, answer.p50Ms],
    [{ measure: "answer to a post, p99", ...latency }, answer.p99Ms],
  ];
  for (const [figure, value] of measured) {
    figures.add({ ...figure, ...where }, { value, busy: report.busy });
  }
}
