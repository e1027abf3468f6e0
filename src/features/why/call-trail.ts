import type { FollowerProgress } from "../../channel/follower-progress.ts";
import type { CallObserver, Relay } from "../../channel/relay.ts";
import type { GatewayProgress, CallsToGateway } from "./trail.ts";
import type { RelayBatch, RelayBatchReply } from "../../contract/relay-batch.ts";
import { RowRing } from "./row-ring.ts";
import { trailLimits } from "./limits.ts";

/** The last calls of a channel's object to one gateway, in memory (rule Y1). One call is in flight at a time. */
export class CallTrail {
  readonly #rows = new RowRing(columns.count, trailLimits.trailCallsMax);

  /** A call begins. */
  begun({ first, entries }: RelayBatch, nowMs: number): void {
    const row = this.#rows.append();
    this.#rows.set(row, columns.first, first);
    this.#rows.set(row, columns.entries, entries.length);
    this.#rows.set(row, columns.begunAtMs, nowMs);
  }

  /** The call in flight has ended. */
  ended(outcome: CallEnd, nowMs: number): void {
    const row = this.#rows.next - 1;
    this.#rows.set(row, columns.endedAtMs, nowMs);
    this.#rows.set(row, columns.outcome, outcomes.indexOf(outcome));
  }

  /** The first and the last of the calls with an entry, and how many they were; undefined if none is remembered. */
  find(sequence: number): CallsToGateway | undefined {
    const rows = this.#rows;
    let calls: CallsToGateway | undefined;
    let attempts = 0;
    for (let row = rows.first; row < rows.next; row++) {
      const first = rows.get(row, columns.first);
      if (sequence < first || sequence >= first + rows.get(row, columns.entries)) continue;
      const endedAtMs = rows.get(row, columns.endedAtMs);
      attempts++;
      calls = {
        begunAtMs: calls?.begunAtMs ?? rows.get(row, columns.begunAtMs),
        attempts,
        ...(endedAtMs === 0
          ? {}
          : { endedAtMs, outcome: outcomes[rows.get(row, columns.outcome)] ?? "failed" }),
      };
    }
    return calls;
  }

  /** The last call; undefined before the first. */
  get last(): { readonly begunAtMs: number; readonly endedAtMs?: number } | undefined {
    const row = this.#rows.next - 1;
    if (row < 0) return undefined;
    const endedAtMs = this.#rows.get(row, columns.endedAtMs);
    const begunAtMs = this.#rows.get(row, columns.begunAtMs);
    return endedAtMs === 0 ? { begunAtMs } : { begunAtMs, endedAtMs };
  }
}

/** The last calls of a channel's object to each gateway that follows the channel (rule Y1). */
export class CallTrails implements CallObserver {
  readonly #trails = new WeakMap<FollowerProgress, CallTrail>();

  begun(to: FollowerProgress, batch: RelayBatch, nowMs: number): void {
    const trail = this.#trails.get(to) ?? new CallTrail();
    this.#trails.set(to, trail);
    trail.begun(batch, nowMs);
  }

  ended(to: FollowerProgress, outcome: CallEnd, nowMs: number): void {
    this.#trails.get(to)?.ended(outcome, nowMs);
  }

  /**
   * How far each gateway is.
   *
   * @param sequence of an entry, whose calls are reported, too; undefined for none
   */
  progress(
    { followers, sequence: last }: Pick<Relay, "followers" | "sequence">,
    sequence: number | undefined,
    nowMs: number,
  ): readonly GatewayProgress[] {
    return Array.from(followers, (follower) => {
      const { gateway, failures, next } = follower;
      const trail = this.#trails.get(follower);
      const waitsUntilMs = follower.waitsUntilMs(nowMs);
      const lastCall = trail?.last;
      const told = sequence === undefined ? undefined : trail?.find(sequence);
      return {
        name: gateway,
        lag: last + 1 - next,
        failures,
        ...(waitsUntilMs === undefined ? {} : { waitsUntilMs }),
        ...(lastCall === undefined ? {} : { lastCall }),
        ...(told === undefined ? {} : { told }),
      };
    });
  }
}

type CallEnd = RelayBatchReply["outcome"] | "failed";

const outcomes = ["taken", "left", "busy", "failed"] as const;
const columns = { first: 0, entries: 1, begunAtMs: 2, endedAtMs: 3, outcome: 4, count: 5 } as const;
