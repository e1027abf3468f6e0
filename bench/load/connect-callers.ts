import { setTimeout } from "node:timers/promises";
import { backoffMs } from "./backoff.ts";
import type { Subscribers } from "./subscribers.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { Subscriber } from "./subscriber.ts";

/** Connects callers in their order, so many at a time. */
export async function connectCallers(
  {
    callers,
    concurrency,
    missed,
    sendsReceipts = false,
    comesBack = false,
  }: Extract<Order, { order: "connect" }>,
  { wire, server, subscribers }: Connected,
): Promise<Extract<Report, { order: "connect" }>> {
  const cpu = new CpuShare();
  const beganMs = performance.now();
  const latenciesMs: number[] = [];
  const receipts = sendsReceipts === false ? undefined : subscribers.receipts;
  const marks = sendsReceipts === "marks";
  const first = subscribers.all.length;
  const waiting = callers.values();
  let refusals = 0;
  const oneAfterTheOther = async (): Promise<void> => {
    for (const caller of waiting) {
      // A failure ends the order, so the other callers need not connect.
      if (subscribers.failure.isRaised) return;
      const calledAtMs = performance.now();
      const call = (): Subscriber =>
        new Subscriber(wire, server.sockets, caller, missed, subscribers, {
          receipts,
          marks,
          comesBack,
        });
      let subscriber = call();
      for (let tries = 1; (await subscriber.there) === "refused"; tries++) {
        refusals++;
        await setTimeout(backoffMs(tries));
        subscriber = call();
      }
      subscribers.all.push(subscriber);
      latenciesMs.push(performance.now() - calledAtMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, oneAfterTheOther));
  await subscribers.allDelivered();
  return {
    order: "connect",
    seconds: (performance.now() - beganMs) / 1000,
    busy: cpu.share,
    latenciesMs: latenciesMs.sort((one, other) => one - other),
    refusals,
    ...firstPosition(subscribers, first),
  };
}

function firstPosition(
  { all: subscribers }: Subscribers,
  from: number,
): { epoch: string; offset: number } {
  const positioned = subscribers.slice(from).find(({ position }) => position !== undefined);
  return positioned?.position ?? { epoch: "", offset: 0 };
}
