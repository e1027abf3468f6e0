import type { SystemName } from "../systems/wire.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import {
  connect,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Calls of a channel's code, each of which sets a key and publishes, beside plain publications to another channel. */
export const procedures: Scenario = {
  name: "procedures",
  question:
    "How many calls a second does a channel's code take, each with one key and one publication, beside plain publications?",
  run,
};

interface Extent {
  readonly subscribers: number;
  readonly seconds: number;
}

const fullExtent: Extent = { subscribers: 1_000, seconds: 2 };
const quickExtent: Extent = { subscribers: 50, seconds: 0.2 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `procedures, round ${round} of ${bench.rounds}`;
    await measureEach(bench, systems, { during, options: { code: true } }, (measured) =>
      compare(measured, extent, figures),
    );
  }
  return figures.findings;
}

/** Both on the same server, one after the other: so the ratio says little of the machine. */
async function compare(
  measured: MeasuredRun,
  { subscribers, seconds }: Extent,
  figures: Figures,
): Promise<void> {
  const { system, load } = measured;
  const rates: number[] = [];
  for (const { way, channel, call } of ways) {
    await connect(measured, subscribersOf(channel, subscribers));
    const loop = { publishers: 64, seconds, batch: 1, channels: [channel], call };
    const report = await publishClosedLoop(measured, loop);
    await load.carryOut({ order: "cut" });
    const { busy, answerLatenciesMs } = report;
    const rate = report.publications / report.seconds;
    rates.push(rate);
    const where = { system, point: `${way}, ${subscribers} subscribers` };
    const add = (figure: Omit<Figure, keyof typeof where>, value: number): void =>
      figures.add({ ...figure, ...where }, { value, busy });
    add({ measure: "a second", unit: "per second", better: "higher" }, rate);
    const { p50Ms } = medianAndTail(answerLatenciesMs);
    add({ measure: "answer, p50", unit: "ms", better: "lower" }, p50Ms);
  }
  const [plain = Number.NaN, called = Number.NaN] = rates;
  figures.add(
    {
      measure: "calls for each plain publication",
      unit: "ratio",
      better: "higher",
      system,
      point: `${subscribers} subscribers`,
    },
    { value: called / plain, busy: 0 },
  );
}

const ways = [
  { way: "plain publications", channel: "news", call: false },
  { way: "calls", channel: "code:news", call: true },
] as const;

const systems: readonly SystemName[] = ["channel", "gateway"];
