import type { Config } from "../config/config.ts";
import type { CommandRates, Rate } from "../config/rate-limit.ts";
import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";
import { NewChannelBucket, type NamedChannels } from "./named-channels.ts";
import { TokenBucket } from "./token-bucket.ts";
import { partsOf } from "../config/name-parts.ts";

/** How many commands, how many of each kind, and how many new channels one connection may send now (rule B7). */
export class CommandRateLimit {
  /**
   * Which rate of `client.rate_limit` refused the last command that was refused, by the rest of its key; undefined for a
   * default.
   */
  exceeded: string | undefined;
  readonly #config: Pick<Config, "client" | "channel">;
  readonly #users: UserRates | undefined;
  /** All undefined until the first command of their kind. */
  #commands: TokenBucket | undefined;
  #subscribes: TokenBucket | undefined;
  #newChannels: NewChannelBucket | undefined;
  /** Undefined while there are no rates in the configuration that concern a command of this connection. */
  #configured: RateBuckets | undefined;
  #refusals: TokenBucket | undefined;

  /** @param users the rates of users; absent if the configuration has none */
  constructor(config: Pick<Config, "client" | "channel">, users?: UserRates) {
    this.#config = config;
    this.#users = users;
  }

  /**
   * Takes one command.
   *
   * @param user    who sends it; "" for an anonymous user
   * @param channel the channel that the command names; "" if it names none
   */
  admit(
    method: CommandMethod,
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> {
    // Pongs don't count: a pong without a ping closes the connection anyway (rule K8).
    if (method === "pong") return "granted";
    this.exceeded = undefined;
    for (const kind of ["total", method] as const) {
      const taken = this.#take(kind, user, channel, nowMs);
      if (taken !== "granted") return taken;
    }
    return "granted";
  }

  /**
   * Counts one channel to which the connection isn't subscribed, and whose object a granted command has to call (rule
   * B8).
   *
   * @param shared those of the object's clients
   * @param namer  the user, token or address for which the channel counts; undefined for the connection alone
   */
  takeChannel(
    channel: string,
    shared: NamedChannels,
    namer: string | undefined,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> {
    if (namer !== undefined && shared.admit(namer, channel, nowMs)) return "granted";
    const own = (this.#newChannels ??= new NewChannelBucket(shared.rate));
    if (namer === undefined) return own.takeChannel(channel, nowMs);
    // What is refused to all of a client's connections together is counted by each of them.
    return own.spend(nowMs) === "granted" ? "over" : "far-over";
  }

  /** Takes one command that the connection's own rates granted before the user was known. */
  takeForUser(
    method: CommandMethod,
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> {
    if (method === "pong") return "granted";
    this.exceeded = undefined;
    for (const kind of ["total", method] as const) {
      const taken = this.#takeUsers(kind, user, channel, nowMs);
      if (taken !== "granted") return taken;
    }
    return "granted";
  }

  /** Whether all buckets are full, so that this can be dropped: an object has thousands of connections. */
  isFull(nowMs: number): boolean {
    return (
      this.#configured?.isFull(nowMs) !== false &&
      this.#refusals?.isFull(nowMs) !== false &&
      this.#commands?.isFull(nowMs) !== false &&
      this.#subscribes?.isFull(nowMs) !== false &&
      this.#newChannels?.isFull(nowMs) !== false
    );
  }

  #take(
    kind: CommandMethod | "total",
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> {
    const own = this.#takeOwn(kind, channel, nowMs);
    if (own === "refused") return this.#refuse(`client_command.${kind}`, nowMs);
    return own !== "granted" || user === "" ? own : this.#takeUsers(kind, user, channel, nowMs);
  }

  #takeUsers(
    kind: CommandMethod | "total",
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> {
    if (this.#users?.admit(user, kind, channel, nowMs) !== false) return "granted";
    return this.#refuse(`user_command.${kind}`, nowMs);
  }

  /** @returns refused: by a rate of the configuration */
  #takeOwn(
    kind: CommandMethod | "total",
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["spend"]> | "refused" {
    const { client, channel: naming } = this.#config;
    const rates = client.rateLimit.get(kind);
    if (rates === undefined) return this.#takeDefault(kind, nowMs);
    this.#configured ??= new RateBuckets();
    switch (this.#configured.spend(rates, channel, naming, nowMs)) {
      case "granted":
        return "granted";
      case "no-rate":
        return this.#takeDefault(kind, nowMs);
      case "refused":
        return "refused";
    }
  }

  #refuse(exceeded: string, nowMs: number): "over" | "far-over" {
    this.exceeded = exceeded;
    this.#refusals ??= new TokenBucket(refusalRate);
    return this.#refusals.spend(nowMs) === "granted" ? "over" : "far-over";
  }

  #takeDefault(kind: CommandMethod | "total", nowMs: number): ReturnType<TokenBucket["spend"]> {
    if (kind === "total") return (this.#commands ??= new TokenBucket(commandRate)).spend(nowMs);
    if (kind !== "subscribe") return "granted";
    return (this.#subscribes ??= new TokenBucket(subscribeRate)).spend(nowMs);
  }
}

/** For the commands of one connection (rule B7). */
const commandRate: Rate = {
  burst: limits.commandsBurst,
  perSecond: limits.commandsPerSecond,
};

/**
 * For the commands of one connection that are refused because of the configuration (rule B22). Such a refusal doesn't
 * count as a command: a rate may be so low that a client which tries again would never be granted one.
 */
const refusalRate: Rate = {
  burst: limits.commandsOverRateBurst,
  perSecond: limits.commandsOverRatePerSecond,
};

/** For the subscribes of one connection, and for the tokens that it may have verified (rule B7). */
export const subscribeRate: Rate = {
  burst: limits.subscribesBurst,
  perSecond: limits.subscribesPerSecond,
};

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
  admit(user: string, kind: CommandMethod | "total", channel: string, nowMs: number): boolean {
    const { client, channel: naming } = this.#config;
    const rates = client.userRateLimit.get(kind);
    if (rates === undefined) return true;
    let buckets = this.#users.get(user);
    if (buckets === undefined) {
      this.#makeRoom(nowMs);
      buckets = new RateBuckets();
      this.#users.set(user, buckets);
    }
    return buckets.spend(rates, channel, naming, nowMs) !== "refused";
  }

  /** Forgets users that may send as much as new ones and, if all are busy, the one that has been counted longest. */
  #makeRoom(nowMs: number): void {
    if (this.#users.size < limits.userRatesMax) return;
    for (const [user, buckets] of this.#users) if (buckets.isFull(nowMs)) this.#users.delete(user);
    if (this.#users.size < limits.userRatesMax) return;
    const [oldest] = this.#users.keys();
    if (oldest !== undefined) this.#users.delete(oldest);
  }
}

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
   * @returns no-rate: the rates hold for other namespaces only
   */
  spend(
    rates: CommandRates,
    channel: string,
    naming: Config["channel"],
    nowMs: number,
  ): "granted" | "refused" | "no-rate" {
    const mine = rates.get(partsOf(channel, naming).namespace ?? "") ?? rates.get("");
    if (mine === undefined) return "no-rate";
    const buckets = mine.map((rate) => this.#bucketOf(rate));
    if (!buckets.every((bucket) => bucket.hasOne(nowMs))) return "refused";
    for (const bucket of buckets) bucket.spend(nowMs);
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

/**
 * How often a connection may have something large read for nothing (rule B16): an answer that is refused because of its
 * size costs as much as one that is sent, and doesn't add to the backlog, which bounds the others (rule F4). Undefined
 * until the first, which few connections have. What was read is noted as one of these wherever it is refused.
 */
export type VainReads = TokenBucket | undefined;

/** Whether what a command asks for may be read; otherwise the command is answered 111. */
export function mayRead({ vainReads }: Reader, nowMs: number): boolean {
  return vainReads?.hasOne(nowMs) !== false;
}

/** Notes that something was read for a connection, and not sent to it. */
export function readInVain(reader: Reader, nowMs: number): void {
  (reader.vainReads ??= new TokenBucket(vainReadRate)).spendIfLeft(nowMs);
}

/** A connection for which something is read. */
interface Reader {
  vainReads: VainReads;
}

const vainReadRate: Rate = { burst: limits.vainReadsBurst, perSecond: limits.vainReadsPerSecond };
