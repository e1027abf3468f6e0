import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";

/** How many commands, how many subscribes, and how many new channels one connection may send now (rule B7). */
export class CommandRateLimit {
  readonly #channelLimit: number;
  /** All undefined until the first command of their kind. */
  #commands: TokenBucket | undefined;
  #subscribes: TokenBucket | undefined;
  #newChannels: NewChannelBucket | undefined;

  /** @param channelLimit `client.channel_limit`: a client that comes back subscribes to so many channels at once */
  constructor(channelLimit: number) {
    this.#channelLimit = channelLimit;
  }

  /**
   * Takes one command.
   *
   * @param channel the channel that the command makes the server turn to; undefined if it names none, or one that the
   *                connection is subscribed to
   */
  take(
    method: CommandMethod,
    channel: string | undefined,
    nowMs: number,
  ): ReturnType<TokenBucket["take"]> {
    // Pongs don't count: a pong without a ping closes the connection anyway (rule K2).
    if (method === "pong") return "granted";
    this.#commands ??= new TokenBucket(commandRate);
    const taken = this.#commands.take(nowMs);
    if (taken !== "granted") return taken;
    if (method === "subscribe") {
      this.#subscribes ??= new TokenBucket(subscribeRate);
      const subscribed = this.#subscribes.take(nowMs);
      if (subscribed !== "granted") return subscribed;
    }
    if (channel === undefined) return "granted";
    this.#newChannels ??= new NewChannelBucket(newChannelRate(this.#channelLimit));
    return this.#newChannels.takeChannel(channel, nowMs);
  }

  /** Whether all buckets are full, so that this can be dropped: an object has thousands of connections. */
  isFull(nowMs: number): boolean {
    return (
      this.#commands?.isFull(nowMs) !== false &&
      this.#subscribes?.isFull(nowMs) !== false &&
      this.#newChannels?.isFull(nowMs) !== false
    );
  }
}

/** How often something may be done. */
export interface Rate {
  /** How many times at once. */
  readonly burst: number;
  readonly perSecond: number;
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
    this.#gain(nowMs);
    if (this.#left < 1) return false;
    this.#left--;
    return true;
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
