import type { Random } from "../../support/random.ts";
import type { Step } from "./actions.ts";
import type { Plan } from "./plan.ts";
import type { World } from "./world.ts";

/**
 * Clients that the plan doesn't list are cut off from their gateways, miss publications, and come back one after the other.
 * Meanwhile the history is removed: while the gateways read it, or hold what they have read (rule L6).
 */
export interface Removals {
  readonly channel: string;
  /** How many clients come back, so many ms after one another. */
  readonly clients: number;
  readonly apartMs: number;
  /** How many publications they miss. */
  readonly missed: number;
  /** When the history is removed, ms after the first of them is back. */
  readonly removedAtMs: readonly number[];
}

/**
 * A plan in which clients recover beside removals of the history.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withRemovals(plan: Plan, random: Random): Plan {
  const kept = plan.channels.filter((channel) => !channel.startsWith("none:"));
  if (kept.length === 0) return plan;
  const first = plan.steps.findIndex(({ do: what }) => what !== "connect" && what !== "subscribe");
  const at = random.between(Math.max(first, 0), plan.steps.length);
  const step: Step = {
    do: "recover beside removals",
    channel: random.pick(kept),
    clients: random.between(2, 10),
    apartMs: random.between(0, 400),
    missed: random.between(1, 4),
    removedAtMs: Array.from({ length: random.between(1, 2) }, () => random.between(0, 120)),
    ms: random.between(0, 80),
  };
  return { ...plan, steps: plan.steps.toSpliced(at, 0, step) };
}

/** Carries out {@link Removals}. */
export function recoverBesideRemovals(world: World, action: Removals): void {
  const { channel, clients: count, apartMs, missed, removedAtMs } = action;
  const { timeline, backend } = world;
  const gateways = [...world.gateways.values()];
  const clients = Array.from({ length: count }, (_, index) => {
    const gateway = gateways[index % gateways.length] ?? world.channel(channel);
    const client = world.client({
      choosePlace: () => gateway,
      backoffMs: () => awayMs + index * apartMs,
    });
    client.subscribe(channel);
    client.connect();
    return client;
  });
  timeline.after(settledMs, () => {
    for (const client of clients) client.breakLine();
    // A client notices that its connection has broken a little later.
    timeline.after(awayMs / 2, () => {
      for (let left = missed; left > 0; left--) backend.publish(channel, false);
    });
    for (const removalMs of removedAtMs)
      timeline.after(awayMs + removalMs, () => backend.removeHistory(channel));
  });
}

/** Longer than a client takes to connect and to subscribe. */
const settledMs = 400;
/** How long the first client waits before it comes back. */
const awayMs = 300;
