/**
 * Who is online, made from Dormouse's events `user_online` and `user_offline`. The list is in the database, together
 * with the number of the last event of each object of Dormouse. So an event that comes again changes nothing, and after
 * a restart the list goes on where it was.
 */
export class Online {
  #database;
  #api;
  /** The batch that came last: one is taken after the other, so that the newest list is published last. */
  #taken = Promise.resolve();

  /**
   * @param {import("node:sqlite").DatabaseSync} database
   * @param {import("./dormouse.js").DormouseApi} api
   */
  constructor(database, api) {
    this.#database = database;
    this.#api = api;
  }

  /** The users who are online. */
  get users() {
    const users = this.#database.prepare("SELECT user FROM online ORDER BY user");
    return users.all().map(({ user }) => user);
  }

  /**
   * Stores a batch of events, all of one object, and publishes the list. If that fails, it rejects, and the batch has
   * to come again.
   */
  take(events) {
    const done = this.#taken.then(() => this.#takeNext(events));
    this.#taken = done.catch(() => undefined);
    return done;
  }

  async #takeNext(events) {
    this.#store(events, this.#isComplete(events) ? undefined : await this.#present());
    await this.#api.call("publish", { channel, data: { users: this.users } });
  }

  /** Asks for the events that came while the application was down. Dormouse sends them too, up to 5 minutes later. */
  async catchUp() {
    const sources = this.#database.prepare("SELECT object FROM event_sources").all();
    for (const { object } of sources) {
      for (;;) {
        const request = { object, since: this.#lastOf(object), limit: 1_000 };
        const { events } = await this.#api.call("events", request);
        if (events.length === 0) break;
        await this.take(events);
      }
    }
  }

  /** Whether no event is missing: Dormouse keeps events for a day, unless its configuration says otherwise. */
  #isComplete(events) {
    const next = events.find((event) => this.#isNew(event));
    if (next === undefined || next.first === true) return true;
    const follows = next.number === this.#lastOf(next.object) + 1;
    return follows && !events.some(({ type }) => type === "gap");
  }

  #isNew({ object, number }) {
    return number > this.#lastOf(object);
  }

  #lastOf(object) {
    const source = this.#database.prepare("SELECT last FROM event_sources WHERE object = ?");
    return source.get(object)?.last ?? 0;
  }

  /** The users of all pages that are open now: each page subscribes to the list. */
  async #present() {
    const { presence } = await this.#api.call("presence", { channel });
    return new Set(Object.values(presence).map(({ user }) => user));
  }

  /** @param present the users of a new list, if events are missing; undefined to go on with the list that there is */
  #store(events, present) {
    const add = this.#database.prepare("INSERT OR IGNORE INTO online VALUES (?)");
    const remove = this.#database.prepare("DELETE FROM online WHERE user = ?");
    const taken = this.#database.prepare("INSERT OR REPLACE INTO event_sources VALUES (?, ?)");
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      if (present !== undefined) this.#database.exec("DELETE FROM online");
      for (const user of present ?? []) add.run(user);
      for (const event of events.filter((one) => this.#isNew(one))) {
        if (event.type === "user_online") add.run(event.user);
        if (event.type === "user_offline") remove.run(event.user);
        taken.run(event.object, event.number);
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

/** The channel on which pages get the list. */
const channel = "people:online";
