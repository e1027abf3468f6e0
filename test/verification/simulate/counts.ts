import type { CallOutcome } from "./network.ts";
import type { Plan } from "./plan.ts";
import type { World } from "./world.ts";

/** Counts steps, events and calls over many runs. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** Counts a world that has ended. */
  add(plan: Plan, world: World): void {
    for (const { do: what } of plan.steps) this.#count(`steps: ${what}`);
    for (const { f, type } of world.eventLog.events) this.#count(`${f}: ${type}`);
    for (const outcome of world.network.outcomes.values())
      this.#count(`calls: ${countsLine(outcome)}`);
    const { channels, gateways, homes } = world;
    for (const object of [...channels.values(), ...gateways.values(), ...homes.values()]) {
      this.#count("failed writes", object.failedWrites);
      this.#count("failed alarms", object.failedAlarms);
    }
  }

  /** One line for each name, sorted by name. */
  get lines(): readonly string[] {
    const names = [...this.#counts.keys()].sort();
    return names.map((name) => `${name.padEnd(24)} ${this.#counts.get(name) ?? 0}`);
  }

  #count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }
}

function countsLine({ requestMs, againMs, answerMs }: CallOutcome): string {
  if (requestMs === undefined) return "lost";
  if (answerMs === undefined) return "answer lost";
  if (againMs !== undefined) return "repeated";
  return Math.max(requestMs, answerMs) > lateMs ? "late" : "fine";
}

/** Longer than messages take without faults. */
const lateMs = 400;
