import type { RawSubscription } from "./raw-subscription.ts";
import { tickMs } from "../subscriber.ts";

/** The commands of one connection that aren't answered yet. */
export class RawCommands {
  readonly #waiting = new Map<number, { readonly asked: Asked; readonly tick: number }>();
  #ids = 0;
  #ticks = 0;

  /** Gives the command for a request. */
  ask(asked: Asked, request: object): object {
    const id = ++this.#ids;
    this.#waiting.set(id, { asked, tick: this.#ticks });
    return { id, ...request };
  }

  /** The request with this id; undefined if it was answered before or never sent. */
  take(id: number): Asked | undefined {
    const found = this.#waiting.get(id);
    this.#waiting.delete(id);
    return found?.asked;
  }

  /** @returns whether a command has waited for longer than SDKs wait, as they are configured here */
  tick(): boolean {
    this.#ticks++;
    // The oldest command comes first.
    for (const { tick } of this.#waiting.values())
      return this.#ticks - tick > replyTimeoutMs / tickMs;
    return false;
  }

  /** Forgets all commands; none will be answered any more. */
  clear(): void {
    this.#waiting.clear();
  }
}

export interface AskedPublish {
  readonly method: "publish";
  readonly subscription: RawSubscription;
  /** The generation of the subscription when the command was sent. */
  readonly generation: number;
}

/** A command that isn't answered yet. */
export type Asked =
  | { readonly method: "connect" }
  | {
      readonly method: "subscribe";
      readonly subscription: RawSubscription;
      readonly recovers: boolean;
    }
  | { readonly method: "unsubscribe"; readonly subscription: RawSubscription }
  | { readonly method: "rpc" }
  | AskedPublish;

const replyTimeoutMs = 5_000;
