import type { Audience } from "./audience.ts";
import { Busyness } from "./busyness.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { Subscriber } from "./subscriber.ts";

/** Lets callers in, so many at a time, in their order. */
export async function connectCallers(
  { callers, concurrency, missed }: Extract<Order, { order: "connect" }>,
  { wire, port, audience }: Connected,
): Promise<Extract<Report, { order: "connect" }>> {
  const busyness = new Busyness();
  const beganMs = performance.now();
  const latenciesMs: number[] = [];
  const first = audience.subscribers.length;
  const waiting = callers.values();
  const oneAfterTheOther = async (): Promise<void> => {
    for (const caller of waiting) {
      // Whatever went wrong ends the order: nobody else has to come.
      if (audience.trouble.isRaised) return;
      const calledAtMs = performance.now();
      const subscriber = new Subscriber(wire, port, caller, missed, audience);
      audience.subscribers.push(subscriber);
      await subscriber.there;
      latenciesMs.push(performance.now() - calledAtMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, oneAfterTheOther));
  await audience.allDelivered();
  return {
    order: "connect",
    seconds: (performance.now() - beganMs) / 1000,
    busy: busyness.share,
    latenciesMs: latenciesMs.sort((one, other) => one - other),
    ...firstPosition(audience, first),
  };
}

function firstPosition({ subscribers }: Audience, from: number): { epoch: string; offset: number } {
  const positioned = subscribers.slice(from).find(({ position }) => position !== undefined);
  return positioned?.position ?? { epoch: "", offset: 0 };
}
