import { ClientSubscription, type Subscriber } from "./client-subscription.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { WorldContext } from "./world-context.ts";

/** One client's subscriptions to a channel that keeps what its users have got. */
export class CursorSubscription extends ClientSubscription {
  readonly #user: string;
  readonly #context: WorldContext;
  /** What has arrived since the last ping, and before it, on this subscription. */
  #isNew: StreamPosition[] = [];
  #isAnswered: StreamPosition[] = [];

  constructor(channel: string, subscriber: Subscriber, given: boolean) {
    super(channel, subscriber, given);
    this.#user = subscriber.user;
    this.#context = subscriber.context;
  }

  protected override arrived(position: StreamPosition): void {
    this.#context.cursors.arrived(this.channel, this.#user, position);
    this.#isNew.push(position);
  }

  override pinged(): void {
    for (const position of this.#isAnswered)
      this.#context.cursors.isSure(this.channel, this.#user, position);
    this.#isAnswered.push(...this.#isNew.splice(0));
  }

  override lose(code: number): void {
    super.lose(code);
    this.#begin();
  }

  override end(forgets = false): void {
    super.end(forgets);
    this.#begin();
  }

  #begin(): void {
    this.#isNew = [];
    this.#isAnswered = [];
  }
}
