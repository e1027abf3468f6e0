import type { Report } from "../load/orders.ts";
import { comparedSystems } from "./compared-systems.ts";
import { type Figure, Figures, percentile } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The latency of a publication under a load below the maximum. */
export const latency: Scenario = {
  name: "latency",
  question: "How long is a publication under way at a part of what the system can bear?",
  run,
};

const channel = "news";

/** Enough publishers to reach a system's maximum. */
const publishers = 16;

interface Extent {
  readonly subscribers: number;
  /** Shares of a maximum. */
  readonly shares: readonly number[];
  /** How long to publish to measure the maximum. */
  readonly maximumSeconds: number;
  /** How long to publish at each load. */
  readonly seconds: number;
}

const fullExtent: Extent = {
  subscribers: 1_000,
  shares: [0.25, 0.5, 0.75],
  maximumSeconds: 1.5,
  seconds: 1.5,
};
const quickExtent: Extent = {
  subscribers: 300,
  shares: [0.5],
  maximumSeconds: 0.2,
  seconds: 0.3,
};

/**
 * Each system is measured twice: at shares of its own maximum, and at the same loads as all others. With the first
 * alone, a faster system would be measured at a higher load. The quick bench leaves the second out.
 */
async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const slowest = bench.quick ? undefined : await slowestMaximum(bench, extent);
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `latency, round ${round} of ${bench.rounds}`;
    await measureEach(bench, comparedSystems(bench), { during }, (measured) =>
      publish(measured, extent, slowest, figures),
    );
  }
  return figures.findings;
}

/**
 * The maximum that every system reaches, in publications a second; needed before the first system is measured at a
 * share of it.
 */
async function slowestMaximum(bench: Bench, extent: Extent): Promise<number> {
  let slowest = Number.POSITIVE_INFINITY;
  const during = "latency, the maximum of each";
  await measureEach(bench, comparedSystems(bench), { during }, async (measured) => {
    const { perSecond } = await connectedMaximum(measured, extent);
    slowest = Math.min(slowest, perSecond);
  });
  return slowest;
}

async function publish(
  measured: MeasuredRun,
  extent: Extent,
  slowest: number | undefined,
  figures: Figures,
): Promise<void> {
  const { system } = measured;
  const { perSecond: maximum, busy } = await connectedMaximum(measured, extent);
  figures.add(
    {
      measure: "publications a second at most",
      unit: "per second",
      better: "higher",
      system,
      point: `${publishers} publishers`,
    },
    { value: maximum, busy },
  );
  for (const [under, of, most] of [
    ["load", "% of its own maximum", maximum],
    ["equal load", "% of the slowest's maximum", slowest],
  ] as const) {
    for (const share of most === undefined ? [] : extent.shares) {
      const report = await publishOpenLoop(measured, share * (most ?? 0), extent.seconds);
      const percent = share * 100;
      addFigures(figures, report, extent.seconds, {
        system,
        under,
        point: `${percent} ${of}`,
        at: { axis: of, value: percent },
      });
    }
  }
}

async function connectedMaximum(
  measured: MeasuredRun,
  extent: Extent,
): Promise<{ readonly perSecond: number; readonly busy: number }> {
  await connect(measured, subscribersOf(channel, extent.subscribers));
  const { publications, seconds, busy } = await publishClosedLoop(measured, {
    publishers,
    seconds: extent.maximumSeconds,
    channels: [channel],
    batch: 1,
  });
  return { perSecond: publications / seconds, busy };
}

type OpenLoopReport = Extract<Report, { order: "open-loop" }>;

async function publishOpenLoop(
  { load }: MeasuredRun,
  publicationsPerSecond: number,
  seconds: number,
): Promise<OpenLoopReport> {
  return load.carryOut({
    order: "open-loop",
    publicationsPerSecond,
    seconds,
    channels: [channel],
    dataBytes,
  });
}

function addFigures(
  figures: Figures,
  { latenciesMs, seconds, busy }: OpenLoopReport,
  publishedSeconds: number,
  { under, ...where }: Pick<Figure, "system" | "point" | "at"> & { readonly under: string },
): void {
  // Above 1, publications pile up, and their latency depends on the duration of the measurement.
  figures.add(
    { measure: `delivered by published, under ${under}`, unit: "ratio", better: "lower", ...where },
    { value: seconds / publishedSeconds, busy },
  );
  for (const [name, share] of [
    ["p50", 0.5],
    ["p95", 0.95],
    ["p99", 0.99],
  ] as const) {
    figures.add(
      { measure: `latency under ${under}, ${name}`, unit: "ms", better: "lower", ...where },
      { value: percentile(latenciesMs, share), busy },
    );
  }
}
