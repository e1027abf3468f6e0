import { limits } from "../../src/limits.ts";
import { AddressRate, RecentlyUsed } from "./client-address.ts";

/**
 * Bounds how fast one client address, and one user or token, may turn to channels that this isolate of the edge doesn't
 * know, because each may make an object (rule B18).
 */
export class NewChannels {
  readonly #clients = new AddressRate(rate);
  readonly #known = new RecentlyUsed<true>(limits.channelsRememberedMax);

  /**
   * Whether a client may turn to a channel now.
   *
   * @param clients the client's address, and its user or token; undefined for what isn't known: then there is no bound
   */
  admits(channel: string, clients: readonly (string | undefined)[], nowMs: number): boolean {
    if (this.#known.use(channel) !== undefined) return true;
    return clients.every((client) => this.#clients.admits(client, nowMs));
  }

  /** Notes that a channel has an object: a client that comes back to it takes nothing. */
  exists(channel: string): void {
    this.#known.set(channel, true);
  }
}

const rate = { burst: limits.addressChannelsBurst, perSecond: limits.addressChannelsPerSecond };
