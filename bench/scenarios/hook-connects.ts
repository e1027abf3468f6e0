import { callersWithTokens } from "./caller-tokens.ts";
import { type Figures, percentile } from "./figures.ts";
import { type MeasuredRun, measuredRun, subscribersOf, wantedOf } from "./measured-run.ts";
import type { Bench } from "./scenario.ts";
import type { SystemOptions } from "../systems/system.ts";
import type { SystemName } from "../systems/wire.ts";

/**
 * Connects of many clients at once, about each of which a backend is asked that answers after 20 ms, beside the same with
 * tokens. A caller who is refused for now comes back, as with the SDKs.
 */
export async function addHookConnects(
  bench: Bench,
  during: string,
  figures: Figures,
): Promise<void> {
  const callers = bench.quick ? 200 : 2_000;
  for (const system of wantedOf(bench, dormouseSystems)) {
    const rates = new Map<Credentials, number>();
    for (const credentials of allCredentials) {
      bench.print(`${during}: ${system}, ${callers} callers at once, ${credentials}`);
      const measured = await measuredRun(bench, system, optionsOf[credentials], (run) =>
        connectAtOnce(run, credentials, callers),
      );
      const { rate, busy, p99Ms, refusals } = measured;
      rates.set(credentials, rate);
      const where = { system, point: `${callers.toLocaleString("en")} at once, ${credentials}` };
      figures.add(
        { measure: "connects a second", unit: "per second", better: "higher", ...where },
        { value: rate, busy },
      );
      figures.add(
        { measure: "time to connect, p99", unit: "ms", better: "lower", ...where },
        { value: p99Ms, busy },
      );
      figures.add(
        { measure: "refusals for now per connect", unit: "ratio", better: "lower", ...where },
        { value: refusals / callers, busy },
      );
      const withTokens = rates.get("a token each") ?? rate;
      if (credentials !== "a token each") {
        figures.add(
          {
            measure: "connects a second by those with tokens",
            unit: "ratio",
            better: "higher",
            ...where,
          },
          { value: rate / withTokens, busy },
        );
      }
    }
  }
}

/** Who says who a client is. */
type Credentials = "a token each" | "a hook" | "a hook at the upgrade";

const allCredentials: readonly Credentials[] = ["a token each", "a hook", "a hook at the upgrade"];

const common = { tokens: true, patient: true };

const optionsOf: Readonly<Record<Credentials, SystemOptions>> = {
  "a token each": common,
  "a hook": { ...common, connectHook: "connect" },
  "a hook at the upgrade": { ...common, connectHook: "upgrade" },
};

const dormouseSystems: readonly SystemName[] = ["channel", "gateway"];

async function connectAtOnce(
  { server, load }: MeasuredRun,
  credentials: Credentials,
  count: number,
) {
  const all =
    credentials === "a token each"
      ? callersWithTokens(channel, count + firstCallers)
      : subscribersOf(channel, count + firstCallers);
  const order = { order: "connect", server, missed: 0, comesBack: true } as const;
  // Unmeasured: a new process has yet to compile its hot code, and the homes of users to make their tables.
  await load.carryOut({ ...order, callers: all.slice(0, firstCallers), concurrency: 64 });
  const { seconds, latenciesMs, busy, refusals } = await load.carryOut({
    ...order,
    callers: all.slice(firstCallers),
    concurrency: count,
  });
  return { rate: count / seconds, p99Ms: percentile(latenciesMs, 0.99), busy, refusals };
}

const channel = "news";
const firstCallers = 200;
