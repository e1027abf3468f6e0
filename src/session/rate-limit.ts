import { partsOf } from "../channel/channel-name.ts";
import type { Config, Rate } from "../config/config.ts";
import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";

/** How many commands, how many of each kind, and how many new channels one connection may send now (rule B7). */
export class CommandRateLimit {
  /** Which rate of `client.rate_limit` refused the last command that was refused; undefined for a default. */
  exceeded: string | undefined;
  readonly #config: Pick<Config, "client" | "channel">;
  /** All undefined until the first command of their kind. */
  #commands: TokenBucket | undefined;
  #subscribes: TokenBucket | undefined;
  #newChannels: NewChannelBucket | undefined;
  /** Undefined while there are no rates in the configuration that concern a command of this connection. */
  #configured: Map<Rate, TokenBucket> | undefined;

  constructor(config: Pick<Config, "client" | "channel">) {
    this.#config = config;
  }

  /**
   * Takes one command.
   *
   * @param channel    the channel that the command names; "" if it names none
   * @param unfamiliar the channel if the command makes the server turn to it, and the connection isn't subscribed to it
   */
  take(
    method: CommandMethod,
    channel: string,
    unfamiliar: string | undefined,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    // Pongs don't count: a pong without a ping closes the connection anyway (rule K2).
    if (method === "pong") return "granted";
    this.exceeded = undefined;
    const ofAll = this.#take("total", "", nowMs);
    if (ofAll !== "granted") return ofAll;
    const ofKind = this.#take(method, channel, nowMs);
    if (ofKind !== "granted" || unfamiliar === undefined) return ofKind;
    const rate = newChannelRate(this.#config.client.channelLimit);
    this.#newChannels ??= new NewChannelBucket(rate);
    return this.#newChannels.takeChannel(unfamiliar, nowMs);
  }

  /** Whether all buckets are full, so that this can be dropped: an object has thousands of connections. */
  isFull(nowMs: number): boolean {
    for (const bucket of this.#configured?.values() ?? []) if (!bucket.isFull(nowMs)) return false;
    return (
      this.#commands?.isFull(nowMs) !== false &&
      this.#subscribes?.isFull(nowMs) !== false &&
      this.#newChannels?.isFull(nowMs) !== false
    );
  }

  #take(
    kind: CommandMethod | "total",
    channel: string,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    const { client, channel: naming } = this.#config;
    const configured = client.rateLimit.get(kind);
    const rates = configured?.get(partsOf(channel, naming).namespace ?? "") ?? configured?.get("");
    if (rates === undefined) return this.#takeDefault(kind, nowMs);
    const buckets = rates.map((rate) => this.#bucketOf(rate));
    if (buckets.every((bucket) => bucket.hasOne(nowMs))) {
      for (const bucket of buckets) bucket.take(nowMs);
      return "granted";
    }
    this.exceeded = kind;
    return this.#bucketOf(refusalRate).take(nowMs) === "granted" ? "over" : "far-over";
  }

  #takeDefault(kind: CommandMethod | "total", nowMs: number): ReturnType<TokenBucket["take"]> {
    if (kind === "total") return (this.#commands ??= new TokenBucket(commandRate)).take(nowMs);
    if (kind !== "subscribe") return "granted";
    return (this.#subscribes ??= new TokenBucket(subscribeRate)).take(nowMs);
  }

  /** The connection's bucket for a rate of the configuration, which all connections share. */
  #bucketOf(rate: Rate): TokenBucket {
    this.#configured ??= new Map();
    const known = this.#configured.get(rate);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(rate);
    this.#configured.set(rate, bucket);
    return bucket;
  }
}

/**
 * A token bucket (rule B7). It lives in memory only: after hibernation, which only a quiet client allows, the bucket is
 * full again.
 */
export class TokenBucket {
  protected readonly rate: Rate;
  #left: number;
  #countedAtMs = 0;

  /** @param rate may be shared, because each connection has several buckets */
  constructor(rate: Rate) {
    this.rate = rate;
    this.#left = rate.burst;
  }

  /**
   * Takes one.
   *
   * @returns over: refused. far-over: refused, after as many refusals as the burst allows commands.
   */
  take(nowMs: number): "granted" | "over" | "far-over" {
    this.#gain(nowMs);
    this.#left--;
    if (this.#left >= 0) return "granted";
    if (this.#left >= -this.rate.burst) return "over";
    return "far-over";
  }

  /**
   * Takes one if there is one. Unlike with {@link take}, a refusal doesn't count. This is for a bucket that many
   * clients share: if refusals counted, clients that retry would keep the bucket empty for ever.
   */
  takeIfLeft(nowMs: number): boolean {
    const isLeft = this.hasOne(nowMs);
    if (isLeft) this.#left--;
    return isLeft;
  }

  /** Whether {@link take} would be granted. */
  hasOne(nowMs: number): boolean {
    this.#gain(nowMs);
    return this.#left >= 1;
  }

  /** Whether the bucket is full, and so as good as a new one. */
  isFull(nowMs: number): boolean {
    this.#gain(nowMs);
    return this.#left >= this.rate.burst;
  }

  #gain(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#countedAtMs) / 1000) * this.rate.perSecond;
    this.#countedAtMs = nowMs;
    this.#left = Math.min(this.rate.burst, this.#left + gained);
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
