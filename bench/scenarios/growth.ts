import { limits } from "../../src/limits.ts";
import type { SystemName } from "../systems/wire.ts";
import { objectSystems } from "./compared-systems.ts";
import { type Figure, Figures } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** How the cost of a publication grows with subscribers and history. */
export const growth: Scenario = {
  name: "growth",
  question: "How does the time of a publication grow with its subscribers and with its history?",
  run,
};

const channel = "news";

/** The systems to which history is added; a gateway asks the same object for it. */
const rememberingSystems: readonly SystemName[] = ["channel"];

interface Extent {
  /** Ascending: subscribers that are connected stay. */
  readonly subscribers: readonly number[];
  readonly historySizes: readonly number[];
  /** The number of subscribers while the history grows. */
  readonly historySubscribers: number;
  /** How long to publish at each size. */
  readonly seconds: number;
}

const fullExtent: Extent = {
  subscribers: [10, 100, 1_000, 8_000],
  historySizes: [10, 100, 1_000, 10_000, 100_000],
  historySubscribers: 100,
  seconds: 1.5,
};
const quickExtent: Extent = {
  subscribers: [10, 300],
  historySizes: [10, 1_000],
  historySubscribers: 100,
  seconds: 0.2,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const historySizes = extent.historySizes.filter((size) => size <= limits.historySizeMax);
  if (historySizes.length < extent.historySizes.length)
    bench.print(
      `growth: a history holds ${limits.historySizeMax} at most, so longer ones are left out`,
    );
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `growth, round ${round} of ${bench.rounds}`;
    const most = extent.subscribers.at(-1) ?? 0;
    const plan = { detail: `up to ${most} subscribers`, options: { socketsPerObject: most } };
    await measureEach(bench, objectSystems, { during, ...plan }, (measured) =>
      addSubscribers(measured, extent, figures),
    );
    for (const historySize of historySizes) {
      const detail = `a history of ${historySize} is filled first`;
      const options = { historySize, observed: true };
      await measureEach(bench, rememberingSystems, { during, detail, options }, (measured) =>
        publishBesideHistory(measured, historySize, extent, figures),
      );
    }
  }
  return figures.findings;
}

async function addSubscribers(
  measured: MeasuredRun,
  extent: Extent,
  figures: Figures,
): Promise<void> {
  let connected = 0;
  for (const subscribers of extent.subscribers) {
    await connect(measured, subscribersOf(channel, subscribers - connected));
    connected = subscribers;
    await addPublicationTime(measured, extent.seconds, figures, {
      measure: "time per publication, by subscribers",
      point: `${subscribers.toLocaleString("en-US")} subscribers`,
      at: { axis: "subscribers", value: subscribers },
    });
  }
}

/**
 * With a full history, a publication overwrites the oldest one, and an object that wakes must find the top of the
 * stream.
 */
async function publishBesideHistory(
  measured: MeasuredRun,
  historySize: number,
  extent: Extent,
  figures: Figures,
): Promise<void> {
  const { system, running, server, load } = measured;
  await load.carryOut({
    order: "fill",
    server,
    channel,
    publications: historySize,
    publishers: 64,
    // A hundred thousand single requests would take longer than all other measurements here.
    batch: Math.min(100, historySize),
    dataBytes,
  });
  await connect(measured, subscribersOf(channel, extent.historySubscribers));
  const where = {
    point: `history of ${historySize.toLocaleString("en-US")}`,
    at: { axis: "history size", value: historySize },
  };
  await addPublicationTime(measured, extent.seconds, figures, {
    measure: "time per publication, by history",
    ...where,
  });
  await running.sleep();
  const { answerMs, busy } = await load.carryOut({ order: "single", channel, dataBytes });
  figures.add(
    {
      measure: "first answer after sleep, by history",
      unit: "ms",
      better: "lower",
      system,
      ...where,
    },
    { value: answerMs, busy },
  );
}

/** With one publisher that waits for each answer. All deliveries count, so that no part of the time is missed. */
async function addPublicationTime(
  measured: MeasuredRun,
  seconds: number,
  figures: Figures,
  figure: Pick<Figure, "measure" | "point" | "at">,
): Promise<void> {
  const report = await publishClosedLoop(measured, {
    publishers: 1,
    seconds,
    channels: [channel],
    batch: 1,
  });
  figures.add(
    { ...figure, unit: "ms", better: "lower", system: measured.system },
    { value: (report.seconds * 1_000) / report.publications, busy: report.busy },
  );
}
