import type { EndCode, ObservedSession, SessionObserver } from "../../session/observer.ts";
import type { ConnectionEvents } from "./connection-events.ts";
import type { ToldConnection } from "./told-table.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import type { Subscription } from "../../session/subscription.ts";
import { transportOf } from "../../session/transport-name.ts";

/** What a backend is told of a session; undefined if it isn't told of this one. */
export function sessionEvents(
  session: ObservedSession,
  events: ConnectionEvents,
): SessionEvents | undefined {
  if (session.identity.passing === true) return undefined;
  return new SessionEvents(session, events);
}

/**
 * What a backend is told of one session (rule E8), and what it has been told, which is that the client is connected, and
 * to which channels it is subscribed. A session of a transient client, which polls, has none of this.
 */
export class SessionEvents implements SessionObserver, ToldConnection {
  readonly #session: ObservedSession;
  readonly #events: ConnectionEvents;
  #connected: boolean;
  readonly #channels: Set<string>;
  /** The subscriptions that began and ended while the session was held: the client hasn't been told of them yet either. */
  readonly #later: (() => void)[] = [];

  /** Also restores: of a session that hibernated, everything has been told. */
  constructor(session: ObservedSession, events: ConnectionEvents) {
    this.#session = session;
    this.#events = events;
    this.#connected = session.hasConnected;
    this.#channels = new Set(session.subscriptions.all.map(({ channel }) => channel));
  }

  get client(): string {
    return this.#session.client;
  }

  get user(): string {
    return this.#session.user;
  }

  get traceparent(): string | undefined {
    return this.#session.identity.traceparent;
  }

  get connected(): boolean {
    return this.#connected;
  }

  get channels(): ReadonlySet<string> {
    return this.#channels;
  }

  /** Tells that the connect is accepted, unless it isn't yet, or its user's home is asked, or it has been told. */
  accepted(): void {
    const { hasConnected, held } = this.#session;
    if (!hasConnected || held) return;
    if (!this.#connected) this.#tellConnected();
    for (const tell of this.#later.splice(0)) tell();
  }

  /** Subscriptions have begun, and their client will be told, perhaps when the session isn't held any more. */
  begun(subscriptions: readonly Pick<Subscription, "channel" | "info">[]): void {
    this.accepted();
    for (const { channel, info } of subscriptions) {
      if (this.#session.held) this.#later.push(() => this.#tellSubscribed(channel, info.chanInfo));
      else this.#tellSubscribed(channel, info.chanInfo);
    }
  }

  /** @param code why the server ended it; undefined if the client did */
  unsubscribed(channel: string, code: EndCode | undefined): void {
    if (this.#session.held) this.#later.push(() => this.#tellUnsubscribed(channel, code));
    else this.#tellUnsubscribed(channel, code);
  }

  /** The connection ends, with all its subscriptions. */
  ended(code: EndCode): void {
    for (const channel of this.#channels) this.#tellUnsubscribed(channel, undefined);
    if (!this.#connected) return;
    this.#events.disconnected(this, code);
    this.#connected = false;
  }

  #tellUnsubscribed(channel: string, code: EndCode | undefined): void {
    if (!this.#channels.has(channel)) return;
    this.#events.unsubscribed(this, channel, code);
    this.#channels.delete(channel);
  }

  #tellSubscribed(channel: string, chanInfo: JsonText | undefined): void {
    if (this.#channels.has(channel)) return;
    this.#events.subscribed(this, channel, chanInfo === undefined ? {} : { chanInfo });
    this.#channels.add(channel);
  }

  #tellConnected(): void {
    const { identity } = this.#session;
    const info = identity.claims?.info;
    this.#events.connected(this, {
      transport: transportOf(identity),
      ...(info === undefined ? {} : { info }),
    });
    this.#connected = true;
  }
}
