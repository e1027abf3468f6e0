import type { Config } from "../config/config.ts";
import { limits } from "../limits.ts";
import type { CommandMethod } from "../protocol/command.ts";
import { RateBuckets } from "./rate-buckets.ts";

/**
 * How fast the users of one object may send commands, each user with all connections on the object together (rule B21).
 * It lives in memory only, and other objects count for themselves.
 */
export class UserRates {
  readonly #config: Pick<Config, "client" | "channel">;
  readonly #users = new Map<string, RateBuckets>();

  constructor(config: Pick<Config, "client" | "channel">) {
    this.#config = config;
  }

  /**
   * Takes one command of a user.
   *
   * @param channel the channel that the command names; "" if it names none
   * @returns whether the rates allow it
   */
  take(user: string, kind: CommandMethod | "total", channel: string, nowMs: number): boolean {
    const { client, channel: naming } = this.#config;
    const rates = client.userRateLimit.get(kind);
    if (rates === undefined) return true;
    let buckets = this.#users.get(user);
    if (buckets === undefined) {
      this.#makeRoom(nowMs);
      buckets = new RateBuckets();
      this.#users.set(user, buckets);
    }
    return buckets.take(rates, channel, naming, nowMs) !== "refused";
  }

  /** Forgets users who may send as much as new ones and, if all are busy, the one that has been counted longest. */
  #makeRoom(nowMs: number): void {
    if (this.#users.size < limits.userRatesMax) return;
    for (const [user, buckets] of this.#users) if (buckets.isFull(nowMs)) this.#users.delete(user);
    if (this.#users.size < limits.userRatesMax) return;
    const [oldest] = this.#users.keys();
    if (oldest !== undefined) this.#users.delete(oldest);
  }
}
