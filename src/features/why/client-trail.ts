import type { ClosedConnection, SubscriptionNote } from "./trail.ts";
import type { Clock } from "./frame-trail.ts";
import { trailLimits } from "./limits.ts";
import type { ClientObserver } from "../../session/observer.ts";

/**
 * The last subscriptions that began or ended on the connections of one object, and the last connections that ended, in
 * memory (rule Y2). Nothing reads it until somebody asks.
 */
export class ClientTrail implements ClientObserver {
  readonly #clock: Clock;
  readonly #notes = new NewestOf<NotedEvent>(trailLimits.trailNotesMax);
  readonly #closes = new NewestOf<ClosedConnection>(trailLimits.trailClosesMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  subscribed(
    ...[{ channel, info }, { since }, reply]: Parameters<ClientObserver["subscribed"]>
  ): void {
    if (reply.outcome !== "subscribed") return;
    const { position, recovered, publications } = reply;
    const recovery =
      since === undefined
        ? {}
        : { sinceOffset: since.offset, recovered, recoveredPublications: publications.length };
    this.#note(channel, {
      client: info.client,
      user: rememberedUser(info.user),
      atMs: this.#clock.nowMs(),
      event: "subscribed",
      ...(position === undefined ? {} : { position }),
      ...recovery,
    });
  }

  unsubscribed(...[{ channel, info }, code]: Parameters<ClientObserver["unsubscribed"]>): void {
    const { client } = info;
    const user = rememberedUser(info.user);
    const atMs = this.#clock.nowMs();
    this.#note(channel, { client, user, atMs, event: "unsubscribed", code });
  }

  ended(...[session, code, by]: Parameters<ClientObserver["ended"]>): void {
    const { client, hasConnected, identity } = session;
    const user = rememberedUser(session.user);
    const { openedAtMs } = identity;
    const atMs = this.#clock.nowMs();
    this.#closes.append({ client, user, openedAtMs, atMs, code, by, hadConnected: hasConnected });
  }

  /** What is remembered of subscriptions to a channel on the asked connections, oldest first. */
  notesOf(channel: string, asked: AskedClient): readonly SubscriptionNote[] {
    return this.#notes.all
      .filter((one) => one.channel === channel && isAsked(one.note, asked))
      .map(({ note }) => note);
  }

  /** The ends of the asked connections, oldest first. */
  closesOf(asked: AskedClient): readonly ClosedConnection[] {
    return this.#closes.all.filter((close) => isAsked(close, asked));
  }

  /** The last connections that ended, newest first. */
  get lastCloses(): readonly ClosedConnection[] {
    return this.#closes.all.slice(-trailLimits.inspectedConnectionsMax).toReversed();
  }

  #note(channel: string, note: SubscriptionNote): void {
    this.#notes.append({ channel, note, atMs: note.atMs });
  }

  /** Since when no subscription was forgotten, ms since 1970; undefined if none was. */
  get notesSinceMs(): number | undefined {
    return this.#notes.sinceMs;
  }

  /** The same of connections that ended. */
  get closesSinceMs(): number | undefined {
    return this.#closes.sinceMs;
  }
}

/** The connections that are asked about: one by its ID, or else those of a user. */
export interface AskedClient {
  readonly user?: string;
  readonly client?: string;
}

/** Whether a connection is one of those that are asked about. */
export function isAsked(
  one: { readonly client: string; readonly user: string },
  { user, client }: AskedClient,
): boolean {
  if (client !== undefined) return one.client === client && (user ?? one.user) === one.user;
  return user !== undefined && one.user === user;
}

/** A user's ID, or "" for one that is too long to be remembered. */
function rememberedUser(user: string): string {
  return user.length > trailLimits.trailUserCharactersMax ? "" : user;
}

interface NotedEvent {
  readonly channel: string;
  readonly atMs: number;
  readonly note: SubscriptionNote;
}

/** The newest of some events, the oldest of which is overwritten. */
class NewestOf<Event extends { readonly atMs: number }> {
  readonly #max: number;
  readonly #events: Event[] = [];
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  append(event: Event): void {
    this.#events[this.#count % this.#max] = event;
    this.#count++;
  }

  /** Oldest first. */
  get all(): readonly Event[] {
    const oldest = this.#count <= this.#max ? 0 : this.#count % this.#max;
    return [...this.#events.slice(oldest), ...this.#events.slice(0, oldest)];
  }

  get sinceMs(): number | undefined {
    return this.#count <= this.#max ? undefined : this.all[0]?.atMs;
  }
}
