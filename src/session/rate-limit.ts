import type { CommandMethod } from "../protocol/command.ts";
import { Allowance, commandRate, subscribeRate } from "./allowance.ts";

/** What one connection has used lately of what it may ask for (rule B7). */
export class CommandAllowances {
  /** Both undefined until something is asked for. */
  #commands: Allowance | undefined;
  #subscribes: Allowance | undefined;

  take(method: CommandMethod, nowMs: number): ReturnType<Allowance["take"]> {
    // Pongs are answers: each was asked for, or closes the connection.
    if (method === "pong") return "granted";
    this.#commands ??= new Allowance(commandRate);
    const taken = this.#commands.take(nowMs);
    if (taken !== "granted" || method !== "subscribe") return taken;
    this.#subscribes ??= new Allowance(subscribeRate);
    return this.#subscribes.take(nowMs);
  }

  /** Whether all of it is left again: an object has thousands of connections, and this can go. */
  isWhole(nowMs: number): boolean {
    return this.#commands?.isWhole(nowMs) !== false && this.#subscribes?.isWhole(nowMs) !== false;
  }
}
