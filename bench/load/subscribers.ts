import { setTimeout as pause } from "node:timers/promises";
import { DeliveryCount } from "./delivery-count.ts";
import { Receipts } from "./receipts.ts";
import type { Subscriber } from "./subscriber.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** One channel, with the number of its subscribers and publications. */
export interface LoadChannel {
  readonly channel: string;
  subscribers: number;
  published: number;
}

/** Whom a subscriber tells what happens at its socket. */
export interface SubscriberOwner {
  readonly failure: FailureSignal;
  /** Bytes read from the sockets. */
  bytes: number;
  channel(name: string): LoadChannel;
  /** So many publications are to arrive. */
  expect(publications: number): void;
  /** So many publications arrived at one subscriber. */
  deliver(publications: number): void;
}

/** All subscribers, and the deliveries that they expect. */
export class Subscribers implements SubscriberOwner {
  readonly failure: FailureSignal;
  readonly deliveries = new DeliveryCount();
  /** Only of subscribers that send receipts. */
  readonly receipts: Receipts;
  /** In the order in which they connected. */
  readonly all: Subscriber[] = [];
  /** Bytes read from the sockets. */
  bytes = 0;
  readonly #channels = new Map<string, LoadChannel>();

  constructor(failure: FailureSignal) {
    this.failure = failure;
    this.receipts = new Receipts(this.deliveries, failure);
  }

  channel(name: string): LoadChannel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = { channel: name, subscribers: 0, published: 0 };
    this.#channels.set(name, channel);
    return channel;
  }

  /** One publication to each of these channels is about to be posted. */
  publish(channels: readonly LoadChannel[]): void {
    let deliveries = 0;
    for (const channel of channels) {
      channel.published++;
      deliveries += channel.subscribers;
    }
    this.deliveries.expect(deliveries);
  }

  expect(deliveries: number): void {
    this.deliveries.expect(deliveries);
  }

  deliver(publications: number): void {
    if (!this.deliveries.deliver(publications))
      this.failure.raise(`${-this.deliveries.missing} more deliveries than were to come`);
  }

  /** The frames of all subscribers. */
  get frames(): number {
    return this.all.reduce((sum, { frames }) => sum + frames, 0);
  }

  /** Waits until all deliveries have arrived, and checks that each subscriber received its share. */
  async allDelivered(): Promise<void> {
    await this.deliveries.caughtUp();
    // The total would also be right if one socket lacked a publication that another received twice.
    const wrong = this.all.find(({ owed, publications }) => owed !== publications);
    if (wrong !== undefined) {
      const { owed, publications } = wrong;
      throw new Error(`a socket got ${publications} publications, and ${owed} were to come`);
    }
  }

  /**
   * Waits until nothing has come for a while. This is for a system that leaves out changes which newer ones replace.
   *
   * @returns how many deliveries were left out
   */
  async quiet(): Promise<number> {
    for (let before = -1; before !== this.deliveries.delivered;) {
      before = this.deliveries.delivered;
      await pause(quietMs);
    }
    return this.deliveries.giveUp();
  }

  /** Some of the subscribers, spread evenly, with the first and the last. */
  some(count: number): Subscriber[] {
    const last = this.all.length - 1;
    const places = Array.from({ length: count }, (_, index) =>
      Math.round((index * last) / (count - 1)),
    );
    return [...new Set(places)].flatMap((place) => this.all[place] ?? []);
  }
}

/** Several times as long as a frame waits behind another one. */
const quietMs = 300;
