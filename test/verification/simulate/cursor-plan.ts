import type { Random } from "../../support/random.ts";
import { hasCursors } from "./cursor-kinds.ts";
import type { Action, PlannedClient, Step } from "./plan.ts";

/** What backends and clients do with cursors in a plan. The user is that of the client. */
export type CursorAction =
  | {
      readonly do: "mark own";
      readonly client: number;
      readonly channel: string;
      /** How many publications before the newest one that the client has got. Below 0: beyond it. */
      readonly back: number;
      readonly epoch: NamedEpoch;
      /** Whether the client sends the mark, and gets no answer. */
      readonly sends: boolean;
    }
  | {
      readonly do: "mark for";
      readonly client: number;
      readonly channel: string;
      /** How many publications before the top. Below 0: beyond it. */
      readonly back: number;
      readonly epoch: NamedEpoch;
    }
  | {
      readonly do: "count own unread" | "count unread for" | "ask delivered for";
      readonly client: number;
      readonly channel: string;
    }
  /**
   * Something is published shortly before the next ping but one, and then something happens to the client, while it is
   * asked what its user has got.
   */
  | {
      readonly do: "watch ping";
      readonly client: number;
      readonly channel: string;
      /** How many ms before the ping. */
      readonly publishMs: number;
      readonly fault: "break" | "stall" | "nothing";
      /** How many ms after the ping. */
      readonly faultMs: number;
    }
  /** For so many ms, nothing arrives at the client. */
  | { readonly do: "stall"; readonly client: number; readonly forMs: number };

/** known: the one that the offset is of. other: one that never was. */
export type NamedEpoch = "known" | "none" | "other";

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
