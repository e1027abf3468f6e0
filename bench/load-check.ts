import type { LoadAlone } from "./results/results.ts";
import {
  connect,
  measuredRun,
  publishClosedLoop,
  subscribersOf,
} from "./scenarios/measured-run.ts";
import type { Bench } from "./scenarios/scenario.ts";

/**
 * Measures the load generator against a server that sends prepared bytes. No system can appear faster than this, so a
 * figure near it says little about its system.
 */
export function checkLoad(bench: Bench): Promise<LoadAlone> {
  return measuredRun(bench, "null", {}, async (run) => {
    await connect(run, subscribersOf(channel, sockets));
    const { deliveries, seconds, busy } = await publishClosedLoop(run, {
      publishers: 16,
      seconds: bench.quick ? 0.5 : 2,
      channels: [channel],
      batch: 1,
    });
    return { deliveriesPerSecond: deliveries / seconds, busy };
  });
}

/** As many as in the scenario `fan-out`. */
const sockets = 1_000;
const channel = "load";
