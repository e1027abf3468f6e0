import type { ChurnPace } from "../load/churn.ts";
import type { Load } from "../load/load.ts";
import { mainlyComparedSystems } from "./compared-systems.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
  withLoad,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The cost of clients that come and go, for those that stay. */
export const churn: Scenario = {
  name: "churn",
  question: "How fast are deliveries to those that stay while other clients come and go?",
  run,
};

/** They have nothing to recover from: their clients subscribe anew. */
const systemsWithoutHistory = ["channel-no-history", "gateway-no-history"] as const;

const channel = "news";
const publishers = 4;

interface Extent {
  /** Clients that stay. */
  readonly subscribers: number;
  /** How long to publish, at most and then at a rate. */
  readonly seconds: number;
  /** Clients that come and go at a time, when they are as many as possible. */
  readonly most: number;
}

const fullExtent: Extent = { subscribers: 1_000, seconds: 2, most: 100 };
const quickExtent: Extent = { subscribers: 100, seconds: 0.15, most: 20 };

/** The clients that come and go during a measurement; undefined for none. */
interface Coming {
  readonly point: string;
  readonly pace: ChurnPace | undefined;
  /** For the ratios to the rate and latency without them. */
  readonly at?: Figure["at"];
}

/** Clients a second, for the targets. */
const usualPace = 200;

function comings({ most }: Extent): readonly Coming[] {
  return [
    { point: "nobody comes or goes", pace: undefined },
    {
      point: `${usualPace} clients a second`,
      pace: { pace: "per second", clients: usualPace },
      at: { axis: "clients a second", value: usualPace },
    },
    {
      point: "as many clients as possible",
      pace: { pace: "as many as possible", clients: most },
    },
  ];
}

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `churn, round ${round} of ${bench.rounds}`;
    // A client is away for less than so many publications, so that each recovers.
    const options = { historySize: 1_000 };
    const compared = mainlyComparedSystems(bench);
    const wanted = bench.quick ? compared : [...compared, ...systemsWithoutHistory];
    // The visitors have a process of their own, so that they don't take the time of those that count.
    await measureEach(bench, wanted, { during, options }, (each) =>
      withLoad(bench, (visitors) => measureAll(each, visitors, extent, figures)),
    );
  }
  return figures.findings;
}

async function measureAll(
  measured: MeasuredRun,
  visitors: Load,
  extent: Extent,
  figures: Figures,
): Promise<void> {
  await connect(measured, subscribersOf(channel, extent.subscribers));
  let quiet: Quiet | undefined;
  for (const coming of comings(extent))
    quiet = await measure(measured, visitors, extent, coming, quiet, figures);
}

/** The results without clients that come and go. */
interface Quiet {
  readonly deliveriesPerSecond: number;
  readonly publicationsPerSecond: number;
  readonly p99Ms: number;
}

/**
 * Takes the rate from publishers that wait for their answers, and the latency at a fixed part of the quiet rate, so that
 * the latencies with and without clients that come and go belong to the same load.
 */
async function measure(
  measured: MeasuredRun,
  visitors: Load,
  { seconds }: Extent,
  { point, pace, at }: Coming,
  quiet: Quiet | undefined,
  figures: Figures,
): Promise<Quiet> {
  const { system, load } = measured;
  const add = (figure: Omit<Figure, "system" | "point">, value: number, busy: number): void =>
    figures.add({ ...figure, system, point }, { value, busy });
  const most = await beside(measured, visitors, pace, () =>
    publishClosedLoop(measured, { publishers, seconds, channels: [channel], batch: 1 }),
  );
  const { deliveries, publications } = most.result;
  const deliveriesPerSecond = deliveries / most.result.seconds;
  const publicationsPerSecond = quiet?.publicationsPerSecond ?? publications / most.result.seconds;
  add(
    { measure: "deliveries a second", unit: "per second", better: "higher" },
    deliveriesPerSecond,
    most.result.busy,
  );
  if (most.joinsPerSecond !== undefined) {
    const { joinsPerSecond, busy } = most;
    add({ measure: "joins a second", unit: "per second", better: "higher" }, joinsPerSecond, busy);
  }
  const { result: steady } = await beside(measured, visitors, pace, () =>
    load.carryOut({
      order: "open-loop",
      publicationsPerSecond: publicationsPerSecond * steadyShare,
      seconds,
      channels: [channel],
      dataBytes,
    }),
  );
  const { p50Ms, p99Ms } = medianAndTail(steady.latenciesMs);
  const latency = { unit: "ms", better: "lower" } as const;
  add({ measure: "latency of a delivery, p50", ...latency }, p50Ms, steady.busy);
  add({ measure: "latency of a delivery, p99", ...latency }, p99Ms, steady.busy);
  if (quiet === undefined) return { deliveriesPerSecond, publicationsPerSecond, p99Ms };
  const ratio = { unit: "ratio", ...(at === undefined ? {} : { at }) } as const;
  add(
    { measure: "deliveries a second by those without", better: "higher", ...ratio },
    deliveriesPerSecond / quiet.deliveriesPerSecond,
    most.result.busy,
  );
  add(
    { measure: "p99 of a delivery by that without", better: "lower", ...ratio },
    p99Ms / quiet.p99Ms,
    steady.busy,
  );
  return quiet;
}

interface Beside<Result> {
  readonly result: Result;
  /** Undefined if nobody came. */
  readonly joinsPerSecond?: number;
  /** The share of a processor that the visitors' process took. */
  readonly busy: number;
}

/** Does the work while clients come and go at a pace. */
async function beside<Result>(
  { server }: MeasuredRun,
  visitors: Load,
  pace: ChurnPace | undefined,
  work: () => Promise<Result>,
): Promise<Beside<Result>> {
  if (pace === undefined) return { result: await work(), busy: 0 };
  await visitors.carryOut({ order: "begin-churn", server, channel, pace });
  const result = await work();
  const { joins, seconds, busy } = await visitors.carryOut({ order: "end-churn" });
  return { result, joinsPerSecond: joins / seconds, busy };
}

/** Of the quiet rate: enough that frames meet, and little enough that none waits for long. */
const steadyShare = 0.25;
