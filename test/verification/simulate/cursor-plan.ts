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
      readonly do: "count own unread" | "count unread for";
      readonly client: number;
      readonly channel: string;
    };

/** known: the one that the offset is of. other: one that never was. */
export type NamedEpoch = "known" | "none" | "other";

/** Clients of few users, so that some users have several clients. */
export function cursorClients(
  random: Random,
  clients: readonly PlannedClient[],
): readonly PlannedClient[] {
  return clients.map((client) => ({ user: random.pick(["ada", "eve", "joe"]), ...client }));
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

function epochOf(random: Random, isHonest: boolean): NamedEpoch {
  if (isHonest || random.chance(0.6)) return "known";
  return random.chance(0.7) ? "none" : "other";
}
