import type { Report } from "../load/orders.ts";
import type { Counts } from "../systems/system.ts";
import type { Caller, SystemName } from "../systems/wire.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Maps: reading a large one, changing many keys often, and what a change takes of Cloudflare. */
export const maps: Scenario = {
  name: "maps",
  question:
    "How soon have clients that come at once read a map, and how many of its changes a second reach them?",
  run,
};

interface Extent {
  /** The map that clients read. */
  readonly keys: number;
  readonly readers: number;
  /** The keys that change, and who watches them. */
  readonly movingKeys: number;
  readonly watchers: number;
  readonly seconds: number;
  /** How many changes are counted. */
  readonly changes: number;
}

const fullExtent: Extent = {
  keys: 10_000,
  readers: 1_000,
  movingKeys: 1_000,
  watchers: 200,
  seconds: 2,
  changes: 300,
};
const quickExtent: Extent = {
  keys: 1_200,
  readers: 50,
  movingKeys: 100,
  watchers: 50,
  seconds: 0.2,
  changes: 80,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `maps, round ${round} of ${bench.rounds}`;
    await measureEach(bench, stored, { during, detail: "reading" }, (measured) =>
      read(measured, extent, figures),
    );
    await measureEach(bench, unstored, { during, detail: "changes" }, (measured) =>
      move(measured, extent, figures),
    );
    const counting = { during, detail: "counts", options: { counted: true } };
    await measureEach(bench, stored, counting, (measured) =>
      countChanges(measured, extent, figures),
    );
  }
  return figures.findings;
}

/** Fills a recoverable map, and lets all clients read it at once: the last one has the map, and its changes. */
async function read(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  const { system, server, load } = measured;
  const { keys, readers } = extent;
  const channel = "kept:read";
  const filled = { order: "fill", server, channel, publications: keys, publishers: 16 } as const;
  await load.carryOut({ ...filled, keys, dataBytes: entryBytes });
  const { seconds, busy, latenciesMs } = await load.carryOut({
    order: "connect",
    server,
    callers: readersOf(channel, readers),
    concurrency: readers,
    // Each entry once: a client that gets one more, or one less, makes the run fail.
    missed: keys,
  });
  const point = `${shown(readers)} clients, ${shown(keys)} keys`;
  const add = (figure: Omit<Figure, "system" | "point">, value: number): void =>
    figures.add({ ...figure, system, point }, { value, busy });
  const time = { unit: "ms", better: "lower" } as const;
  const { p50Ms } = medianAndTail(latenciesMs);
  add({ measure: "last client has the map", ...time }, seconds * 1_000);
  add({ measure: "a client has the map, p50", ...time }, p50Ms);
  const rate = { unit: "per second", better: "higher" } as const;
  add({ measure: "entries read a second", ...rate }, (readers * keys) / seconds);
}

/**
 * Changes the keys of an ephemeral map in turn, of many keys and of few, and publishes as many to a plain channel, which
 * stores nothing either.
 */
async function move(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  const { watchers, movingKeys, seconds } = extent;
  const loop = { publishers, seconds, batch: 1 };
  const [channel, map] = ["news", "brief:cursors"];
  await connect(measured, subscribersOf(channel, watchers));
  const plain = await publishClosedLoop(measured, { ...loop, channels: [channel] });
  addMoves(figures, measured.system, "plain publications", plain);
  await measured.load.carryOut({ order: "cut" });
  await connect(measured, readersOf(map, watchers));
  for (const keys of [movingKeys, fewKeys]) {
    const changes = { ...loop, channels: [map], keys, onlyNewest: true };
    const report = await publishClosedLoop(measured, changes);
    addMoves(figures, measured.system, `${shown(keys)} keys of a map`, report);
  }
}

function addMoves(
  figures: Figures,
  system: SystemName,
  point: string,
  report: Extract<Report, { order: "closed-loop" }>,
): void {
  const { busy, publications, deliveries, leftOut, frames, seconds, answerLatenciesMs } = report;
  const add = (figure: Omit<Figure, "system" | "point">, value: number): void =>
    figures.add({ ...figure, system, point }, { value, busy });
  const rate = { unit: "per second", better: "higher" } as const;
  const time = { unit: "ms", better: "lower" } as const;
  const answer = medianAndTail(answerLatenciesMs);
  add({ measure: "changes a second", ...rate }, publications / seconds);
  add({ measure: "deliveries a second", ...rate }, deliveries / seconds);
  const share = leftOut / (deliveries + leftOut);
  add({ measure: "left out, replaced by newer", unit: "ratio", better: "higher" }, share);
  add({ measure: "changes per frame", unit: "ratio", better: "higher" }, deliveries / frames);
  add({ measure: "answer to a post, p50", ...time }, answer.p50Ms);
  add({ measure: "answer to a post, p99", ...time }, answer.p99Ms);
}

/** Counts what the change of a key takes in each mode, after each key was set once. */
async function countChanges(
  measured: MeasuredRun,
  extent: Extent,
  figures: Figures,
): Promise<void> {
  const { system, running, server, load } = measured;
  const { watchers, changes } = extent;
  for (const [mode, namespace] of Object.entries(namespaces)) {
    const channel = `${namespace}:counted`;
    await connect(measured, readersOf(channel, watchers));
    const filled = { order: "fill", server, channel, publishers: 1, dataBytes } as const;
    // Each key is set once before, and once while it is counted: a change must not replace one that waits.
    const changed = { ...filled, publications: changes, keys: changes };
    await load.carryOut(changed);
    await running.counts();
    const { busy } = await load.carryOut(changed);
    const counted = await running.counts();
    for (const [measure, name] of countedMeasures) {
      const figure = { measure, unit: "count", better: "lower", system, point: mode } as const;
      figures.add(figure, { value: counted[name] / changes, busy });
    }
    await load.carryOut({ order: "cut" });
  }
}

const countedMeasures: readonly (readonly [string, keyof Counts])[] = [
  ["rows written per change", "rowsWritten"],
  ["rows read per change", "rowsRead"],
  ["requests to objects per change", "requestsToObjects"],
  ["calls between objects per change", "callsBetweenObjects"],
  ["alarms set per change", "alarmsSet"],
  ["alarms rung per change", "alarmsRung"],
];

const stored: readonly SystemName[] = ["channel", "gateway"];
const unstored: readonly SystemName[] = ["channel-no-history", "gateway-no-history"];
/** A namespace of each mode. */
const namespaces = { ephemeral: "brief", recoverable: "kept", persistent: "lasting" };
const publishers = 64;
const fewKeys = 10;
const pageSize = 1_000;
/** A short text, or a position with a name. */
const entryBytes = 64;

/** Subscribers that read the map before. */
function readersOf(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, () => ({ channel, token: "", pageSize }));
}

function shown(amount: number): string {
  return amount.toLocaleString("en-US");
}
