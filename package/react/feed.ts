/** A ref of React, which has what the newest render gave. */
export interface Current<Value> {
  readonly current: Value;
}

/** Why something doesn't work: a code of the protocol or of the SDK, and its text. */
export interface Problem {
  readonly code: number;
  readonly message: string;
  /** Whether the same may work a moment later. */
  readonly temporary?: boolean;
}

/** What a feed that runs can be asked for. */
export interface Running<Calls> {
  readonly calls: Calls;
  /** Another component has come. */
  readonly joined: () => void;
  readonly end: () => void;
}

/** What all components of a connection share: it begins with the first of them, and ends with the last one. */
export class Feed<Shown extends object, Wish, Calls> {
  /** What components show. Another value is another object. */
  shown: Shown;
  readonly #begin: (feed: Feed<Shown, Wish, Calls>) => Running<Calls>;
  readonly #users = new Map<() => void, Current<Wish>>();
  #running: Running<Calls> | undefined;

  constructor(idle: Shown, begin: (feed: Feed<Shown, Wish, Calls>) => Running<Calls>) {
    this.shown = idle;
    this.#begin = begin;
  }

  /** @returns nothing where it doesn't run */
  get calls(): Calls | undefined {
    return this.#running?.calls;
  }

  /** What each of the components wants. */
  get wishes(): readonly Wish[] {
    return Array.from(this.#users.values(), ({ current }) => current);
  }

  show(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    for (const changed of this.#users.keys()) changed();
  }

  /** Adds a component, which is told of each change, and gives what removes it. `ended` follows the last one. */
  use(changed: () => void, wish: Current<Wish>, ended: () => void): () => void {
    this.#users.set(changed, wish);
    if (this.#running === undefined) this.#running = this.#begin(this);
    else this.#running.joined();
    return () => {
      this.#users.delete(changed);
      // Strict Mode and navigation mount at once what has just been unmounted.
      setTimeout(() => {
        if (this.#users.size > 0 || this.#running === undefined) return;
        this.#running.end();
        this.#running = undefined;
        ended();
      });
    };
  }
}

/** The feeds of a kind, by their channels. One that has ended is forgotten. */
export class Feeds<Shown extends object, Wish, Calls> {
  readonly idle: Shown;
  readonly #begin: (channel: string, feed: Feed<Shown, Wish, Calls>) => Running<Calls>;
  readonly #feeds = new Map<string, Feed<Shown, Wish, Calls>>();

  constructor(
    idle: Shown,
    begin: (channel: string, feed: Feed<Shown, Wish, Calls>) => Running<Calls>,
  ) {
    this.idle = idle;
    this.#begin = begin;
  }

  shown(channel: string | undefined): Shown {
    return (channel === undefined ? undefined : this.#feeds.get(channel)?.shown) ?? this.idle;
  }

  /** @returns nothing where the channel isn't used */
  calls(channel: string | undefined): Calls | undefined {
    return channel === undefined ? undefined : this.#feeds.get(channel)?.calls;
  }

  use(channel: string, changed: () => void, wish: Current<Wish>): () => void {
    const known = this.#feeds.get(channel);
    const feed = known ?? new Feed(this.idle, (one) => this.#begin(channel, one));
    this.#feeds.set(channel, feed);
    return feed.use(changed, wish, () => this.#feeds.delete(channel));
  }
}
