import { limits } from "../../src/limits.ts";
import type { EventsTold } from "../checker/history-event.ts";
import type { EventReceiver } from "./backends/event-receiver.ts";
import type { LocalServer, ObjectKind } from "./server/local-server.ts";
import type { Target } from "./target.ts";

/**
 * Lets the server tell the rest when all connections have ended: at once, and then as if as much time had passed as it may
 * take to find connections, users and channels that ended with their objects (rules E9 to E11). The clock of the objects
 * jumps, and the alarms that are set for then ring.
 *
 * @param told called when so much must have been told
 */
export async function lastEvents(
  server: LocalServer,
  receiver: EventReceiver,
  target: Target,
  told: (what: EventsTold["what"]) => void,
): Promise<void> {
  receiver.settle();
  await receiver.quiet();
  receiver.ignoreTimes();
  await ringAll(server, target, limits.eventsConnectionsCheckMs + marginMs);
  await receiver.quiet();
  told("connections");
  const hourMs = Math.max(limits.eventsHoldersCheckMs, limits.eventsFollowersCheckMs);
  // What an alarm begins, the next ones go on with.
  for (let rings = 1; rings <= 3; rings++)
    await ringAll(server, target, hourMs + (rings + 1) * marginMs);
  await receiver.quiet();
  told("everything");
}

/** Rings the alarms of all objects that are due when so much time has passed. */
async function ringAll(
  server: LocalServer,
  { scenario, gateways }: Target,
  afterMs: number,
): Promise<void> {
  const homes = Array.from({ length: limits.homes }, (_, index) => String(index));
  const objects: readonly (readonly [ObjectKind, readonly string[]])[] = [
    ["CHANNELS", scenario.channels.map(({ name }) => name)],
    ["GATEWAYS", gateways],
    ["USERS", homes],
  ];
  await Promise.all(
    objects.flatMap(([kind, names]) => names.map((name) => server.ring(kind, name, afterMs))),
  );
}

/** An alarm that is set during the minute before counts, too. */
const marginMs = 60_000;
