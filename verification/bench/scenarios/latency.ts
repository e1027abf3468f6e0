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

/** How long a publication is under way while there is load, but less than would be too much. */
export const latency: Scenario = {
  name: "latency",
  question: "How long is a publication under way at a part of what the system can bear?",
  run,
};

const channel = "news";

/** How many publishers it takes to see a system's maximum. */
const publishers = 16;

interface Extent {
  readonly subscribers: number;
  /** Of a maximum. */
  readonly shares: readonly number[];
  /** How long is published to see the maximum. */
  readonly maximumSeconds: number;
  /** How long is published at each load. */
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
 * Each system is asked twice: at shares of its own maximum, and at the same loads for all. By the first alone, a system that
 * bears more would also have to be quick with more. The quick bench leaves the second out.
 */
async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const slowest = bench.quick ? undefined : await slowestMaximum(bench, extent);
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `latency, round ${round} of ${bench.rounds}`;
    await measureEach(bench, comparedSystems, { during }, (measured) =>
      publish(measured, extent, slowest, figures),
    );
  }
  return figures.findings;
}

/** Publications a second that every system bears: they have to be known before the first one can be asked for a share of them. */
async function slowestMaximum(bench: Bench, extent: Extent): Promise<number> {
  let slowest = Number.POSITIVE_INFINITY;
  const during = "latency, the maximum of each";
  await measureEach(bench, comparedSystems, { during }, async (measured) => {
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
  // More than 1: publications piled up on their way, and their latency is a matter of how long one looks.
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
