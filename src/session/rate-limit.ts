import type { Config, Rate } from "../config/config.ts";
import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";
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
   * @param user       who sends it; "" for an anonymous user
   * @param channel    the channel that the command names; "" if it names none
   * @param unfamiliar the channel if the command makes the server turn to it, and the connection isn't subscribed to it
   */
  take(
    method: CommandMethod,
    user: string,
    channel: string,
    unfamiliar: string | undefined,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    // Pongs don't count: a pong without a ping closes the connection anyway (rule K2).
    if (method === "pong") return "granted";
    this.exceeded = undefined;
    for (const kind of ["total", method] as const) {
      const taken = this.#take(kind, user, channel, nowMs);
      if (taken !== "granted") return taken;
    }
    if (unfamiliar === undefined) return "granted";
    const rate = newChannelRate(this.#config.client.channelLimit);
    this.#newChannels ??= new NewChannelBucket(rate);
    return this.#newChannels.takeChannel(unfamiliar, nowMs);
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

/** How many different channels one connection may name: a channel that it named lately is none more. */
class NewChannelBucket extends TokenBucket {
  /**
   * The names that were granted, the one first that was named first. Of thousands of connections most name one channel,
   * so a single name has no set of its own, which takes 200 bytes.
   */
  #names: string | Set<string> | undefined;

  takeChannel(channel: string, nowMs: number): ReturnType<TokenBucket["take"]> {
    const names = this.#names;
    if (names === channel || (typeof names === "object" && names.has(channel))) return "granted";
    const taken = this.take(nowMs);
    if (taken === "granted") this.#add(channel);
    return taken;
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

/** For the commands of one connection (rule B7). */
const commandRate: Rate = {
  burst: limits.commandsBurst,
  perSecond: limits.commandsPerSecond,
};

/**
 * For the commands of one connection that are refused because of the configuration (rule B7). Such a refusal doesn't
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

/** For the channels that one connection names anew (rule B7). Made once, as all connections have the same limit. */
function newChannelRate(channelLimit: number): Rate {
  const burst = channelLimit + limits.newChannelsBurst;
  if (lastNewChannelRate?.burst !== burst)
    lastNewChannelRate = { burst, perSecond: limits.newChannelsPerSecond };
  return lastNewChannelRate;
}

let lastNewChannelRate: Rate | undefined;
