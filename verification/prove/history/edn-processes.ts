import type { Happening } from "../../checker/happening.ts";

/**
 * Which integer process of Jepsen's publishes what: one operation at a time each, and none any more after an operation that
 * nobody knows the outcome of.
 */
export class EdnProcesses {
  readonly #busy = new Map<string, number>();
  readonly #idle: number[] = [];
  #count = 0;

  /** @returns undefined for what is no part of an operation */
  numberOf(happening: Happening): number | undefined {
    if (happening.f !== "publish") return undefined;
    const operation = JSON.stringify([happening.channel, happening.value]);
    const busy = this.#busy.get(operation);
    if (happening.type === "invoke") {
      if (busy !== undefined) return undefined;
      const number = this.#idle.pop() ?? this.#count++;
      this.#busy.set(operation, number);
      return number;
    }
    if (busy === undefined) return undefined;
    this.#busy.delete(operation);
    if (happening.type !== "info") this.#idle.push(busy);
    return busy;
  }
}
