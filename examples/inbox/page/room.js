/**
 * A room of the inbox: its messages, how many of them the user hasn't read, and what the other members have got and read.
 */
export class Room {
  /** The messages, oldest first: `{offset, by, text}`. */
  messages = [];
  unread = 0;
  isOpen = false;
  #client;
  #user;
  #changed;
  #subscription;
  /** What each other member has got: `{user, delivered}`, as an offset. */
  #others = [];
  /** Up to which message each user has read. */
  #reads = new Map();

  /**
   * @param {import("centrifuge").Centrifuge} client
   * @param {string} name of the room
   * @param {string} user whose inbox it is
   * @param {(room: Room) => void} changed called when something changes that is shown
   */
  constructor(client, name, user, changed) {
    this.name = name;
    this.#client = client;
    this.#user = user;
    this.#changed = changed;
    this.#subscription = client.newSubscription(`room:${name}`);
    this.#subscription.on("publication", (publication) => this.#take(publication));
    this.#subscription.on("subscribed", (context) => this.#subscribed(context));
    this.#subscription.subscribe();
    this.#showReceipts();
  }

  /** The user looks at the room: what is there is read. */
  open() {
    this.isOpen = true;
    this.#markRead();
    this.#changed(this);
    void this.askForTicks();
  }

  close() {
    this.isOpen = false;
    this.#changed(this);
  }

  /** Publishes a message of the user. */
  async send(text) {
    await this.#subscription.publish({ text });
  }

  /** "sent", "delivered" to all other members or "read" by all of them; "" for a message of somebody else. */
  tickOf({ by, offset }) {
    if (by !== this.#user) return "";
    if (this.#others.length === 0) return "sent";
    const readers = this.readersOf({ offset });
    if (this.#others.every(({ user }) => readers.includes(user))) return "read";
    return this.#others.every(({ delivered }) => delivered >= offset) ? "delivered" : "sent";
  }

  /** The others who have read a message. */
  readersOf({ offset }) {
    const readers = [...this.#reads].filter(
      ([user, read]) => user !== this.#user && read >= offset,
    );
    return readers.map(([user]) => user);
  }

  /** Asks the backend what the others have got, unless all have read all. */
  async askForTicks() {
    const last = this.messages.findLast(({ by }) => by === this.#user);
    if (last === undefined || this.tickOf(last) === "read") return;
    const response = await fetch(`ticks/${this.name}/${this.#user}`);
    if (!response.ok) return;
    this.#others = await response.json();
    this.#changed(this);
  }

  /** Receipts need no backend: they are a map of who has read how far, which Dormouse keeps. */
  #showReceipts() {
    const receipts = this.#client.newMapSubscription(`receipts:${this.#subscription.channel}`);
    receipts.on("sync", ({ entries }) => {
      this.#reads = new Map(entries.map(({ key, data }) => [key, data.read]));
      this.#changed(this);
    });
    receipts.on("update", ({ key, data, removed }) => {
      if (removed) this.#reads.delete(key);
      else this.#reads.set(key, data.read);
      this.#changed(this);
    });
    receipts.subscribe();
  }

  async #subscribed({ wasRecovering, recovered }) {
    // After a lost connection the client gets what it missed as publications.
    if (wasRecovering && recovered) return;
    const { publications } = await this.#subscription.history({ limit: 50, reverse: true });
    this.messages = publications.map(messageOf).toReversed();
    const { channel } = this.#subscription;
    const { data } = await this.#client.rpc("dormouse.unread", { channels: [channel] });
    this.unread = data.channels[channel].unread;
    if (this.isOpen) this.#markRead();
    this.#changed(this);
  }

  #take(publication) {
    const message = messageOf(publication);
    // The history may have had it already.
    if (message.offset <= (this.messages.at(-1)?.offset ?? 0)) return;
    this.messages.push(message);
    if (message.by !== this.#user) this.unread++;
    if (this.isOpen) this.#markRead();
    this.#changed(this);
  }

  /** Marks all that is there as read. A mark that is lost does no harm: the next one says more. */
  #markRead() {
    const offset = this.messages.at(-1)?.offset;
    if (offset === undefined || this.unread === 0) return;
    this.unread = 0;
    const mark = { channel: this.#subscription.channel, offset };
    this.#client.rpc("dormouse.read", mark).catch(() => undefined);
  }
}

const messageOf = ({ offset, info, data }) => ({ offset, by: info.user, text: data.text });
