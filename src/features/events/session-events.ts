import type { EndCode, ObservedSession, SessionObserver } from "../../session/observer.ts";
import type { ConnectionEvents } from "./connection-events.ts";
import type { ReportedConnection } from "./reported-table.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import type { Subscription } from "../../session/subscription.ts";
import { transportOf } from "../../session/connection-state.ts";

/** Reports a session to a backend; undefined if this one isn't reported. */
export function sessionEvents(
  session: ObservedSession,
  events: ConnectionEvents,
): SessionEvents | undefined {
  if (session.identity.passing === true) return undefined;
  return new SessionEvents(session, events);
}

/**
 * Reports one session to a backend (rule E8), and knows what it has reported: that the client is connected, and to which
 * channels it is subscribed. The session of a client that polls isn't reported.
 */
export class SessionEvents implements SessionObserver, ReportedConnection {
  readonly #session: ObservedSession;
  readonly #events: ConnectionEvents;
  #connected: boolean;
  readonly #channels: Set<string>;
  /** The reports on subscriptions that began and ended while the session was held (rule U4). */
  readonly #later: (() => void)[] = [];

  /** Also restores: of a session that hibernated, everything has been reported. */
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

  /** Reports that the client is connected, once: when its connect is accepted and the session isn't held. */
  accepted(): void {
    const { hasConnected, held } = this.#session;
    if (!hasConnected || held) return;
    if (!this.#connected) this.#reportConnected();
    for (const report of this.#later.splice(0)) report();
  }

  /** Subscriptions have begun. They are reported once the session isn't held any more. */
  begun(subscriptions: readonly Pick<Subscription, "channel" | "info">[]): void {
    this.accepted();
    for (const { channel, info } of subscriptions) {
      if (this.#session.held)
        this.#later.push(() => this.#reportSubscribed(channel, info.chanInfo));
      else this.#reportSubscribed(channel, info.chanInfo);
    }
  }

  /** @param code why the server ended it; undefined if the client did */
  unsubscribed(channel: string, code: EndCode | undefined): void {
    if (this.#session.held) this.#later.push(() => this.#reportUnsubscribed(channel, code));
    else this.#reportUnsubscribed(channel, code);
  }

  /** The connection ends, with all its subscriptions. */
  ended(code: EndCode): void {
    for (const channel of this.#channels) this.#reportUnsubscribed(channel, undefined);
    if (!this.#connected) return;
    this.#events.disconnected(this, code);
    this.#connected = false;
  }

  #reportUnsubscribed(channel: string, code: EndCode | undefined): void {
    if (!this.#channels.has(channel)) return;
    this.#events.unsubscribed(this, channel, code);
    this.#channels.delete(channel);
  }

  #reportSubscribed(channel: string, chanInfo: JsonText | undefined): void {
    if (this.#channels.has(channel)) return;
    this.#events.subscribed(this, channel, chanInfo === undefined ? {} : { chanInfo });
    this.#channels.add(channel);
  }

  #reportConnected(): void {
    const { identity } = this.#session;
    const info = identity.claims?.info;
    this.#events.connected(this, {
      transport: transportOf(identity),
      ...(info === undefined ? {} : { info }),
    });
    this.#connected = true;
  }
}
