import { limits } from "../limits.ts";

/**
 * Decides whether a publish waits for others, so that they are written in one commit (rule F7). A commit costs the
 * object's thread about as much as the publish itself. While a long frame is on its way and the gateways are being
 * called, a committed publication can't be sent yet. So a short wait delays no delivery.
 *
 * It waits for as many publishes as came together lately: a publisher that is alone never waits.
 */
export class CommitSharing {
  readonly #load: SharingLoad;
  #sharers = 1;

  constructor(load: SharingLoad) {
    this.#load = load;
  }

  /**
   * Notes how many publishes there are at the same time, as the next is added.
   *
   * @param together those that wait, and those whose commit is under way
   */
  came(together: number): void {
    this.#sharers = Math.min(Math.max(this.#sharers, together), limits.commitSharersMax);
  }

  /**
   * How long the publishes that wait have to wait yet, in ms; 0 if they are to be carried out now.
   *
   * @param waiting  how many they are; none is another job, which would end the wait
   * @param waitedMs how long the first of them has waited; a clock that was set back makes it negative
   */
  waitMs(waiting: number, waitedMs: number): number {
    if (!this.#sendsLater()) return 0;
    const isMissed = waiting < this.#sharers;
    if (isMissed && waitedMs >= limits.commitWaitMs) this.#sharers = waiting;
    // Several publishers together are faster than the hub. With this they seldom come to the limit at which rule F6 makes
    // them wait for a whole frame.
    const behindMs = this.#load.hub.isBehind ? limits.commitWaitBehindMs : 0;
    return Math.max(0, (isMissed ? limits.commitWaitMs : behindMs) - Math.max(0, waitedMs));
  }

  /** Whether what is committed now is sent later, to the sockets and to the gateways. */
  #sendsLater(): boolean {
    const { hub, relay } = this.#load;
    if (hub.size === 0 && relay.size === 0) return false;
    return (hub.size === 0 || hub.sendsLong) && relay.calling;
  }
}

/** Where a channel's publications go. */
interface SharingLoad {
  readonly hub: {
    readonly size: number;
    /** Whether a frame is on its way that takes a while yet. */
    readonly sendsLong: boolean;
    /** Whether much is collected behind a frame on its way. */
    readonly isBehind: boolean;
  };
  readonly relay: {
    readonly size: number;
    /** Whether each gateway is being called; true without gateways. */
    readonly calling: boolean;
  };
}
