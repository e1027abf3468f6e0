import type { Caller, SystemName } from "../systems/wire.ts";
import { type Figure, Figures } from "./figures.ts";
import {
  connect,
  measureEach,
  type MeasuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Text that comes token by token: appended to the values of a map's keys, beside a publication for each token. */
export const appends: Scenario = {
  name: "appends",
  question:
    "How many tokens a second reach all subscribers, and what does a text cost that is streamed?",
  run,
};

interface Extent {
  readonly subscribers: number;
  readonly seconds: number;
  /** Keys that grow at the same time. */
  readonly keys: readonly number[];
  /** Tokens of a text before somebody comes, and whose rows are counted. */
  readonly tokens: readonly number[];
  readonly joiners: number;
}

const fullExtent: Extent = {
  subscribers: 1_000,
  seconds: 2,
  keys: [1, 50],
  tokens: [500, 5_000],
  joiners: 100,
};
const quickExtent: Extent = {
  subscribers: 50,
  seconds: 0.2,
  keys: [1, 5],
  tokens: [100],
  joiners: 10,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const turn = { during: `appends, round ${round} of ${bench.rounds}` };
    await measureEach(bench, systems, { ...turn, detail: "publications" }, (measured) =>
      stream(measured, extent, figures, undefined),
    );
    for (const keys of extent.keys)
      await measureEach(bench, systems, { ...turn, detail: `${keys} keys` }, (measured) =>
        stream(measured, extent, figures, keys),
      );
    for (const tokens of extent.tokens) {
      const options = { historySize: tokens, counted: true };
      const detail = `${tokens} tokens`;
      await measureEach(bench, ["channel"], { ...turn, detail, options }, (measured) =>
        tell(measured, extent, figures, tokens),
      );
    }
  }
  return figures.findings;
}

/** @param keys that grow in turn; undefined for a publication for each token */
async function stream(
  measured: MeasuredRun,
  { subscribers, seconds }: Extent,
  figures: Figures,
  keys: number | undefined,
): Promise<void> {
  const { system } = measured;
  const channel = keys === undefined ? "news" : "text:streamed";
  await connect(
    measured,
    keys === undefined ? subscribersOf(channel, subscribers) : readersOf(channel, subscribers),
  );
  const loop = { publishers: 64, seconds, batch: 1, channels: [channel] };
  const report = await publishClosedLoop(
    measured,
    keys === undefined
      ? { ...loop, dataBytes: publicationBytes }
      : { ...loop, keys, grow: true, dataBytes: tokenBytes },
  );
  const way = keys === undefined ? "publications" : `${keys} ${keys === 1 ? "key" : "keys"}`;
  const where = { system, point: `${way}, ${subscribers} subscribers` };
  const add = (figure: Omit<Figure, keyof typeof where>, value: number): void =>
    figures.add({ ...figure, ...where }, { value, busy: report.busy });
  const rate = { unit: "per second", better: "higher" } as const;
  add({ measure: "tokens a second", ...rate }, report.publications / report.seconds);
  const bytes = report.bytes / report.deliveries;
  add(
    { measure: "bytes on the wire for each token and subscriber", unit: "bytes", better: "lower" },
    bytes,
  );
}

/** Counts the rows of a text, and measures how soon those have it who come when it is complete. */
async function tell(
  measured: MeasuredRun,
  { joiners }: Extent,
  figures: Figures,
  tokens: number,
): Promise<void> {
  const { system, running, server, load } = measured;
  const filled = { order: "fill", server, publications: tokens, publishers: 1 } as const;
  const ways = [
    { way: "publications", channel: "news", grown: {}, dataBytes: publicationBytes },
    { way: "1 key", channel: "text:told", grown: { keys: 1, grow: true }, dataBytes: tokenBytes },
  ];
  for (const { way, channel, grown, dataBytes } of ways) {
    await running.counts();
    await load.carryOut({ ...filled, channel, ...grown, dataBytes });
    const { rowsWritten } = await running.counts();
    const where = { system, point: `${way}, ${tokens} tokens` };
    figures.add(
      { measure: "rows written for a text", unit: "count", better: "lower", ...where },
      { value: rowsWritten, busy: 0 },
    );
    const { seconds, busy } = await load.carryOut({
      order: "connect",
      server,
      callers: "keys" in grown ? readersOf(channel, joiners) : await sinceStart(measured, joiners),
      concurrency: 32,
      // Each token once: a client that gets one more, or one less, makes the run fail.
      missed: tokens,
    });
    figures.add(
      { measure: `${joiners} late clients have the text`, unit: "ms", better: "lower", ...where },
      { value: seconds * 1_000, busy },
    );
    await load.carryOut({ order: "cut" });
  }
}

/** Callers who have missed everything of the plain channel. */
async function sinceStart(
  { server, load }: MeasuredRun,
  count: number,
): Promise<readonly Caller[]> {
  const { epoch } = await load.carryOut({
    order: "connect",
    server,
    callers: subscribersOf("news", 1),
    concurrency: 1,
    missed: 0,
  });
  await load.carryOut({ order: "cut" });
  const since = { offset: 0, epoch };
  return Array.from({ length: count }, () => ({ channel: "news", token: "", since }));
}

/** Subscribers with deltas, who read the map before. */
function readersOf(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, () => ({ channel, token: "", pageSize: 100, deltas: true }));
}

const systems: readonly SystemName[] = ["channel", "gateway"];
/** About a word. */
const tokenBytes = 8;
/** The same in JSON, as small as a publication of the bench may be. */
const publicationBytes = 24;
