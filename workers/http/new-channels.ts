import { limits } from "../../src/limits.ts";
import { AddressRate, RecentlyUsed } from "./client-address.ts";

/**
 * Bounds how fast one client address may turn to channels that this isolate of the edge doesn't know, because each may
 * make an object (rule B8).
 */
export class NewChannels {
  readonly #addresses = new AddressRate(rate);
  readonly #known = new RecentlyUsed<true>(limits.channelsRememberedMax);

  /**
   * Whether a client may turn to a channel now.
   *
   * @param address of the client; undefined if it isn't known: then there is no bound
   */
  admits(channel: string, address: string | undefined, nowMs: number): boolean {
    return this.#known.use(channel) !== undefined || this.#addresses.admits(address, nowMs);
  }

  /** Notes that a channel has an object: a client that comes back to it takes nothing. */
  exists(channel: string): void {
    this.#known.set(channel, true);
  }
}

const rate = { burst: limits.addressChannelsBurst, perSecond: limits.addressChannelsPerSecond };
