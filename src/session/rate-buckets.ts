import { partsOf } from "../config/name-parts.ts";
import type { CommandRates, Config, Rate } from "../config/config.ts";
import { TokenBucket } from "./token-bucket.ts";

/** The buckets of one connection, or of one user on one object, for rates of the configuration (rule B21). */
export class RateBuckets {
  /** All connections and users share the rates, and have buckets of their own. */
  readonly #buckets = new Map<Rate, TokenBucket>();

  /**
   * Takes one command.
   *
   * @param rates   those of the command's kind
   * @param channel the channel that the command names; "" if it names none
   * @param naming  the namespaces
   * @returns no-rate: the rates concern other namespaces only
   */
  take(
    rates: CommandRates,
    channel: string,
    naming: Config["channel"],
    nowMs: number,
  ): "granted" | "refused" | "no-rate" {
    const mine = rates.get(partsOf(channel, naming).namespace ?? "") ?? rates.get("");
    if (mine === undefined) return "no-rate";
    const buckets = mine.map((rate) => this.#bucketOf(rate));
    if (!buckets.every((bucket) => bucket.hasOne(nowMs))) return "refused";
    for (const bucket of buckets) bucket.take(nowMs);
    return "granted";
  }

  /** Whether all buckets are full, so that this can be dropped. */
  isFull(nowMs: number): boolean {
    for (const bucket of this.#buckets.values()) if (!bucket.isFull(nowMs)) return false;
    return true;
  }

  #bucketOf(rate: Rate): TokenBucket {
    const known = this.#buckets.get(rate);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(rate);
    this.#buckets.set(rate, bucket);
    return bucket;
  }
}
