import {
  ClientSubscription,
  type ReceivedPublication,
  type ReceivedResult,
  type Subscriber,
} from "../client-subscription.ts";
import type { WorldContext } from "../world-context.ts";

/** One client's subscriptions to a channel whose publications are changed: each offset comes once, and nothing that was gone. */
export class ChangedSubscription extends ClientSubscription {
  readonly #who: string;
  readonly #context: WorldContext;
  readonly #frameMoment: () => number;
  #askedAtMs = 0;
  /** The event in which the subscription began, as the server sent it. */
  #begun = 0;

  constructor(channel: string, subscriber: Subscriber) {
    super(channel, subscriber);
    this.#who = subscriber.who;
    this.#context = subscriber.context;
    this.#frameMoment = subscriber.frameMoment;
  }

  override get request(): object {
    this.#askedAtMs = this.#context.timeline.nowMs;
    return super.request;
  }

  override begin(result: ReceivedResult): void {
    const { epoch = "", offset = 0, recovered = false, publications = [] } = result;
    this.state = "on";
    this.#begun = this.#frameMoment();
    this.isOrdered = false;
    this.isRevoked = false;
    this.members.clear();
    if (!recovered || this.position === undefined) this.position = { epoch, offset };
    for (const publication of publications) this.#got(publication);
    this.#context.changes.given(this.#who, this.channel, publications, this.#askedAtMs);
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving === 0 && this.state === "on") this.#got(publication);
  }

  override lose(): void {
    this.losses++;
    this.state = "off";
    this.generation++;
  }

  override end(forgets = false): void {
    if (forgets) this.position = undefined;
    this.isOrdered = false;
    this.state = "off";
    this.generation++;
  }

  #got(publication: ReceivedPublication): void {
    const { position } = this;
    const { offset = 0 } = publication;
    if (position === undefined) return;
    if (offset !== position.offset + 1) this.complain(`got ${offset} after ${position.offset}`);
    this.position = { ...position, offset };
    this.received.push(String(publication.data));
    const sent = { askedAtMs: this.#askedAtMs, begun: this.#begun, moment: this.#frameMoment() };
    this.#context.changes.sent(this.#who, this.channel, publication, sent);
  }
}
