import { limits } from "../../src/limits.ts";
import { TokenBucket } from "../../src/session/rate-limit.ts";

/**
 * Bounds how fast one client address may turn to channels that this isolate of the edge doesn't know, because each may
 * make an object (rule B7). Isolates share no memory, and each starts with nothing: this holds back a flood from one
 * place, and is no guarantee.
 */
export class NewChannels {
  readonly #addresses = new RecentlyUsed<TokenBucket>(limits.addressesRememberedMax);
  readonly #known = new RecentlyUsed<true>(limits.channelsRememberedMax);

  /**
   * Whether a client may turn to a channel now.
   *
   * @param address of the client; undefined if it isn't known: then there is no bound
   */
  admits(channel: string, address: string | undefined, nowMs: number): boolean {
    if (address === undefined || this.#known.use(channel) !== undefined) return true;
    const source = sourceOf(address);
    let bucket = this.#addresses.use(source);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate);
      this.#addresses.set(source, bucket);
    }
    return bucket.takeIfLeft(nowMs);
  }

  /** Notes that a channel has an object: a client that comes back to it takes nothing. */
  exists(channel: string): void {
    this.#known.set(channel, true);
  }
}

/**
 * The client's address, from the header that the runtime or the proxy in front sets.
 *
 * @param header the header's name; "" where every client could set it
 */
export function clientAddress(headers: Headers, header: string): string | undefined {
  const value = header === "" ? "" : (headers.get(header) ?? "");
  return value === "" || value.length > addressLengthMax ? undefined : value;
}

const rate = { burst: limits.addressChannelsBurst, perSecond: limits.addressChannelsPerSecond };

/** An IPv6 address with an IPv4 address in it and a zone. */
const addressLengthMax = 64;

/** The part of an address that one client can't change: all of an IPv4 address, or 64 bits of an IPv6 address. */
function sourceOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}

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
