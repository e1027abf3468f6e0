import type { HistoryEvent } from "../../checker/history-event.ts";

/**
 * Assigns publishes to integer processes of Jepsen's: one operation at a time each, and none any more after an
 * operation of unknown outcome.
 */
export class EdnProcesses {
  readonly #busy = new Map<string, number>();
  readonly #idle: number[] = [];
  #count = 0;

  /** @returns undefined for an event that isn't part of an operation */
  numberOf(event: HistoryEvent): number | undefined {
    if (event.f !== "publish") return undefined;
    const operation = JSON.stringify([event.channel, event.value]);
    const busy = this.#busy.get(operation);
    if (event.type === "invoke") {
      if (busy !== undefined) return undefined;
      const number = this.#idle.pop() ?? this.#count++;
      this.#busy.set(operation, number);
      return number;
    }
    if (busy === undefined) return undefined;
    this.#busy.delete(operation);
    if (event.type !== "info") this.#idle.push(busy);
    return busy;
  }
}
