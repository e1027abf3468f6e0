import { callersWithTokens } from "./caller-tokens.ts";
import { comparedSystems, objectSystems } from "./compared-systems.ts";
import { Figures, percentile } from "./figures.ts";
import { addHookConnects } from "./hook-connects.ts";
import { addMassReconnect } from "./mass-reconnect.ts";
import { measureEach, type MeasuredRun, subscribersOf } from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The rate of connects, and the time of a mass reconnect. */
export const connects: Scenario = {
  name: "connects",
  question:
    "How many clients can connect a second, and how soon are all back that were cut at once?",
  run,
};

async function run(bench: Bench): Promise<readonly Finding[]> {
  const figures = new Figures();
  const callers = bench.quick ? 200 : 2_000;
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `connects, round ${round} of ${bench.rounds}`;
    const withTokens = `${callers} callers with tokens`;
    await measureEach(
      bench,
      objectSystems,
      { during, detail: withTokens, options: { tokens: true } },
      (measured) => addConnects(measured, "a token each", callers, figures),
    );
    // The other servers verify no tokens, and are compared with unverified connects only.
    const withoutTokens = `${callers} callers without tokens`;
    await measureEach(
      bench,
      comparedSystems(bench),
      { during, detail: withoutTokens },
      (measured) => addConnects(measured, "no tokens", callers, figures),
    );
    await addHookConnects(bench, during, figures);
    await addMassReconnect(bench, during, figures);
  }
  return figures.findings;
}

async function addConnects(
  { system, server, load }: MeasuredRun,
  point: "a token each" | "no tokens",
  count: number,
  figures: Figures,
): Promise<void> {
  const all =
    point === "a token each"
      ? callersWithTokens(channel, count + firstCallers)
      : subscribersOf(channel, count + firstCallers);
  const order = {
    order: "connect",
    server,
    concurrency: 64,
    missed: 0,
  } as const;
  // Unmeasured: a new process has yet to compile its hot code.
  await load.carryOut({ ...order, callers: all.slice(0, firstCallers) });
  const report = await load.carryOut({ ...order, callers: all.slice(firstCallers) });
  const { seconds, latenciesMs, busy } = report;
  const where = { system, point };
  figures.add(
    { measure: "connects a second", unit: "per second", better: "higher", ...where },
    { value: count / seconds, busy },
  );
  figures.add(
    { measure: "time to connect, p99", unit: "ms", better: "lower", ...where },
    { value: percentile(latenciesMs, 0.99), busy },
  );
}

const channel = "news";
const firstCallers = 100;
