import type { Load } from "../load/load.ts";
import { mainlyComparedSystems } from "./compared-systems.ts";
import { type Figure, Figures, type MedianAndTail, medianAndTail } from "./figures.ts";
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

/** A quiet channel beside one that takes all the time it can get. */
export const neighbours: Scenario = {
  name: "neighbours",
  question: "How long is a publication to a quiet channel under way beside a flooded one?",
  run,
};

interface Extent {
  /** Of the quiet channel. */
  readonly subscribers: number;
  /** Of the flooded channel. */
  readonly floodedSubscribers: number;
  /** How long to publish to the quiet channel. */
  readonly seconds: number;
}

const fullExtent: Extent = { subscribers: 10, floodedSubscribers: 1_000, seconds: 10 };
const quickExtent: Extent = { subscribers: 10, floodedSubscribers: 100, seconds: 0.3 };

/** Publications a second to the quiet channel: people who write. */
const quietPerSecond = 50;
/** Publishers that flood the other channel, each with the next publication when the last one is answered. */
const floodingPublishers = 4;
const quiet = "quiet";
const flooded = "flooded";

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `neighbours, round ${round} of ${bench.rounds}`;
    // One gateway holds the sockets of both channels. On channels' own objects they share only the process.
    const options = { socketsPerObject: extent.subscribers + extent.floodedSubscribers };
    await measureEach(
      bench,
      mainlyComparedSystems(bench),
      { during, options },
      // A process of its own floods, so that the latencies of the quiet channel aren't the load generator's.
      (measured) =>
        withLoad(bench, (load) => measure(measured, { ...measured, load }, extent, figures)),
    );
  }
  return figures.findings;
}

async function measure(
  measured: MeasuredRun,
  flood: MeasuredRun,
  extent: Extent,
  figures: Figures,
): Promise<void> {
  const { system, load } = measured;
  await connect(measured, subscribersOf(quiet, extent.subscribers));
  // They are there from the beginning, so that only the flood makes the difference.
  await connect(flood, subscribersOf(flooded, extent.floodedSubscribers));
  const alone = await publishQuietly(load, extent.seconds);
  // The flood begins before the first and ends after the last of the quiet publications.
  const flooding = publishClosedLoop(flood, {
    publishers: floodingPublishers,
    seconds: extent.seconds + marginSeconds,
    channels: [flooded],
    batch: 1,
  });
  const [beside, { deliveries, seconds, busy }] = await Promise.all([
    publishQuietly(load, extent.seconds),
    flooding,
  ]);
  const latency = { unit: "ms", better: "lower", system } as const;
  for (const [point, { p50Ms, p99Ms, busy: share }] of [
    ["alone", alone],
    ["beside a flooded channel", beside],
  ] as const) {
    const measures: readonly (readonly [Figure, number])[] = [
      [{ measure: "latency of the quiet channel, p50", ...latency, point }, p50Ms],
      [{ measure: "latency of the quiet channel, p99", ...latency, point }, p99Ms],
    ];
    for (const [figure, value] of measures) figures.add(figure, { value, busy: share });
  }
  const point = "beside a flooded channel";
  figures.add(
    { measure: "p99 by that alone", unit: "ratio", better: "lower", system, point },
    { value: beside.p99Ms / alone.p99Ms, busy: Math.max(alone.busy, beside.busy) },
  );
  figures.add(
    {
      measure: "deliveries a second of the flooded channel",
      unit: "per second",
      better: "higher",
      system,
      point,
    },
    { value: deliveries / seconds, busy },
  );
}

async function publishQuietly(
  load: Load,
  seconds: number,
): Promise<MedianAndTail & { readonly busy: number }> {
  const { latenciesMs, busy } = await load.carryOut({
    order: "open-loop",
    publicationsPerSecond: quietPerSecond,
    seconds,
    channels: [quiet],
    dataBytes,
  });
  return { ...medianAndTail(latenciesMs), busy };
}

/** The quiet channel's warm-up, which the flood's own warm-up begins with, and the wait for its last delivery. */
const marginSeconds = 0.5;
