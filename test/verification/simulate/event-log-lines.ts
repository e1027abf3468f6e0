import type { Plan } from "./plan.ts";
import { startMs, type World } from "./world.ts";

/** The steps of a plan and the events that followed, one line each, with their times in ms. */
export function eventLogLines(plan: Plan, world: World): readonly string[] {
  const { steps, ...setup } = plan;
  let atMs = 0;
  const planned = steps.map(({ ms, ...action }) => {
    const line = { atMs, text: `> ${JSON.stringify(action)}` };
    atMs += ms;
    return line;
  });
  const observed = world.eventLog.events.map(({ time, ...rest }) => ({
    atMs: time / 1_000 - startMs,
    text: JSON.stringify(rest).replaceAll(padding, "…"),
  }));
  const lines = [...planned, ...observed].sort((one, other) => one.atMs - other.atMs);
  return [JSON.stringify(setup), ...lines.map((line) => `${line.atMs.toFixed(3)} ${line.text}`)];
}

/** The filler of large publications. */
const padding = /\.{9,}/g;
