import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { callersWithTokens } from "./caller-tokens.ts";
import { Figures } from "./figures.ts";
import { connect, measureEach, type MeasuredRun, processOf } from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Connections to which nothing is published: pings alone, and what is noted with them of what has arrived. */
export const idle: Scenario = {
  name: "idle",
  question:
    "How much processor time does an idle connection take at each ping, with and without cursors?",
  run,
};

/** Channels of which the first keeps what its users have got, and the others don't. */
const kinds = [
  { point: "with cursors", channel: "room:idle" },
  { point: "without cursors", channel: "news" },
] as const;

async function run(bench: Bench): Promise<readonly Finding[]> {
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++)
    for (const { point, channel } of kinds) {
      const turn = {
        during: `idle, round ${round} of ${bench.rounds}`,
        detail: point,
        options: { tokens: true, pingIntervalMs },
      };
      await measureEach(bench, ["channel", "gateway"], turn, (measured) =>
        measureIdle(measured, channel, point, bench.quick, figures),
      );
    }
  return figures.findings;
}

async function measureIdle(
  measured: MeasuredRun,
  channel: string,
  point: string,
  isQuick: boolean,
  figures: Figures,
): Promise<void> {
  const connections = isQuick ? 100 : 2_000;
  const pings = isQuick ? 2 : 20;
  const processId = processOf(measured);
  await connect(measured, callersWithTokens(channel, connections));
  // So that there is something to note.
  await measured.load.carryOut({ order: "single", channel, dataBytes: 100 });
  // The code of pings is compiled by then.
  await pause(4 * pingIntervalMs);
  const before = processorMs(processId);
  await pause(pings * pingIntervalMs);
  const spentMs = processorMs(processId) - before;
  figures.add(
    {
      measure: "processor time of 1,000 pings of connections",
      unit: "ms",
      better: "lower",
      system: measured.system,
      point: `${connections.toLocaleString("en-US")} connections ${point}`,
    },
    { value: (spentMs * 1_000) / (connections * pings), busy: 0 },
  );
}

/** The processor time that a process has taken, in ms, where a tick of Linux is 10 ms. */
function processorMs(processId: number): number {
  // The name of the program, in parentheses, may have spaces.
  const stat = readFileSync(`/proc/${processId}/stat`, "utf8").split(") ").at(-1) ?? "";
  const fields = stat.split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const pingIntervalMs = 2_000;
