import type { LoadAlone } from "./results/results.ts";
import { serverOf } from "./systems/server.ts";
import type { Bench } from "./scenarios/scenario.ts";

/**
 * Measures the load generator against a server that sends prepared bytes. No system can appear faster than this, so a
 * figure near it says little about its system.
 */
export async function checkLoad(bench: Bench): Promise<LoadAlone> {
  const running = await bench.start("null", {});
  const load = await bench.startLoad();
  try {
    const callers = Array.from({ length: sockets }, () => ({ channel, token: "" }));
    await load.carryOut({
      order: "connect",
      server: serverOf("null", running),
      callers,
      concurrency: 32,
      missed: 0,
    });
    const { deliveries, seconds, busy } = await load.carryOut({
      order: "closed-loop",
      publishers: 16,
      seconds: bench.quick ? 0.5 : 2,
      channels: [channel],
      batch: 1,
      dataBytes: 128,
    });
    return { deliveriesPerSecond: deliveries / seconds, busy };
  } finally {
    await load.close();
    await running.stop();
  }
}

/** As many as in the scenario `fan-out`. */
const sockets = 1_000;
const channel = "load";
