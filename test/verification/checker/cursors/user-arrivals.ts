/** What the clients of one user have received of a channel's stream, and when. */
export class UserArrivals {
  readonly #byOffset = new Map<number, Arrival[]>();

  /** A client of the user has received a publication. */
  add(offset: number, arrival: Arrival): void {
    const known = this.#byOffset.get(offset);
    if (known === undefined) this.#byOffset.set(offset, [arrival]);
    else known.push(arrival);
  }

  has(offset: number): boolean {
    return this.#byOffset.has(offset);
  }

  /** When the first client received it, µs; Infinity if none has. */
  firstTime(offset: number): number {
    return this.#byOffset.get(offset)?.[0]?.time ?? Infinity;
  }

  /** The first offset after one, and up to another one, that no client has received; undefined if there is none. */
  firstMissing(after: number, to: number): number | undefined {
    for (let offset = after + 1; offset <= to; offset++) if (!this.has(offset)) return offset;
    return undefined;
  }

  /**
   * Whether the channel's object certainly knew at a time that it has arrived. A client that has received it has answered two
   * pings since then, so the object has the first answer; and two after that time, so its instance was the same.
   *
   * @param microseconds by how much the time may be wrong
   */
  wasProven(offset: number, time: number, microseconds: number): boolean {
    return (this.#byOffset.get(offset) ?? []).some(({ time: arrivedTime, subscription }) => {
      const { pongs } = subscription;
      const since = pongs.filter((pong) => pong > arrivedTime && pong < time - microseconds);
      return since.length >= 2 && pongs.filter((pong) => pong > time + microseconds).length >= 2;
    });
  }
}

/** A publication arrived at a client. */
interface Arrival {
  readonly time: number;
  readonly subscription: UserSubscription;
}

/** One subscription of a client of a user. */
export interface UserSubscription {
  readonly user: string;
  /** When the client answered pings, if that is known, µs. */
  readonly pongs: number[];
}
