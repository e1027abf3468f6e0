import type { Config } from "../../../config/config.ts";
import type { ObjectPart, PartedGateway } from "../../../object/part.ts";
import type { Subscription } from "../../../session/subscription.ts";
import { pusherLimits } from "../limits.ts";
import { countsSubscriptions } from "./app-channel.ts";

declare module "../../../contract/relay-request.ts" {
  interface RelayRequests {
    /** How many subscriptions a gateway has to the channel. */
    readonly subscriptions: { readonly count: number };
  }
}

/** Reports to the objects of channels how many subscriptions a gateway has, once for many changes (rule PU15). */
export class SubscriptionCounter implements ObjectPart {
  readonly #object: PartedGateway;
  readonly #config: Config;
  /** The channels whose number has changed. */
  readonly #changed = new Set<string>();

  constructor(object: PartedGateway) {
    this.#object = object;
    this.#config = object.config;
  }

  entryOfBegin({ channel }: Subscription): undefined {
    this.#note(channel);
  }

  leave({ channel }: Subscription): void {
    this.#note(channel);
  }

  #note(channel: string): void {
    if (!countsSubscriptions(this.#config, channel)) return;
    if (this.#changed.size === 0)
      this.#object.later(pusherLimits.countWaitMs, () => this.#report());
    this.#changed.add(channel);
  }

  #report(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    const { gateway } = this.#object;
    for (const channel of changed) {
      const count = gateway.follower(channel)?.subscriberCount ?? 0;
      gateway.ask(channel, { method: "subscriptions", count }, ({ outcome }) => {
        if (outcome === "failed") this.#note(channel);
      });
    }
  }
}
