import type { GatewayTold } from "./trail.ts";
import type { RelayBatch, RelayBatchReply } from "../../contract/relay-batch.ts";
import { RowRing } from "./row-ring.ts";
import { limits } from "../../limits.ts";

/** The last calls of a channel's object to one gateway, in memory (rule Y1). One call is in flight at a time. */
export class CallTrail {
  readonly #rows = new RowRing(columns.count, limits.trailCallsMax);

  /** A call begins. */
  begun({ first, entries }: RelayBatch, nowMs: number): void {
    const row = this.#rows.add();
    this.#rows.set(row, columns.first, first);
    this.#rows.set(row, columns.entries, entries.length);
    this.#rows.set(row, columns.begunAtMs, nowMs);
  }

  /** The call in flight has ended. */
  ended(outcome: RelayBatchReply["outcome"] | "failed", nowMs: number): void {
    const row = this.#rows.next - 1;
    this.#rows.set(row, columns.endedAtMs, nowMs);
    this.#rows.set(row, columns.outcome, outcomes.indexOf(outcome));
  }

  /** The first and the last of the calls with an entry, and how many they were; undefined if none is remembered. */
  find(sequence: number): GatewayTold | undefined {
    const rows = this.#rows;
    let told: GatewayTold | undefined;
    let attempts = 0;
    for (let row = rows.first; row < rows.next; row++) {
      const first = rows.get(row, columns.first);
      if (sequence < first || sequence >= first + rows.get(row, columns.entries)) continue;
      const endedAtMs = rows.get(row, columns.endedAtMs);
      attempts++;
      told = {
        begunAtMs: told?.begunAtMs ?? rows.get(row, columns.begunAtMs),
        attempts,
        ...(endedAtMs === 0
          ? {}
          : { endedAtMs, outcome: outcomes[rows.get(row, columns.outcome)] ?? "failed" }),
      };
    }
    return told;
  }

  /** The last call; undefined before the first. */
  get last(): { readonly begunAtMs: number; readonly endedAtMs?: number } | undefined {
    const row = this.#rows.next - 1;
    if (row < 0) return undefined;
    const endedAtMs = this.#rows.get(row, columns.endedAtMs);
    const begunAtMs = this.#rows.get(row, columns.begunAtMs);
    return endedAtMs === 0 ? { begunAtMs } : { begunAtMs, endedAtMs };
  }

  /** Since when no call was forgotten, ms since 1970; undefined if none was. */
  get sinceMs(): number | undefined {
    const { first } = this.#rows;
    return first === 0 ? undefined : this.#rows.get(first, columns.begunAtMs);
  }
}

const outcomes = ["taken", "left", "busy", "failed"] as const;
const columns = { first: 0, entries: 1, begunAtMs: 2, endedAtMs: 3, outcome: 4, count: 5 } as const;
