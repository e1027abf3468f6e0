import { Ledger } from "./ledger.ts";
import type { Subscriber } from "./subscriber.ts";
import type { Trouble } from "./trouble.ts";

/** One channel: how many listen to it, and how much was published in it. */
export interface Room {
  readonly channel: string;
  listeners: number;
  published: number;
}

/** Everybody who listens, and what they have to get. */
export class Audience {
  readonly trouble: Trouble;
  readonly ledger = new Ledger();
  /** In the order in which they came. */
  readonly subscribers: Subscriber[] = [];
  /** Read from their sockets. */
  bytes = 0;
  readonly #rooms = new Map<string, Room>();

  constructor(trouble: Trouble) {
    this.trouble = trouble;
  }

  room(channel: string): Room {
    const known = this.#rooms.get(channel);
    if (known !== undefined) return known;
    const room = { channel, listeners: 0, published: 0 };
    this.#rooms.set(channel, room);
    return room;
  }

  /** One publication is about to be posted to each of them. */
  publish(rooms: readonly Room[]): void {
    let deliveries = 0;
    for (const room of rooms) {
      room.published++;
      deliveries += room.listeners;
    }
    this.ledger.expect(deliveries);
  }

  /** So many publications came to somebody. */
  deliver(publications: number): void {
    if (!this.ledger.deliver(publications))
      this.trouble.raise(`${-this.ledger.missing} more deliveries than were to come`);
  }

  /** Of all of them. */
  get frames(): number {
    return this.subscribers.reduce((sum, { frames }) => sum + frames, 0);
  }

  /** Waits until everything was delivered, and sees that each of them got its share. */
  async allDelivered(): Promise<void> {
    await this.ledger.caughtUp();
    // A total would be right as well if one socket lacked what another got twice.
    const wrong = this.subscribers.find(({ owed, publications }) => owed !== publications);
    if (wrong !== undefined) {
      const { owed, publications } = wrong;
      throw new Error(`a socket got ${publications} publications, and ${owed} were to come`);
    }
  }

  /** Some of them, spread evenly, the first and the last among them. */
  some(count: number): Subscriber[] {
    const last = this.subscribers.length - 1;
    const places = Array.from({ length: count }, (_, index) =>
      Math.round((index * last) / (count - 1)),
    );
    return [...new Set(places)].flatMap((place) => this.subscribers[place] ?? []);
  }
}
