import type { Random } from "../../support/random.ts";
import type { Step } from "./actions.ts";
import type { Plan } from "./plan.ts";
import type { WorldClient } from "./client.ts";
import type { World } from "./world.ts";

/** So many publications come so long before the client's ping after the next one: their frames are on their way then. */
export interface MetPing {
  readonly channel: string;
  readonly publications: number;
  readonly beforeMs: number;
}

/**
 * A plan of waves in whose world the server pings: some of the clients that the plan lists, and of those that come in
 * waves. Publications meet pings, and clients send texts that the object answers.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withPings(plan: Plan, random: Random): Plan {
  const clients = plan.clients.map((client) =>
    random.chance(0.6) ? { ...client, isPinged: true as const } : client,
  );
  const steps = plan.steps.flatMap((step): readonly Step[] => {
    if (step.do === "connect") return [step];
    const own = step.do === "wave" && random.chance(0.7) ? { ...step, isPinged: true } : step;
    return random.chance(0.2) ? [own, pingStep(plan, random)] : [own];
  });
  return { ...plan, pings: true, clients, steps };
}

function pingStep({ clients, channels }: Plan, random: Random): Step {
  const client = random.between(0, clients.length - 1);
  if (random.chance(0.5)) return { do: "keepalive", client, ms: random.between(0, 20) };
  return {
    do: "meet ping",
    client,
    channel: random.pick(channels),
    publications: random.between(1, 3),
    beforeMs: random.between(0, 60),
    ms: random.between(0, 20),
  };
}

/** Publishes shortly before a ping of a client. */
export function meetPing(
  world: World,
  { pings }: WorldClient,
  { channel, publications, beforeMs }: MetPing,
): void {
  pings.next(() =>
    world.timeline.after(pingIntervalMs - beforeMs, () => {
      for (let count = 0; count < publications; count++) world.backend.publish(channel, false);
    }),
  );
}

/**
 * Something is published shortly before the next ping but one, and then something happens to the client, while it is
 * asked what its user has got.
 */
export interface WatchedPing {
  readonly client: number;
  readonly channel: string;
  /** How many ms before the ping. */
  readonly publishMs: number;
  readonly fault: "break" | "stall" | "nothing";
  /** How many ms after the ping. */
  readonly faultMs: number;
}

/** Carries out {@link WatchedPing}. */
export function watchPing(
  client: WorldClient,
  { channel, publishMs, fault, faultMs }: WatchedPing,
  { timeline, backend, cursors }: World,
): void {
  const ask = (): void => cursors.askDelivered(channel, client.user);
  client.pings.next(() => {
    timeline.after(pingIntervalMs - publishMs, () => backend.publish(channel, false));
    client.pings.next(() => {
      timeline.after(faultMs, () => {
        if (fault === "break") client.breakLine();
        else if (fault === "stall") client.connected?.socket?.stall(stallMs);
        for (const askMs of asksMs) timeline.after(askMs, ask);
      });
    });
  });
}

/** No client has to wait for a ping, unless a fault keeps it from the client. Pings that come too late are complained about. */
export function checkPings(world: World, steps: readonly Step[]): void {
  if (steps.some((step) => delaying.has(step.do))) return;
  for (const { name, isPinged, pings } of world.clients)
    if (isPinged && pings.longestMs > pingIntervalMs + lateMs)
      world.publicationLog.complain(`${name} had to wait ${pings.longestMs} ms for a ping`);
}

const delaying: ReadonlySet<Step["do"]> = new Set([
  "fail alarm",
  "turn clock",
  "stall",
  "watch ping",
]);

/** Longer than an object waits for the time of its alarm, and a frame for its place among those before it. */
const lateMs = 2_000;

/** How often the server pings a client where it pings. */
export const pingIntervalMs = 5_000;

/** Shorter than a client may take to answer a ping. */
const stallMs = 2_000;

/** When it is asked what has arrived, ms after something has happened to the client. */
const asksMs = [0, 10, 30, 100];
