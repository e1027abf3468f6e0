import { setTimeout as pause } from "node:timers/promises";
import type { ChurnPace } from "../load/churn.ts";
import type { Load } from "../load/load.ts";
import { ownAndPeers } from "./compared-systems.ts";
import { type Figure, Figures, medianAndTail, percentile } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  subscribersOf,
  withLoad,
} from "./measured-run.ts";
import { processTimeMs, timedProcessOf } from "./process-time.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The cost of clients that come and go, for the server and for the clients that stay. */
export const churn: Scenario = {
  name: "churn",
  question:
    "What does a client that comes and goes cost the server, and how late are deliveries to others meanwhile?",
  run,
};

const channel = "news";
/** Nobody stays on it, and nothing is published to it. */
const emptyChannel = "empty";

interface Extent {
  /** Clients that stay. */
  readonly subscribers: number;
  /** How long to publish at each pace. */
  readonly seconds: number;
  /** How long clients come to the empty channel. */
  readonly aloneSeconds: number;
  /** Before each kind of measurement, after which the code is compiled. */
  readonly warmUpSeconds: number;
  /** Clients of a flood at a time. */
  readonly flood: number;
}

const fullExtent: Extent = {
  subscribers: 200,
  seconds: 6,
  aloneSeconds: 2,
  warmUpSeconds: 1,
  flood: 100,
};
const quickExtent: Extent = {
  subscribers: 50,
  seconds: 0.5,
  aloneSeconds: 0.2,
  warmUpSeconds: 0.1,
  flood: 20,
};

/** Publications to those that stay: the same for each system, and far below what each bears. */
const publicationsPerSecond = 50;

/** The clients that come and go during a measurement; undefined for none. */
interface Coming {
  readonly point: string;
  readonly pace: ChurnPace | undefined;
  /** For the targets. */
  readonly at?: Figure["at"];
}

function comings({ flood }: Extent): readonly Coming[] {
  return [
    { point: "nobody comes or goes", pace: undefined },
    ...[50, 200].map((clients) => ({
      point: `${clients} clients a second`,
      pace: perSecond(clients),
      at: { axis: "clients a second", value: clients },
    })),
    { point: "a flood of clients", pace: floodOf(flood) },
  ];
}

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `churn, round ${round} of ${bench.rounds}`;
    // A client is away for less than so many publications, so that each recovers.
    const options = { historySize: 1_000 };
    // The visitors have a process of their own, so that they don't take the time of those that count.
    await measureEach(bench, ownAndPeers(bench), { during, options }, (each) =>
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
  await measureAlone(measured, visitors, extent, figures);
  await connect(measured, subscribersOf(channel, extent.subscribers));
  await publishBeside(measured, visitors, perSecond(200), extent.warmUpSeconds);
  let quietMs: number | undefined;
  for (const coming of comings(extent)) {
    const serverMs = await measure(measured, visitors, extent, coming, quietMs, figures);
    quietMs ??= serverMs;
  }
}

/** One client after the other comes to an empty channel and leaves it. */
async function measureAlone(
  measured: MeasuredRun,
  visitors: Load,
  { aloneSeconds, warmUpSeconds, flood }: Extent,
  figures: Figures,
): Promise<void> {
  const { system, server } = measured;
  const come = async (pace: ChurnPace, seconds: number): Promise<Visits> => {
    await visitors.carryOut({ order: "begin-churn", server, channel: emptyChannel, pace });
    await pause(seconds * 1_000);
    return endOf(visitors);
  };
  // Many at a time, because code is compiled after so many runs, not after a time.
  await come(floodOf(flood), warmUpSeconds);
  const { result, serverMs } = await timed(measured, () => come(floodOf(1), aloneSeconds));
  const { latenciesMs, busy } = result;
  const point = "alone on an empty channel";
  if (serverMs !== undefined)
    figures.add(
      { ...processorTime, system, point },
      { value: serverMs / latenciesMs.length, busy: 0 },
    );
  figures.add({ ...joinTime, system, point }, { value: percentile(latenciesMs, 0.5), busy });
}

/**
 * Publishes at the same rate with each pace, whatever the server bears, so that its processor time without clients that
 * come and go can be taken off.
 *
 * @param quietMs the server's processor time without them
 * @returns its processor time with them
 */
async function measure(
  measured: MeasuredRun,
  visitors: Load,
  { seconds }: Extent,
  { point, pace, at }: Coming,
  quietMs: number | undefined,
  figures: Figures,
): Promise<number | undefined> {
  const { system } = measured;
  const { result, serverMs } = await timed(measured, () =>
    publishBeside(measured, visitors, pace, seconds),
  );
  const { published, visits } = result;
  const add = (figure: Omit<Figure, "system" | "point">, value: number, busy: number): void =>
    figures.add({ ...figure, system, point, ...(at && { at }) }, { value, busy });
  const { p50Ms, p99Ms } = medianAndTail(published.latenciesMs);
  const latency = { unit: "ms", better: "lower" } as const;
  add({ measure: "latency of a delivery, p50", ...latency }, p50Ms, published.busy);
  add({ measure: "latency of a delivery, p99", ...latency }, p99Ms, published.busy);
  if (visits === undefined) return serverMs;
  const { joins, refusals, latenciesMs, busy } = visits;
  add(joinsPerSecond, joins / visits.seconds, busy);
  add(refusalsPerJoin, refusals / joins, busy);
  add(joinTime, percentile(latenciesMs, 0.5), busy);
  // The server's time doesn't depend on whether the load generator was the bottleneck.
  if (serverMs !== undefined && quietMs !== undefined)
    add(processorTime, (serverMs - quietMs) / latenciesMs.length, 0);
  return serverMs;
}

const processorTime = {
  measure: "processor time of a join and leave",
  unit: "ms",
  better: "lower",
} as const;
const joinTime = { measure: "time until subscribed, p50", unit: "ms", better: "lower" } as const;
const joinsPerSecond = {
  measure: "joins a second",
  unit: "per second",
  better: "higher",
} as const;
const refusalsPerJoin = { measure: "refusals per join", unit: "count", better: "lower" } as const;

function perSecond(clients: number): ChurnPace {
  return { pace: "per second", clients };
}

/** So many clients at a time, each replaced when it has left. */
function floodOf(clients: number): ChurnPace {
  return { pace: "as many as possible", clients };
}

type Visits = Awaited<ReturnType<typeof endOf>>;

/**
 * Publishes while clients come and go at a pace; resolves when all of them have left. Where a flood keeps the server from
 * its deliveries, it ends before the last of them has arrived.
 */
async function publishBeside(
  { server, load }: MeasuredRun,
  visitors: Load,
  pace: ChurnPace | undefined,
  seconds: number,
) {
  if (pace !== undefined) await visitors.carryOut({ order: "begin-churn", server, channel, pace });
  const publishing = load.carryOut({
    order: "open-loop",
    publicationsPerSecond,
    seconds,
    channels: [channel],
    dataBytes,
  });
  if (pace === undefined) return { published: await publishing, visits: undefined };
  await Promise.race([publishing, pause((seconds + graceSeconds) * 1_000)]);
  const visits = await endOf(visitors);
  return { published: await publishing, visits };
}

/** The warm-up of the publications, and the time for which the last of them may be under way. */
const graceSeconds = 3;

function endOf(visitors: Load) {
  return visitors.carryOut({ order: "end-churn" });
}

/** Does the work, and gives the processor time that the server took for it; undefined where it can't be read. */
async function timed<Result>(
  measured: MeasuredRun,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly serverMs: number | undefined }> {
  const processId = timedProcessOf(measured);
  const beforeMs = processId === undefined ? 0 : processTimeMs(processId);
  const result = await work();
  const serverMs = processId === undefined ? undefined : processTimeMs(processId) - beforeMs;
  return { result, serverMs };
}
