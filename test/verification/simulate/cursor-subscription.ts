import { ClientSubscription } from "./client-subscription.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { WorldContext } from "./world-context.ts";

/** One client's subscriptions to a channel that keeps what its users have got. */
export class CursorSubscription extends ClientSubscription {
  readonly #user: string;
  readonly #context: WorldContext;

  constructor(
    channel: string,
    given: boolean,
    {
      who,
      user,
      context,
    }: { readonly who: string; readonly user: string; readonly context: WorldContext },
  ) {
    super(channel, given, who, context.publicationLog, context.eventLog);
    this.#user = user;
    this.#context = context;
  }

  protected override arrived(position: StreamPosition): void {
    this.#context.cursors.arrived(this.channel, this.#user, position);
  }
}
