import { mainlyComparedSystems } from "./compared-systems.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import { dataBytes, measureEach, type MeasuredRun, subscribersOf } from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/**
 * Deliveries that clients answer. The receipt is a command that every system reads and answers: an `rpc` without a
 * method that exists for those that speak the Centrifugo protocol, an event with an acknowledgement for Socket.IO, and a
 * message that is answered by another one for `ws` and partyserver.
 */
export const receipts: Scenario = {
  name: "receipts",
  question: "How many deliveries a second can clients answer, each with a frame that is answered?",
  run,
};

interface Extent {
  readonly subscribers: number;
  readonly seconds: number;
}

const fullExtent: Extent = { subscribers: 100, seconds: 2 };
const quickExtent: Extent = { subscribers: 50, seconds: 0.2 };
const publishers = 4;
const channel = "news";

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `receipts, round ${round} of ${bench.rounds}`;
    await measureEach(bench, mainlyComparedSystems(bench), { during }, (measured) =>
      publish(measured, extent, figures),
    );
  }
  return figures.findings;
}

async function publish(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  const { system, server, load } = measured;
  await load.carryOut({
    order: "connect",
    server,
    callers: subscribersOf(channel, extent.subscribers),
    concurrency: 32,
    missed: 0,
    sendsReceipts: true,
  });
  const {
    busy,
    receipts: count,
    seconds,
    latenciesMs,
    receiptLatenciesMs,
  } = await load.carryOut({
    order: "receipts",
    channel,
    publishers,
    seconds: extent.seconds,
    dataBytes,
  });
  const where = { system, point: `${extent.subscribers} subscribers, ${publishers} publishers` };
  const add = (figure: Omit<Figure, keyof typeof where>, value: number): void =>
    figures.add({ ...figure, ...where }, { value, busy });
  const latency = { unit: "ms", better: "lower" } as const;
  add({ measure: "receipts a second", unit: "per second", better: "higher" }, count / seconds);
  const delivery = medianAndTail(latenciesMs);
  add({ measure: "latency of a delivery, p50", ...latency }, delivery.p50Ms);
  add({ measure: "latency of a delivery, p99", ...latency }, delivery.p99Ms);
  const answer = medianAndTail(receiptLatenciesMs);
  add({ measure: "answer to a receipt, p50", ...latency }, answer.p50Ms);
  add({ measure: "answer to a receipt, p99", ...latency }, answer.p99Ms);
}
