import type { BatchFrames } from "./batch-frames.ts";
import type { Subscriber } from "./subscriber.ts";

/**
 * A frame that is being sent in slices: it goes to the subscribers of the moment in which it started, in their order,
 * to each one once. A subscriber that leaves or is caught up meanwhile is taken out of turn.
 */
export class FrameOnItsWay<Local extends Subscriber> {
  readonly batch: BatchFrames;
  /** Its number for the observer of frames; undefined if there is none. */
  readonly row: number | undefined;
  /** The backlog of the subscribers that the frame was sent to, with the frame. */
  backlogBytes = 0;
  readonly #list: readonly Local[];
  #place = 0;
  /**
   * The subscribers that haven't been sent the frame. Undefined while all have their turn: then they are the rest of
   * the list, in which one subscriber couldn't be found quickly.
   */
  #left: Set<Local> | undefined;

  /** @param list isn't changed any more */
  constructor(batch: BatchFrames, list: readonly Local[], row: number | undefined) {
    this.batch = batch;
    this.row = row;
    this.#list = list;
  }

  /** Whether everybody has been sent the frame. */
  get isOver(): boolean {
    return this.#place >= this.#list.length;
  }

  /** How many of the list haven't had their turn. */
  get rest(): number {
    return this.#list.length - this.#place;
  }

  /** The next subscriber to send the frame to; undefined when everybody has been sent it. */
  next(): Local | undefined {
    while (!this.isOver) {
      const subscriber = this.#list[this.#place++];
      if (subscriber !== undefined && this.#left?.delete(subscriber) !== false) return subscriber;
    }
    return undefined;
  }

  /**
   * Takes a subscriber out of turn.
   *
   * @returns whether it is still to be sent the frame
   */
  take(subscriber: Local): boolean {
    this.#left ??= new Set(this.#list.slice(this.#place));
    return this.#left.delete(subscriber);
  }
}
