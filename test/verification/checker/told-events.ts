import type { ChannelRecord } from "./channel-record.ts";
import type {
  ConnectionAccepted,
  ConnectionEnded,
  EventsTold,
  EventsWanted,
  EventTaken,
  Presence,
  Subscribed,
} from "./history-event.ts";
import type { Cursors } from "./cursors/cursors.ts";
import { checkPublicationEvents } from "./publication-events.ts";
import { ToldConnections } from "./told-connections.ts";
import type { Violations } from "./violations.ts";

/**
 * Checks the events that a backend was told (the rules E): the numbers of each object, and what the events say
 * against what clients and publishers saw.
 */
export class ToldEvents {
  readonly #violations: Violations;
  readonly #cursors: Cursors;
  readonly #connections: ToldConnections;
  /** The channels of which the backend is told; undefined if it isn't told of anything. */
  #channels: ReadonlySet<string> | undefined;
  #keepMax = 0;
  /** The number of the last event of each object. */
  readonly #last = new Map<string, number>();
  readonly #gaps: EventTaken[] = [];
  readonly #publications: EventTaken[] = [];
  /** Who is online, and which channels are occupied, as the backend was told; false for those who were. */
  readonly #online = new Map<string, boolean>();
  readonly #occupied = new Map<string, boolean>();
  #hasEnded = false;
  /** How many events came for the first time, by their type, and how many came again. */
  readonly types = new Map<string, number>();
  repeated = 0;

  /** @param cursors takes the events about members of audiences */
  constructor(violations: Violations, cursors: Cursors) {
    this.#violations = violations;
    this.#cursors = cursors;
    this.#connections = new ToldConnections(violations);
  }

  want({ channels, keepMax }: EventsWanted): void {
    this.#channels = new Set(channels);
    this.#keepMax = keepMax;
  }

  /** A client was let in. */
  connect(event: ConnectionAccepted): void {
    if (this.#channels !== undefined) this.#connections.connect(event);
  }

  /** A client's connection has ended. */
  disconnect({ client }: ConnectionEnded): void {
    this.#connections.disconnect(client);
  }

  /** A client was subscribed. */
  subscribe({ client, channel }: Subscribed): void {
    if (this.#channels?.has(channel) === true) this.#connections.subscribe(client, channel);
  }

  /** The backend takes an event. */
  take(event: EventTaken): void {
    if (!this.#isNext(event)) {
      this.repeated++;
      return;
    }
    this.types.set(event.event, (this.types.get(event.event) ?? 0) + 1);
    switch (event.event) {
      case "gap":
        this.#gaps.push(event);
        break;
      case "publication":
        this.#publications.push(event);
        break;
      case "connected":
      case "disconnected":
      case "subscribed":
      case "unsubscribed":
        this.#connections.take(event);
        break;
      case "user_online":
      case "user_offline":
        this.#alternate(this.#online, event.user ?? "", event.event === "user_online", event);
        break;
      case "channel_occupied":
      case "channel_vacated": {
        const isOccupied = event.event === "channel_occupied";
        this.#alternate(this.#occupied, event.channel ?? "", isOccupied, event);
        break;
      }
      case "unseen":
      case "seen":
        this.#cursors.told(event);
        break;
      default:
        this.#mistold(event, "is no type of event");
    }
  }

  /** Everything has settled, and these clients are present on a channel: the backend knows it. */
  present({ process, channel, clients, time }: Presence): void {
    if (this.#channels?.has(channel) !== true) return;
    for (const client of clients) this.#connections.present(client, channel, time);
    if (clients.length > 0 && this.#occupied.get(channel) !== true)
      this.#untold(process, time, `${channel} has subscribers, and was not told to be occupied`);
  }

  /** All connections have ended, and the backend has had the time to be told. */
  settle({ what, process, time }: EventsTold): void {
    if (what === "connections") {
      this.#connections.checkEnds(process, time);
      return;
    }
    this.#hasEnded = true;
    for (const [user, isOnline] of this.#online)
      if (isOnline) this.#untold(process, time, `${user} was never told to be offline`);
    for (const user of this.#connections.users)
      if (!this.#online.has(user))
        this.#untold(process, time, `${user} was never told to be online`);
    for (const [channel, isOccupied] of this.#occupied)
      if (isOccupied) this.#untold(process, time, `${channel} was never told to be vacated`);
  }

  /** Ends the check: compares the publications of which the backend was told with those that there were. */
  finish(channels: ReadonlyMap<string, ChannelRecord>, time: number): void {
    if (this.#channels === undefined) return;
    for (const { object, process, from = 0, to = 0 } of this.#gaps) {
      // The object has dropped events only if it kept as many newer ones.
      if ((this.#last.get(object) ?? 0) - to >= this.#keepMax) continue;
      this.#untold(process, time, `${object} told a gap from ${from} to ${to}, which it had kept`);
    }
    const told = this.#publications;
    checkPublicationEvents(
      { channels, listed: this.#channels, told, mayMiss: this.mayMiss, time },
      this.#violations,
    );
  }

  /** Whether the backend may not have been told of everything: the history ends early, or there was a gap. */
  get mayMiss(): boolean {
    return !this.#hasEnded || this.#gaps.length > 0;
  }

  /** Whether an event is the next one of its object. One that is further on is taken, too, after a complaint. */
  #isNext(event: EventTaken): boolean {
    const { object, number, process, time, from = number, first = false } = event;
    const last = this.#last.get(object);
    if (last !== undefined && number <= last) return false;
    this.#last.set(object, number);
    if (last === undefined) {
      if (!first) this.#untold(process, time, `${object} began with ${number}, not with its first`);
      return true;
    }
    if (first) this.#mistold(event, `is called the first, after ${last}`);
    else if (from > last + 1)
      this.#untold(process, time, `${object} told ${from} after ${last}, and nothing in between`);
    return true;
  }

  /** The two types of events about the same user or channel come in turns, beginning with the one that it is there. */
  #alternate(
    states: Map<string, boolean>,
    name: string,
    isThere: boolean,
    event: EventTaken,
  ): void {
    if ((states.get(name) ?? false) === isThere) this.#mistold(event, "was told before");
    states.set(name, isThere);
  }

  #mistold(
    { object, number, event, process, time, channel = "", user = "" }: EventTaken,
    why: string,
  ) {
    const text = `${event} ${channel}${user} (${object}, ${number}) ${why}`;
    this.#violations.add({ kind: "mistold", channel, process, time, text });
  }

  #untold(process: string, time: number, text: string): void {
    this.#violations.add({ kind: "untold", channel: "", process, time, text });
  }
}
