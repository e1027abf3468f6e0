import { homeName } from "../../../src/contract/object-names.ts";
import type { Random } from "../../support/random.ts";
import type { Action, Step } from "./actions.ts";
import type { Plan } from "./plan.ts";

/**
 * A plan with users: its clients are some users' connections, a backend gives orders for them between the other steps,
 * and homes fail like other objects.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withUsers(plan: Plan, random: Random): Plan {
  const users = random.chance(0.5) ? oneUser : random.pick([neighbours, strangers]);
  const clients = plan.clients.map((client) => ({ ...client, user: random.pick(users) }));
  const place: Place = { plan, users };
  const share = random.pick([0.15, 0.3, 0.6]);
  const hasOwnFaults = plan.faultShare > 0 && random.chance(0.5);
  const steps = plan.steps.flatMap((step): readonly Step[] => {
    if (step.do === "connect" || !random.chance(share)) return [step];
    const isFault = hasOwnFaults && random.chance(0.25);
    const action = isFault ? homeFault(random, place) : orderAction(random, place);
    return [
      step,
      { ...action, ms: random.chance(0.7) ? random.between(0, 60) : random.between(60, 12_000) },
    ];
  });
  return { ...plan, hasHomes: true, clients, steps };
}

interface Place {
  readonly plan: Plan;
  readonly users: readonly string[];
}

function orderAction(random: Random, { plan, users }: Place): Action {
  const user = random.pick(users);
  const client = random.between(0, plan.clients.length - 1);
  const channel = random.pick(plan.channels);
  const one = random.chance(0.25) ? { only: client } : {};
  const roll = random.between(0, 99);
  if (roll < 30) {
    const spares = random.chance(0.2) ? { spares: client } : {};
    return { do: "disconnect user", user, returns: random.chance(0.85), ...one, ...spares };
  }
  if (roll < 50) return { do: "unsubscribe user", user, channel, ...one };
  if (roll < 75) {
    const back = random.chance(0.5) ? { back: random.between(0, 6) } : {};
    return { do: "subscribe user", user, channel, ...one, ...back };
  }
  if (roll < 81) return { do: "refresh user", user, expired: random.chance(0.6), ...one };
  if (roll < 91) {
    return {
      do: "block user",
      user,
      ...(random.chance(0.5) ? { forMs: random.between(0, 20_000) } : {}),
    };
  }
  if (roll < 95) return { do: "unblock user", user };
  return roll < 98 ? { do: "revoke token", user, only: client } : { do: "invalidate user", user };
}

/** A home crashes, sleeps or fails, or doesn't reach a holder or isn't reached by it. */
function homeFault(random: Random, { plan, users }: Place): Action {
  const home = `home ${homeName(random.pick(users))}`;
  const roll = random.between(0, 99);
  if (roll < 25) return { do: "crash", object: home };
  if (roll < 45) return { do: "crash at commit", object: home };
  if (roll < 60) return { do: "evict", object: home };
  if (roll < 70) return { do: "fail", object: home, writes: random.between(0, 3) };
  const holder = random.pick([...plan.channels, "g/1"]);
  const forMs = random.between(1_000, 30_000);
  return random.chance(0.5)
    ? { do: "cut", object: home, kind: "carry out", to: holder, forMs }
    : { do: "cut", object: holder, kind: "register", to: home, forMs };
}

/** Users of one home, whose orders share their numbers. */
const neighbours = firstUsers((home, first) => home === first);
const strangers = firstUsers((home, first) => home !== first);
const oneUser = neighbours.slice(0, 1);

/** The first user, and the next one whose home satisfies the condition. */
function firstUsers(isWanted: (home: string, first: string) => boolean): readonly string[] {
  const first = "user-1";
  for (let number = 2; ; number++) {
    const user = `user-${number}`;
    if (isWanted(homeName(user), homeName(first))) return [first, user];
  }
}
