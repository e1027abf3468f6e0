import { setTimeout as pause } from "node:timers/promises";
import { callersWithTokens } from "./caller-tokens.ts";
import { Figures } from "./figures.ts";
import { connect, type MeasuredRun, measureEach, processOf, withLoad } from "./measured-run.ts";
import { processTimeMs } from "./process-time.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Connections to which nothing is published: pings alone, and what is noted with them of what has arrived. */
export const idle: Scenario = {
  name: "idle",
  question:
    "How much processor time does an idle connection take at each ping, with and without cursors?",
  run,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const turn = {
      during: `idle, round ${round} of ${bench.rounds}`,
      options: { tokens: true, pingIntervalMs },
    };
    await measureEach(bench, ["channel", "gateway"], turn, (measured) =>
      measureRound(bench, measured, figures),
    );
  }
  return figures.findings;
}

/** Channels of which the first keeps what its users have got, and the others don't. */
const kinds = {
  with: { point: "with cursors", channel: "room:idle" },
  without: { point: "without cursors", channel: "news" },
} as const;

/**
 * Measures both kinds in one process, because two processes with the same code differ by more than the kinds do; and in an
 * order in which neither of them comes later than the other.
 */
async function measureRound(bench: Bench, measured: MeasuredRun, figures: Figures): Promise<void> {
  const spentMs = { with: 0, without: 0 };
  const size = bench.quick ? quickSize : usualSize;
  // What the first ones spend isn't counted: the code is compiled meanwhile.
  await measureTurn(bench, measured, "with", size);
  await measureTurn(bench, measured, "without", size);
  for (let turn = 0; turn < size.turns; turn++)
    for (const kind of ["with", "without", "without", "with"] as const)
      spentMs[kind] += await measureTurn(bench, measured, kind, size);
  const pings = 2 * size.turns * size.connections * size.pings;
  for (const kind of ["with", "without"] as const)
    figures.add(
      {
        measure: "processor time of 1,000 pings of connections",
        unit: "ms",
        better: "lower",
        system: measured.system,
        point: `${size.connections.toLocaleString("en-US")} connections ${kinds[kind].point}`,
      },
      { value: (spentMs[kind] * 1_000) / pings, busy: 0 },
    );
}

/** @returns the processor time that the server takes for the pings, in ms */
function measureTurn(
  bench: Bench,
  measured: MeasuredRun,
  kind: keyof typeof kinds,
  { connections, pings }: typeof usualSize,
): Promise<number> {
  const { channel } = kinds[kind];
  return withLoad(bench, async (load) => {
    await connect({ ...measured, load }, callersWithTokens(channel, connections));
    // So that there is something to note.
    await load.carryOut({ order: "single", channel, dataBytes: 100 });
    // The two pings after which nothing new is noted, and what the connections before leave to do.
    await pause(3 * pingIntervalMs);
    const before = processTimeMs(processOf(measured));
    await pause(pings * pingIntervalMs);
    return processTimeMs(processOf(measured)) - before;
  });
}

const usualSize = { connections: 1_000, pings: 10, turns: 2 };
const quickSize: typeof usualSize = { connections: 100, pings: 1, turns: 1 };

const pingIntervalMs = 1_000;
