import { subscriptionTypes } from "../../../src/protocol/command.ts";
import type { ReceivedPublication, Subscriber } from "./client-subscription.ts";
import { MirrorSubscription } from "./mirror-subscription.ts";
import { presenceKindOf } from "./presence-kinds.ts";

/** One client's subscriptions to a presence map. */
export class PresenceSubscription extends MirrorSubscription {
  /** The keys as the client has them; those of the last subscription once it has ended. */
  readonly keys = new Set<string>();
  readonly #isOfClients: boolean;

  constructor(channel: string, subscriber: Subscriber) {
    const isOfClients = presenceKindOf(channel) === "clients";
    super(channel, subscriptionTypes[isOfClients ? "map_clients" : "map_users"], subscriber);
    this.#isOfClients = isOfClients;
  }

  override checkAt(): void {
    // The keys are compared with the clients that are there.
  }

  protected override clear(): void {
    this.keys.clear();
  }

  protected override has(key: string): boolean {
    return this.keys.has(key);
  }

  protected override change({ key = "", removed, info }: ReceivedPublication): void {
    if (removed === true) {
      this.keys.delete(key);
      return;
    }
    this.keys.add(key);
    const client = info?.client ?? "";
    if (client !== (this.#isOfClients ? key : "")) this.complain(`has ${client} for ${key}`);
  }
}
