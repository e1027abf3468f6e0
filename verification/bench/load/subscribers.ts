import { DeliveryCount } from "./delivery-count.ts";
import type { Subscriber } from "./subscriber.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** One channel: how many listen to it, and how much was published in it. */
export interface LoadChannel {
  readonly channel: string;
  subscribers: number;
  published: number;
}

/** Everybody who listens, and what they have to get. */
export class Subscribers {
  readonly failure: FailureSignal;
  readonly deliveries = new DeliveryCount();
  /** In the order in which they came. */
  readonly all: Subscriber[] = [];
  /** Read from their sockets. */
  bytes = 0;
  readonly #channels = new Map<string, LoadChannel>();

  constructor(failure: FailureSignal) {
    this.failure = failure;
  }

  channel(name: string): LoadChannel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = { channel: name, subscribers: 0, published: 0 };
    this.#channels.set(name, channel);
    return channel;
  }

  /** One publication is about to be posted to each of them. */
  publish(channels: readonly LoadChannel[]): void {
    let deliveries = 0;
    for (const channel of channels) {
      channel.published++;
      deliveries += channel.subscribers;
    }
    this.deliveries.expect(deliveries);
  }

  /** So many publications came to somebody. */
  deliver(publications: number): void {
    if (!this.deliveries.deliver(publications))
      this.failure.raise(`${-this.deliveries.missing} more deliveries than were to come`);
  }

  /** Of all of them. */
  get frames(): number {
    return this.all.reduce((sum, { frames }) => sum + frames, 0);
  }

  /** Waits until everything was delivered, and sees that each of them got its share. */
  async allDelivered(): Promise<void> {
    await this.deliveries.caughtUp();
    // A total would be right as well if one socket lacked what another got twice.
    const wrong = this.all.find(({ owed, publications }) => owed !== publications);
    if (wrong !== undefined) {
      const { owed, publications } = wrong;
      throw new Error(`a socket got ${publications} publications, and ${owed} were to come`);
    }
  }

  /** Some of them, spread evenly, the first and the last among them. */
  some(count: number): Subscriber[] {
    const last = this.all.length - 1;
    const places = Array.from({ length: count }, (_, index) =>
      Math.round((index * last) / (count - 1)),
    );
    return [...new Set(places)].flatMap((place) => this.all[place] ?? []);
  }
}
