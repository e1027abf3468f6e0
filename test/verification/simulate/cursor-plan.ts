import type { Random } from "../../support/random.ts";
import { hasCursors } from "./cursor-kinds.ts";
import type { Action, NamedEpoch, Step } from "./actions.ts";
import type { PlannedClient } from "./plan.ts";

/** Clients of few users, so that some users have several clients. The server pings most of them. */
export function cursorClients(
  random: Random,
  clients: readonly PlannedClient[],
): readonly PlannedClient[] {
  return clients.map((client) => ({
    user: random.pick(["ada", "eve", "joe"]),
    ...client,
    ...(random.chance(0.8) ? { isPinged: true } : {}),
  }));
}

/**
 * Puts marks and questions between the other steps. In six of ten plans clients mark what they have got, and nobody
 * marks for them.
 */
export function withCursorActions(
  random: Random,
  steps: readonly Step[],
  clients: number,
): readonly Step[] {
  const share = random.pick([0.2, 0.4, 0.7]);
  const isHonest = random.chance(0.6);
  return steps.flatMap((step): readonly Step[] => {
    if (!("channel" in step) || !hasCursors(step.channel) || !random.chance(share)) return [step];
    const client = random.between(0, clients - 1);
    const action = cursorAction(random, { client, channel: step.channel }, isHonest);
    const ms = random.chance(0.7) ? random.between(0, 60) : random.between(60, 12_000);
    return [step, { ...action, ms }];
  });
}

function cursorAction(
  random: Random,
  whose: { readonly client: number; readonly channel: string },
  isHonest: boolean,
): Action {
  if (random.chance(0.1)) return { do: "stall", client: whose.client, forMs: stallMs(random) };
  if (random.chance(0.3)) return { do: "ask delivered for", ...whose };
  if (random.chance(0.2)) return watchedPing(random, whose);
  const roll = random.between(0, 9);
  if (roll < 2) return { do: "count own unread", ...whose };
  if (roll < 4) return { do: "count unread for", ...whose };
  if (roll < 8 || isHonest) {
    // Most clients mark the newest publication that they have got, and some come late with an older one.
    const isLate = random.chance(0.3);
    const isBeyond = !isHonest && random.chance(0.2);
    const back = isBeyond ? -random.between(1, 5) : isLate ? random.between(1, 6) : 0;
    const sends = random.chance(0.2);
    return { do: "mark own", ...whose, back, epoch: epochOf(random, isHonest), sends };
  }
  const back = random.between(-2, 6);
  return { do: "mark for", ...whose, back, epoch: epochOf(random, isHonest) };
}

/** Sometimes so long that the server closes the connection. */
function stallMs(random: Random): number {
  return random.chance(0.7) ? random.between(500, 3_000) : random.between(3_000, 20_000);
}

function watchedPing(
  random: Random,
  whose: { readonly client: number; readonly channel: string },
): Action {
  const fault = random.pick(["break", "break", "stall", "nothing"] as const);
  const [publishMs, faultMs] = [random.between(-5, 30), random.between(0, 40)];
  return { do: "watch ping", ...whose, publishMs, fault, faultMs };
}

function epochOf(random: Random, isHonest: boolean): NamedEpoch {
  if (isHonest || random.chance(0.6)) return "known";
  return random.chance(0.7) ? "none" : "other";
}
