import { setTimeout as pause } from "node:timers/promises";
import { warmUpSeconds } from "../load/warm-up.ts";
import { callersWithTokens } from "./caller-tokens.ts";
import { ownAndPeers } from "./compared-systems.ts";
import { type Figure, Figures, percentile } from "./figures.ts";
import { connect, dataBytes, measureEach, type MeasuredRun, withLoad } from "./measured-run.ts";
import type { Load } from "../load/load.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Thousands of clients that come back at once, and those that stay. */
export const storm: Scenario = {
  name: "storm",
  question: "How late is a publication while thousands of clients that were cut come back?",
  run,
};

interface Extent {
  /** Clients that stay. */
  readonly subscribers: number;
  /** Clients that are cut, each with a token of its own. */
  readonly cut: number;
  /** For how long those that stay are sent publications, from a moment before the cut on. */
  readonly seconds: number;
}

const fullExtent: Extent = { subscribers: 1_000, cut: 4_000, seconds: 20 };
const quickExtent: Extent = { subscribers: 100, cut: 300, seconds: 3 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `storm, round ${round} of ${bench.rounds}`;
    // One object holds all sockets, and a client is away for less than so many publications.
    const options = { tokens: true, socketsPerObject: 16_000, historySize: 1_000 };
    // Those that come back have a process of their own, so that they don't take the time of those that stay.
    await measureEach(
      bench,
      [...ownAndPeers(bench), "durable-limit"],
      { during, options },
      (measured) => withLoad(bench, (returning) => measure(measured, returning, extent, figures)),
    );
  }
  return figures.findings;
}

async function measure(
  measured: MeasuredRun,
  returning: Load,
  { subscribers, cut, seconds }: Extent,
  figures: Figures,
): Promise<void> {
  const { system, server, load } = measured;
  const point = `${cut.toLocaleString("en-US")} clients of ${(cut + subscribers).toLocaleString("en-US")}`;
  const all = callersWithTokens(channel, cut + subscribers);
  await connect(measured, all.slice(cut));
  await returning.carryOut({ order: "gather-storm", server, callers: all.slice(0, cut) });
  const published = load.carryOut({
    order: "open-loop",
    publicationsPerSecond,
    seconds,
    channels: [channel],
    dataBytes,
  });
  const [stayed, back] = await Promise.all([
    published,
    pause((warmUpSeconds(seconds) + quietSeconds) * 1_000).then(() =>
      returning.carryOut({ order: "release-storm" }),
    ),
  ]);
  const add = (figure: Omit<Figure, "system" | "point" | "better">, value: number): void =>
    figures.add(
      { ...figure, better: "lower", system, point },
      { value, busy: Math.max(stayed.busy, back.busy) },
    );
  const { latenciesMs } = stayed;
  add({ measure: "latency of those that stayed, p50", unit: "ms" }, percentile(latenciesMs, 0.5));
  add({ measure: "latency of those that stayed, p99", unit: "ms" }, percentile(latenciesMs, 0.99));
  add({ measure: "latency of those that stayed, worst", unit: "ms" }, percentile(latenciesMs, 1));
  add({ measure: "last one back after the cut", unit: "ms" }, back.seconds * 1_000);
  add({ measure: "refusals per client", unit: "count" }, back.refusals / cut);
  add({ measure: "refusals of one client at most", unit: "count" }, back.refusalsOfOneMost);
}

const channel = "news";
const publicationsPerSecond = 20;
/** Before the cut. */
const quietSeconds = 0.5;
