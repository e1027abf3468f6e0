import type { Rate } from "../config/rate-limit.ts";
import { limits } from "../limits.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";
import { TokenBucket } from "./token-bucket.ts";

/**
 * How many channels the clients of one object name anew, each with all its connections, those that have ended included
 * (rule B8). It lives in memory only, and other objects count for themselves: a client that comes back is placed in the
 * object that it left, unless that is full (rule G3).
 */
export class NamedChannels {
  readonly rate: Rate;
  readonly #namers = new Map<string, NewChannelBucket>();
  #names = 0;
  #forgetsAt = forgetFrom;

  /** @param channelLimit channels that a connection may have, and so may name at once beside the burst */
  constructor(channelLimit: number) {
    const burst = channelLimit + limits.newChannelsBurst;
    this.rate = { burst, perSecond: limits.newChannelsPerSecond };
  }

  /**
   * Whether a client may name a channel now; one that it named lately is none more.
   *
   * @param namer see {@link namerOf}
   */
  admit(namer: string, channel: string, nowMs: number): boolean {
    const bucket = this.#namers.get(namer) ?? new NewChannelBucket(this.rate);
    this.#namers.set(namer, bucket);
    const { size } = bucket;
    const isTaken = bucket.takeChannelIfLeft(channel, nowMs);
    this.#names += bucket.size - size;
    if (this.#names > this.#forgetsAt) this.#forget(nowMs);
    return isTaken;
  }

  /**
   * Forgets clients that may name as many channels as new ones and, if there are too many others, those that came
   * first.
   */
  #forget(nowMs: number): void {
    for (const [namer, bucket] of this.#namers) {
      if (this.#names <= limits.newChannelNamesMax && !bucket.isFull(nowMs)) continue;
      this.#namers.delete(namer);
      this.#names -= bucket.size;
    }
    this.#forgetsAt = Math.min(Math.max(2 * this.#names, forgetFrom), limits.newChannelNamesMax);
  }
}

/** How many different channels one client may name: a channel that it named lately is none more. */
export class NewChannelBucket extends TokenBucket {
  /**
   * The names that were granted, the one first that was named first. Of thousands of connections most name one channel,
   * so a single name has no set of its own, which takes 200 bytes.
   */
  #names: string | Set<string> | undefined;

  /** How many names are remembered. */
  get size(): number {
    return typeof this.#names === "object" ? this.#names.size : this.#names === undefined ? 0 : 1;
  }

  /** Takes one like {@link TokenBucket.spend}, unless the name is remembered. */
  takeChannel(channel: string, nowMs: number): ReturnType<TokenBucket["spend"]> {
    if (this.#remembers(channel)) return "granted";
    const taken = this.spend(nowMs);
    if (taken === "granted") this.#add(channel);
    return taken;
  }

  /** The same like {@link TokenBucket.spendIfLeft}. */
  takeChannelIfLeft(channel: string, nowMs: number): boolean {
    if (this.#remembers(channel)) return true;
    const isTaken = this.spendIfLeft(nowMs);
    if (isTaken) this.#add(channel);
    return isTaken;
  }

  #remembers(channel: string): boolean {
    const names = this.#names;
    return names === channel || (typeof names === "object" && names.has(channel));
  }

  #add(channel: string): void {
    if (this.#names === undefined) {
      this.#names = channel;
      return;
    }
    const names = typeof this.#names === "string" ? new Set([this.#names]) : this.#names;
    const [oldest] = names;
    if (oldest !== undefined && names.size >= this.rate.burst) names.delete(oldest);
    names.add(channel);
    this.#names = names;
  }
}

/**
 * Whom the channels that a connection names count for: its user, or else its token, or else the address of its client.
 * Undefined if none is known: then they count for the connection. A token without an ID is known by its other claims, and
 * one that claims nothing counts as none.
 */
export function namerOf({
  claims,
  byHook,
  address,
  onlooker,
}: Pick<SessionIdentity, "claims" | "byHook" | "address" | "onlooker">): string | undefined {
  if (onlooker === true) return undefined;
  if (claims !== undefined && claims.user !== "") return `user ${claims.user}`;
  if (claims?.uid !== undefined) return `token ${claims.uid}`;
  const { issuedAtSeconds = 0, expireAtSeconds = 0, info = "" } = claims ?? {};
  const isByToken = byHook !== true && (issuedAtSeconds > 0 || expireAtSeconds > 0 || info !== "");
  if (isByToken) return `token ${issuedAtSeconds} ${expireAtSeconds} ${info}`;
  return address === undefined ? undefined : `from ${address}`;
}

/** So few names aren't worth looking for those that may be forgotten. */
const forgetFrom = 1_000;
