import { expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { run } from "./run.ts";
import { Timeline } from "./timeline.ts";

it("notices work that starts itself again while no time passes", () => {
  const timeline = new Timeline(0);
  const again = (): void => {
    timeline.after(0, again);
  };
  again();
  expect(() => timeline.pass(1)).toThrow("in a loop while no time passes");
});

it("[L4] finds no such loop in an object that has a call due while a commit is under way", () => {
  expect(run(planOf(777_015_115)).complaints).toEqual([]);
});
