import type { RelayBatch, RelayBatchReply, RelayEntry } from "../../../src/contract/relay-batch.ts";
import type { FollowOutcome } from "../../../src/channel/relay.ts";

/** An entry that a gateway took, and where the channel had it. */
export interface Taken {
  readonly instance: number;
  readonly number: number;
  readonly entry: RelayEntry;
}

/** A gateway by the relay's contract: it takes new entries, and counts those that it can't get any more. */
export class ModelGateway {
  wanting = false;
  readonly taken: Taken[] = [];
  /** How many entries it was never given. */
  skipped = 0;
  /** Claims of batches that weren't true. */
  readonly falseClaims: string[] = [];
  instance = 0;
  sequence = 0;

  follow(outcome: FollowOutcome): void {
    if (outcome.outcome === "full") throw new Error("full");
    this.wanting = true;
    ({ instance: this.instance, sequence: this.sequence } = outcome);
  }

  /** @param late the channel gave up waiting for this call long ago */
  receive(batch: RelayBatch, late: boolean): RelayBatchReply {
    if (!this.wanting) return { outcome: "left" };
    const { instance, first, entries, certain } = batch;
    if (instance < this.instance) return { outcome: "taken" };
    const isNew = instance > this.instance;
    if (isNew) {
      this.instance = instance;
      this.sequence = 0;
    }
    if (certain && !late && (isNew || first !== this.sequence + 1)) {
      this.falseClaims.push(
        `certain of ${first} after ${this.sequence} of ${isNew ? "another" : "this"}`,
      );
    }
    this.skipped += Math.max(0, first - this.sequence - 1);
    for (const [index, entry] of entries.entries()) {
      const number = first + index;
      if (number <= this.sequence) continue;
      this.sequence = number;
      this.taken.push({ instance, number, entry });
    }
    this.sequence = Math.max(this.sequence, first - 1);
    return { outcome: "taken" };
  }
}
