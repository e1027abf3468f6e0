import type { PublicationLog } from "../publication-log.ts";

/** What one client may be told of a channel while it is subscribed there (rules PU2, PU5 and PU6). */
export class PusherRoom {
  /** The channel's name in the server. */
  readonly channel: string;
  state: "off" | "asking" | "on" = "off";
  wanted = false;
  readonly #who: string;
  readonly #user: string;
  readonly #log: PublicationLog;
  /** The index of the newest event. */
  #last: number | undefined;
  /** How many publications the channel had when the subscription began. */
  #before = 0;
  #members = new Set<string>();
  /** How many subscriptions have begun on the connection. */
  #begun = 0;
  /** The newest event of each other client, which counts its own. */
  readonly #heard = new Map<string, number>();

  constructor(channel: string, who: string, user: string, log: PublicationLog) {
    this.channel = channel;
    this.#who = who;
    this.#user = user;
    this.#log = log;
  }

  /** The members that the client knows. */
  get members(): readonly string[] {
    return [...this.#members].toSorted();
  }

  /** The subscription has begun. @param members undefined on a channel without */
  begin(members: readonly string[] | undefined): void {
    if (this.state !== "asking") this.#complain("was subscribed without asking");
    this.state = "on";
    this.#begun++;
    this.#last = undefined;
    this.#before = this.#log.count(this.channel);
    this.#heard.clear();
    this.#members = new Set(members);
    if (members === undefined) return;
    if (this.#members.size !== members.length) this.#complain("was given a member twice");
    if (!this.#members.has(this.#user)) this.#complain("isn't among the members");
  }

  end(): void {
    this.state = "off";
  }

  /** The connection has ended. */
  disconnected(): void {
    this.end();
    this.#begun = 0;
  }

  /** An event of a backend, or of a client of another protocol. */
  take(data: string): void {
    if (this.state !== "on") return;
    const found = this.#log.find(data);
    if (found === undefined) {
      this.#complain(`got ${data}, which nobody published`);
      return;
    }
    const next = this.#last === undefined ? undefined : this.#last + 1;
    if (next !== undefined && found.index < next) this.#complain(`got ${data} again, or late`);
    else if (found.index > (next ?? this.#before))
      this.#complain(`lacks what was published before ${data}`);
    this.#last = Math.max(found.index, this.#last ?? 0);
  }

  /**
   * An event of another client.
   *
   * @param number     how many that client had sent by then, on all channels
   * @param sentBefore how many this client had sent on earlier connections: those may be another's for the server
   */
  hear(from: string, number: number, sentBefore: number): void {
    if (this.state !== "on") return;
    if (from === this.#who && number > sentBefore) this.#complain("got its own event");
    if (number <= (this.#heard.get(from) ?? 0))
      this.#complain(`got ${from}-${number} again, or late`);
    this.#heard.set(from, number);
  }

  /**
   * @param isUnsure whether the gateway has hibernated since: if the channel's object has begun anew as well, a join that a
   *                 lost answer repeats looks to both as if nobody had been told of it
   */
  added(user: string, isUnsure: boolean): void {
    if (this.state !== "on") return;
    if (this.#members.has(user) && !isUnsure) this.#complain(`was told twice that ${user} came`);
    this.#members.add(user);
  }

  removed(user: string): void {
    if (this.state !== "on") return;
    if (!this.#members.delete(user)) this.#complain(`was told that ${user} went, who wasn't there`);
    // What a lost answer repeats of an exit and an entry on one connection looks like another such pair.
    if (user === this.#user && this.#begun === 1) this.#complain("was told that it went itself");
  }

  /** After a while without faults the client has everything. */
  checkNewest(when: string): void {
    const newest = this.#log.last(this.channel);
    if (newest === undefined || newest.index < this.#before) return;
    if (this.#last !== newest.index) this.#complain(`doesn't have ${newest.data} ${when}`);
  }

  #complain(what: string): void {
    this.#log.complain(`${this.#who} ${what} on ${this.channel}`);
  }
}
