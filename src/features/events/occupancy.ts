import type { Outbox } from "./outbox.ts";

/**
 * Tells a backend when a channel gets its first subscriber, and when it has lost its last one (rule E10). What was told
 * last is noted in the rows of the outbox, so the two alternate, through crashes.
 */
export class Occupancy {
  readonly #outbox: Outbox;
  readonly #channel: string;

  constructor(outbox: Outbox, channel: string) {
    this.#outbox = outbox;
    this.#channel = channel;
  }

  /**
   * The object calls it when its work on a frame, a call or its alarm ends.
   *
   * @param isOccupied whether the channel has subscribers, here or on gateways; undefined if that isn't known: then it is as it
   *                   was told
   */
  note(isOccupied: boolean | undefined, nowMs: number): void {
    if (isOccupied === undefined) return;
    if (isOccupied === (this.#outbox.mark(markName) !== undefined)) return;
    this.#outbox.setMark(markName, isOccupied ? "1" : undefined);
    const type = isOccupied ? "channel_occupied" : "channel_vacated";
    this.#outbox.append({ type, channel: this.#channel }, nowMs);
  }
}

const markName = "occupied";
