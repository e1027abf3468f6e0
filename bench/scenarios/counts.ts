import { setTimeout as pause } from "node:timers/promises";
import { countMeasures } from "../results/count-measures.ts";
import type { Counts } from "../systems/system.ts";
import type { SystemName } from "../systems/wire.ts";
import { Figures } from "./figures.ts";
import {
  connect,
  dataBytes,
  measureEach,
  type MeasuredRun,
  subscribersOf,
} from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Billed and limited quantities, which don't depend on the machine. */
export const counts: Scenario = {
  name: "counts",
  question: "What does a publication take of Cloudflare, and what do idle sockets?",
  run,
};

const systems: readonly SystemName[] = ["channel", "gateway"];

async function run(bench: Bench): Promise<readonly Finding[]> {
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `counts, round ${round} of ${bench.rounds}`;
    const options = { counted: true };
    await measureEach(bench, systems, { during, options }, async (measured) => {
      await connect(measured, subscribersOf(channel, subscribers));
      // Idle sockets are counted once, because chance has no part in it, and first, because a publication's alarm comes
      // seconds later.
      if (round === 1) {
        bench.print(`counts: ${measured.system}, silence`);
        await countIdle(measured, bench.quick ? 1 : 30, figures);
      }
      const publications = bench.quick ? quickPublications : usualPublications;
      for (const publishers of [1, 16])
        await countPublications(measured, { publications, publishers }, figures);
    });
  }
  return figures.findings;
}

async function countIdle(measured: MeasuredRun, seconds: number, figures: Figures): Promise<void> {
  const { system, running } = measured;
  await running.counts();
  await pause(seconds * 1_000);
  const counted = await running.counts();
  for (const [measure, name] of idleMeasures) {
    figures.add(
      {
        measure,
        unit: "count",
        better: "lower",
        system,
        point: `${subscribers} sockets for ${seconds} s`,
      },
      { value: counted[name], busy: 0 },
    );
  }
}

async function countPublications(
  measured: MeasuredRun,
  { publications, publishers }: { readonly publications: number; readonly publishers: number },
  figures: Figures,
): Promise<void> {
  const { system, running, server, load } = measured;
  // An object that hibernated reads its rows again when it wakes; those rows aren't the publication's.
  await load.carryOut({ order: "single", channel, dataBytes });
  await running.counts();
  // A closed loop also publishes before it measures.
  const { busy } = await load.carryOut({
    order: "fill",
    server,
    channel,
    publications,
    publishers,
    dataBytes,
  });
  const counted = await running.counts();
  for (const [measure, name] of publicationMeasures) {
    figures.add(
      {
        measure,
        unit: name === "bytesSent" ? "bytes" : "count",
        better: "lower",
        system,
        point: publishers === 1 ? "1 publisher" : `${publishers} publishers`,
      },
      { value: counted[name] / publications, busy },
    );
  }
}

const publicationMeasures: readonly (readonly [string, keyof Counts])[] = [
  [countMeasures.objectRequests, "requestsToObjects"],
  [countMeasures.callsBetweenObjects, "callsBetweenObjects"],
  [countMeasures.rowsWritten, "rowsWritten"],
  [countMeasures.rowsRead, "rowsRead"],
  [countMeasures.alarmsSet, "alarmsSet"],
  [countMeasures.alarmsRung, "alarmsRung"],
  ["frames sent per publication", "framesSent"],
  ["bytes sent per publication", "bytesSent"],
];

/** With server-driven keep-alive every 25 s, which unmodified clients need. */
const idleMeasures: readonly (readonly [string, keyof Counts])[] = [
  ["alarms set while idle", "alarmsSet"],
  ["alarms rung while idle", "alarmsRung"],
  ["rows written while idle", "rowsWritten"],
  ["calls between objects while idle", "callsBetweenObjects"],
  ["frames sent while idle", "framesSent"],
  ["frames received while idle", "framesReceived"],
];

const channel = "news";
const subscribers = 100;
const usualPublications = 1_000;
/** The counts are the same for each publication; fewer publications only take less time. */
const quickPublications = 80;
