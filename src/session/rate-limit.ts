import type { Config, Rate } from "../config/config.ts";
import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";
import { NewChannelBucket, type NamedChannels } from "./named-channels.ts";
import { RateBuckets } from "./rate-buckets.ts";
import { TokenBucket } from "./token-bucket.ts";
import type { UserRates } from "./user-rates.ts";

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
  take(
    method: CommandMethod,
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
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
   * Takes one channel that a granted command makes the server turn to, and to which the connection isn't subscribed (rule
   * B8).
   *
   * @param shared those of the object's clients
   * @param namer  whom the channel counts for; undefined for the connection
   */
  takeChannel(
    channel: string,
    shared: NamedChannels,
    namer: string | undefined,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    if (namer !== undefined && shared.take(namer, channel, nowMs)) return "granted";
    const own = (this.#newChannels ??= new NewChannelBucket(shared.rate));
    if (namer === undefined) return own.takeChannel(channel, nowMs);
    // What is refused to all of a client's connections together is counted by each of them.
    return own.take(nowMs) === "granted" ? "over" : "far-over";
  }

  /** Takes one command that the connection's own rates granted before the user was known. */
  takeForUser(
    method: CommandMethod,
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
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
  ): ReturnType<TokenBucket["take"]> {
    const own = this.#takeOwn(kind, channel, nowMs);
    if (own === "refused") return this.#refuse(`client_command.${kind}`, nowMs);
    return own !== "granted" || user === "" ? own : this.#takeUsers(kind, user, channel, nowMs);
  }

  #takeUsers(
    kind: CommandMethod | "total",
    user: string,
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    if (this.#users?.take(user, kind, channel, nowMs) !== false) return "granted";
    return this.#refuse(`user_command.${kind}`, nowMs);
  }

  /** @returns refused: by a rate of the configuration */
  #takeOwn(
    kind: CommandMethod | "total",
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> | "refused" {
    const { client, channel: naming } = this.#config;
    const rates = client.rateLimit.get(kind);
    if (rates === undefined) return this.#takeDefault(kind, nowMs);
    this.#configured ??= new RateBuckets();
    switch (this.#configured.take(rates, channel, naming, nowMs)) {
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
    return this.#refusals.take(nowMs) === "granted" ? "over" : "far-over";
  }

  #takeDefault(kind: CommandMethod | "total", nowMs: number): ReturnType<TokenBucket["take"]> {
    if (kind === "total") return (this.#commands ??= new TokenBucket(commandRate)).take(nowMs);
    if (kind !== "subscribe") return "granted";
    return (this.#subscribes ??= new TokenBucket(subscribeRate)).take(nowMs);
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
