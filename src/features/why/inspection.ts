/**
 * The report of an object about its connections when a backend asks why something didn't arrive, or asks for the object's
 * state (rules Y2 and Y4). Everything is counted when it is asked for.
 */
import type { BehindConnection, ConnectionCounts, SubscriberCounts } from "./object-state.ts";
import type { TrailAnswer, TracedConnection, TrailQuery } from "./trail.ts";
import { trailLimits } from "./limits.ts";
import type { Tags } from "../../protocol/publication.ts";
import { type ClientTrail, isAsked } from "./client-trail.ts";
import { protocolOf, transportOf } from "../../session/connection-state.ts";
import type { CommandSession } from "../../session/ports.ts";
import type { Subscription } from "../../session/subscription.ts";

/** A connection of the object, with the bytes that its client has been sent and hasn't taken. */
export interface OpenConnection {
  readonly session: InspectedSession;
  backlogBytes(): number;
}

/** A session as it is inspected. */
type InspectedSession = Pick<CommandSession, "identity" | "subscriptions" | "user" | "held"> & {
  readonly client: string;
  readonly closed: boolean;
  readonly hasConnected: boolean;
};

/** Counts the open connections. */
export function countConnections(connections: Iterable<OpenConnection>): ConnectionCounts {
  const kinds = new Kinds();
  let connecting = 0;
  for (const { session } of connections) {
    if (session.closed) continue;
    if (isConnected(session)) kinds.add(session);
    else connecting++;
  }
  return { connected: kinds.count, ...kinds.counts, connecting };
}

/** Counts the subscribers to a channel. */
export function countSubscribers(
  channel: string,
  connections: Iterable<OpenConnection>,
): Omit<SubscriberCounts, "isSending" | "isCollecting" | "position"> {
  const kinds = new Kinds();
  let [filtered, delta, pending] = [0, 0, 0];
  for (const { session } of connections) {
    if (session.closed) continue;
    const subscription = session.subscriptions.get(channel);
    if (subscription === undefined) {
      if (session.subscriptions.has(channel)) pending++;
      continue;
    }
    kinds.add(session);
    if (subscription.filter !== undefined) filtered++;
    if (subscription.delta) delta++;
  }
  return { subscribers: kinds.count, ...kinds.counts, filtered, delta, pending };
}

/** The connections that haven't taken what they were sent, the furthest behind first, and their bytes together. */
export function countBacklogs(connections: Iterable<OpenConnection>): {
  readonly backlogBytes: number;
  readonly behind: readonly BehindConnection[];
} {
  const behind: BehindConnection[] = [];
  let backlogBytes = 0;
  for (const connection of connections) {
    const bytes = connection.backlogBytes();
    if (bytes === 0) continue;
    const { client, user } = connection.session;
    backlogBytes += bytes;
    behind.push({ client, user, bytes });
  }
  behind.sort((one, other) => other.bytes - one.bytes);
  return { backlogBytes, behind: behind.slice(0, trailLimits.inspectedConnectionsMax) };
}

/**
 * Reports the connections that were asked for.
 *
 * @param tags of the publication; undefined if they aren't known
 */
export function traceConnections(
  query: TrailQuery,
  tags: Tags | undefined,
  connections: Iterable<OpenConnection>,
  trail: ClientTrail,
): Pick<
  TrailAnswer,
  "connections" | "closes" | "notes" | "incomplete" | "notesSinceMs" | "closesSinceMs"
> {
  const { channel } = query;
  const most = trailLimits.trailConnectionsMax;
  const notes = trail.notesOf(channel, query);
  const lastSubscribe = new Map(
    notes.filter(({ event }) => event === "subscribed").map((note) => [note.client, note]),
  );
  const open: TracedConnection[] = [];
  for (const connection of connections) {
    const { session } = connection;
    if (session.closed || !isAsked(session, query)) continue;
    if (open.length > most) break;
    const subscription = session.subscriptions.get(channel);
    const subscribed = subscription === undefined ? undefined : lastSubscribe.get(session.client);
    const filter = subscription === undefined ? undefined : filterFor(subscription, tags);
    open.push({
      client: session.client,
      user: session.user,
      transport: transportOf(session.identity),
      protocol: protocolOf(session.identity),
      openedAtMs: session.identity.openedAtMs,
      state: isConnected(session) ? "connected" : "connecting",
      subscription: stateOf(session, channel),
      ...(subscribed === undefined ? {} : { subscribed }),
      ...(filter === undefined ? {} : { filter }),
      backlogBytes: connection.backlogBytes(),
    });
  }
  const closes = trail.closesOf(query);
  const isTooMuch = open.length > most || closes.length > most || notes.length > most;
  const { notesSinceMs, closesSinceMs } = trail;
  return {
    connections: open.slice(0, most),
    closes: closes.slice(-most),
    notes: notes.slice(-most),
    ...(notesSinceMs === undefined ? {} : { notesSinceMs }),
    ...(closesSinceMs === undefined ? {} : { closesSinceMs }),
    ...(isTooMuch ? { incomplete: true } : {}),
  };
}

/** A client that has connected but whose user's home is asked gets nothing yet (rule U4). */
function isConnected({ hasConnected, held }: InspectedSession): boolean {
  return hasConnected && !held;
}

function stateOf(
  { subscriptions }: InspectedSession,
  channel: string,
): TracedConnection["subscription"] {
  if (subscriptions.get(channel) !== undefined) return "begun";
  return subscriptions.has(channel) ? "pending" : "none";
}

function filterFor({ filter }: Subscription, tags: Tags | undefined): TracedConnection["filter"] {
  if (filter === undefined) return undefined;
  if (tags === undefined) return "unknown";
  return filter.matches(tags) ? "passes" : "holds-back";
}

/** Counts sessions by their transports and protocols. */
class Kinds {
  count = 0;
  readonly counts: {
    readonly byTransport: Record<string, number>;
    readonly byProtocol: Record<string, number>;
  } = { byTransport: {}, byProtocol: {} };

  add({ identity }: InspectedSession): void {
    this.count++;
    increment(this.counts.byTransport, transportOf(identity));
    increment(this.counts.byProtocol, protocolOf(identity));
  }
}

function increment(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
