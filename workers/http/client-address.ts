import { limits } from "../../src/limits.ts";
import type { Rate } from "../../src/config/rate-limit.ts";
import { TokenBucket } from "../../src/session/token-bucket.ts";

/**
 * The address of a client as the server counts it: what one client can't change at will, an IPv4 address or the first 64
 * bits of an IPv6 address. It comes from the header that the runtime or the proxy in front sets.
 *
 * @param header the header's name; "" where every client could set it
 * @returns undefined if the address isn't known
 */
export function clientAddress(headers: Headers, header: string): string | undefined {
  const value = header === "" ? "" : (headers.get(header) ?? "");
  return value === "" || value.length > addressLengthMax ? undefined : networkOf(value);
}

/** An IPv6 address with an IPv4 address in it and a zone. */
const addressLengthMax = 64;

function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}

/**
 * Bounds how often each client address may do something in this isolate of the edge. Isolates share no memory, and each
 * starts with nothing: this holds back a flood from one place, and is no guarantee.
 */
export class AddressRate {
  readonly #rate: Rate;
  readonly #addresses = new RecentlyUsed<TokenBucket>(limits.addressesRememberedMax);

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * Whether a client may do it now.
   *
   * @param address of the client, see {@link clientAddress}; undefined if it isn't known: then there is no bound
   */
  admits(address: string | undefined, nowMs: number): boolean {
    if (address === undefined) return true;
    let bucket = this.#addresses.use(address);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.#rate);
      this.#addresses.set(address, bucket);
    }
    return bucket.spendIfLeft(nowMs);
  }
}

/** How often one client address may open connections without a token (rule B25). */
export const upgradeRate: Rate = {
  burst: limits.addressUpgradesBurst,
  perSecond: limits.addressUpgradesPerSecond,
};

/** A map of bounded size that forgets what wasn't used for longest. */
class RecentlyUsed<Value> {
  readonly #max: number;
  readonly #values = new Map<string, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The value of a name, which is then the one used last. */
  use(name: string): Value | undefined {
    const value = this.#values.get(name);
    if (value !== undefined) this.set(name, value);
    return value;
  }

  set(name: string, value: Value): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size <= this.#max) return;
    const [oldest] = this.#values.keys();
    if (oldest !== undefined) this.#values.delete(oldest);
  }
}

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
