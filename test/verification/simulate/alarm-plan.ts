import type { Random } from "../../support/random.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import type { Step } from "./actions.ts";
import type { Plan } from "./plan.ts";

/**
 * A plan in which objects fail to set their alarms.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withFailingAlarms(plan: Plan, random: Random): Plan {
  const gateways = Array.from({ length: plan.gateways }, (_, index) => `g/${index + 1}`);
  const users = new Set(plan.clients.flatMap(({ user }) => user ?? []));
  const homes = [...users].map((user) => `home ${homeName(user)}`);
  const objects = [...plan.channels, ...gateways, ...(plan.hasHomes === true ? homes : [])];
  let { steps } = plan;
  for (let left = random.between(1, 3); left > 0; left--) {
    const at = random.between(0, steps.length);
    const object = random.pick(objects);
    const step: Step = { do: "fail alarm", object, times: random.between(1, 3), ms: 0 };
    steps = steps.toSpliced(at, 0, step);
  }
  return { ...plan, steps };
}

/** How long an object waits for the time of its alarm, ms. */
export function alarmReadMs(random: Random): number {
  return random.chance(0.15) ? random.between(50, 400) : random.between(0, 12);
}
