import type { Plan } from "./plan.ts";
import { startMs, type World } from "./world.ts";

/** What was done in a world, and what came of it, in lines: each with its time in ms. */
export function storyOf(plan: Plan, world: World): readonly string[] {
  const { steps, ...setup } = plan;
  let atMs = 0;
  const told = steps.map(({ ms, ...deed }) => {
    const line = { atMs, text: `> ${JSON.stringify(deed)}` };
    atMs += ms;
    return line;
  });
  const seen = world.chronicle.happenings.map(({ time, ...rest }) => ({
    atMs: time / 1_000 - startMs,
    text: JSON.stringify(rest).replaceAll(padding, "…"),
  }));
  const lines = [...told, ...seen].sort((one, other) => one.atMs - other.atMs);
  return [JSON.stringify(setup), ...lines.map((line) => `${line.atMs.toFixed(3)} ${line.text}`)];
}

/** What large publications are filled up with. */
const padding = /\.{9,}/g;
