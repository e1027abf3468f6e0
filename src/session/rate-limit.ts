import type { CommandMethod } from "../protocol/command.ts";
import { limits } from "../limits.ts";

/** What one connection has used lately of what it may ask for (rule B7). */
export class CommandRateLimit {
  /** Both undefined until something is asked for. */
  #commands: TokenBucket | undefined;
  #subscribes: TokenBucket | undefined;

  take(method: CommandMethod, nowMs: number): ReturnType<TokenBucket["take"]> {
    // Pongs are answers: each was asked for, or closes the connection.
    if (method === "pong") return "granted";
    this.#commands ??= new TokenBucket(commandRate);
    const taken = this.#commands.take(nowMs);
    if (taken !== "granted" || method !== "subscribe") return taken;
    this.#subscribes ??= new TokenBucket(subscribeRate);
    return this.#subscribes.take(nowMs);
  }

  /** Whether all of it is left again: an object has thousands of connections, and this can go. */
  isWhole(nowMs: number): boolean {
    return this.#commands?.isWhole(nowMs) !== false && this.#subscribes?.isWhole(nowMs) !== false;
  }
}

/** How often something may be done: so many times at once, and so many times a second. */
interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * How often somebody may do something: so many times at once, and then so many times a second (rule B7). It lives in
 * memory only: whoever is so quiet that its object sleeps has all of it again.
 */
export class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #countedAtMs = 0;

  /** @param rate may be shared: each connection has several of these */
  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /**
   * Takes one.
   *
   * @returns over: it is more than allowed, and refused. far-over: as often as that again was refused lately.
   */
  take(nowMs: number): "granted" | "over" | "far-over" {
    this.#gain(nowMs);
    this.#left--;
    if (this.#left >= 0) return "granted";
    if (this.#left >= -this.#rate.burst) return "over";
    return "far-over";
  }

  /**
   * Takes one if there is one: a refusal costs nothing. For many who ask independently of each other: were those who come
   * again counted, their asking alone would keep everybody out for ever.
   */
  takeIfLeft(nowMs: number): boolean {
    this.#gain(nowMs);
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Whether all of it is left: then it is as good as a new one. */
  isWhole(nowMs: number): boolean {
    this.#gain(nowMs);
    return this.#left >= this.#rate.burst;
  }

  #gain(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#countedAtMs) / 1000) * this.#rate.perSecond;
    this.#countedAtMs = nowMs;
    this.#left = Math.min(this.#rate.burst, this.#left + gained);
  }
}

/** The commands of one connection (rule B7). */
const commandRate: Rate = {
  burst: limits.commandsBurst,
  perSecond: limits.commandsPerSecond,
};

/** Its subscribe commands, and with them the tokens it may have verified. */
export const subscribeRate: Rate = {
  burst: limits.subscribesBurst,
  perSecond: limits.subscribesPerSecond,
};
