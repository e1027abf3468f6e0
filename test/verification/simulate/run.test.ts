import { describe, expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { run } from "./run.ts";

const historyOf = (seed: number) => run(planOf(seed)).world.eventLog.events;

describe("a plan", () => {
  it("has the same outcome each time, whatever ran before", () => {
    const first = historyOf(7);
    for (const seed of [8, 9, 10]) historyOf(seed);
    expect(historyOf(7)).toEqual(first);
    expect(first.length).toBeGreaterThan(10);
  });

  it("has the same outcome on new databases as on reused ones", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const plan = { ...planOf(seed), freshDatabases: false };
      const fresh = run({ ...plan, freshDatabases: true });
      expect(run(plan).world.eventLog.events).toEqual(fresh.world.eventLog.events);
    }
  });

  it("breaks only objects that there are", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const plan = planOf(seed);
      const { channels, gateways } = run({ ...plan, steps: [] }).world;
      const names = plan.steps.flatMap((step) => ("object" in step ? [step.object] : []));
      // A home is there once it is called.
      const others = names.filter((name) => !name.startsWith("home "));
      for (const name of others) expect([...channels.keys(), ...gateways.keys()]).toContain(name);
    }
  });
});
