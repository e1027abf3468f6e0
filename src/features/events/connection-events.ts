import type { EventsConfig, EventType } from "./config.ts";
import { hashOf } from "../../contract/object-names.ts";
import { connectionLost } from "../../protocol/codes.ts";
import type { EndCode } from "../../session/observer.ts";
import { eventLimits } from "./limits.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import { isReported, type ObjectEvent } from "./event.ts";
import type { Outbox } from "./outbox.ts";
import type { ReportedConnection, ReportedTable } from "./reported-table.ts";

/**
 * The events of one object's connections and their subscriptions (rules E8 and E9). Each event's row has a digest of what
 * the backend has been told to be there. A fresh instance compares it with the connections that it finds: if they differ,
 * because connections died with the object, it reads what was reported and writes the events that are missing.
 */
export class ConnectionEvents {
  readonly #setup: ConnectionEventsSetup;
  readonly #reportsConnections: boolean;
  #digest: Digest;
  #compared = false;

  constructor(setup: ConnectionEventsSetup) {
    this.#setup = setup;
    this.#reportsConnections = isReported(setup.config, "connected");
    this.#digest = parseDigest(setup.outbox.mark(markName));
    setup.outbox.beforeDeletion = (oldest) => this.#keepReported(oldest);
  }

  connected(one: ReportedConnection, details: ClientDetails): void {
    if (!this.#reportsConnections) return;
    this.#write({ type: "connected", ...whoIs(one), ...details }, hashOf(one.client), 1);
  }

  /** @param code how it ended, from either side */
  disconnected(one: ReportedConnection, code: EndCode): void {
    if (!this.#reportsConnections) return;
    this.#write({ type: "disconnected", ...whoIs(one), ...code }, hashOf(one.client), -1);
  }

  subscribed(one: ReportedConnection, channel: string, details: ClientDetails): void {
    if (!this.#reports(channel)) return;
    const event: ObjectEvent = { type: "subscribed", channel, ...whoIs(one), ...details };
    this.#write(event, subscriptionHash(hashOf(one.client), channel), 1);
  }

  /** @param code why the server ended it; undefined if the client did, or its connection has ended */
  unsubscribed(one: ReportedConnection, channel: string, code: EndCode | undefined): void {
    if (!this.#reports(channel)) return;
    const event: ObjectEvent = { type: "unsubscribed", channel, ...whoIs(one), ...code };
    this.#write(event, subscriptionHash(hashOf(one.client), channel), -1);
  }

  /**
   * Compares, in a fresh instance and once, what was reported to the backend with the existing connections, and reports the difference.
   * It is called before anything is sent, and before an event may overwrite rows that are still to be compared.
   */
  compare(): void {
    if (this.#compared) return;
    this.#compared = true;
    if (sameDigest(this.#digestOf(this.#setup.sessions()), this.#digest)) return;
    const here = new Map([...this.#setup.sessions()].map((one) => [one.client, one]));
    const reported = this.#reported();
    this.#digest = this.#digestOf(reported.values());
    for (const one of reported.values()) this.#reportEnds(one, here.get(one.client));
    for (const one of here.values()) this.#reportBegins(one, reported.get(one.client));
  }

  /**
   * When an alarm has to wake the object so that it finds connections that died with it, ms since 1970; Infinity for
   * never (rule E9).
   */
  alarmAtMs(nowMs: number): number {
    return this.#digest.count === 0
      ? Number.POSITIVE_INFINITY
      : nowMs + eventLimits.eventsConnectionsCheckMs;
  }

  /** Stores who is connected before the events that say it make room for others, such as publications (rule E13). */
  #keepReported(oldest: number): void {
    const { outbox, table, sessions } = this.#setup;
    const isNeeded = this.#digest.count > 0 || table.number !== undefined;
    if (isNeeded && oldest > this.#checkpoint + 1) table.write(outbox.last, sessions());
  }

  #reportEnds(one: ReportedConnection, here: ReportedConnection | undefined): void {
    for (const channel of one.channels)
      if (here?.channels.has(channel) !== true) this.unsubscribed(one, channel, undefined);
    if (one.connected && here?.connected !== true) this.disconnected(one, connectionLost);
  }

  /** Reports connections that began while the configuration didn't list their events. */
  #reportBegins(one: ReportedConnection, reported: ReportedConnection | undefined): void {
    if (one.connected && reported?.connected !== true) this.connected(one, {});
    for (const channel of one.channels)
      if (reported?.channels.has(channel) !== true) this.subscribed(one, channel, {});
  }

  /** The connections of which the backend has been told: those of the last checkpoint, changed by the events since. */
  #reported(): Map<string, ReportedConnection> {
    const { outbox, table } = this.#setup;
    const number = this.#checkpoint;
    const before = number === table.number ? table.read() : [];
    const reported = new Map(before.map((one) => [one.client, one]));
    for (const { body } of outbox.stored(number, sessionTypes))
      applyEvent(reported, parseBody(body));
    return reported;
  }

  /** The number of the last event before the checkpoint; without one, of the event before the object's first. */
  get #checkpoint(): number {
    const { outbox, table } = this.#setup;
    return Math.max(table.number ?? 0, outbox.first - 1);
  }

  #reports(channel: string): boolean {
    const { config, namespaceOf } = this.#setup;
    return (
      isReported(config, "subscribed") && isReported(config, "subscribed", namespaceOf(channel))
    );
  }

  /** @param hash of what begins or ends */
  #write(event: ObjectEvent, hash: number, change: 1 | -1): void {
    this.compare();
    const { outbox, table, config, sessions, nowMs } = this.#setup;
    const every = Math.min(eventLimits.eventsCheckpointEvery, Math.floor(config.keepMax / 2));
    // Before the event: until its row is written, the sessions are as the rows before it say.
    if (outbox.last > 0 && outbox.last - this.#checkpoint >= every)
      table.write(outbox.last, sessions());
    this.#digest = changedDigest(this.#digest, hash, change);
    outbox.setMark(markName, digestText(this.#digest));
    outbox.append(event, nowMs());
  }

  /** A waking object makes it of all of its connections, so a channel's namespace is looked up once. */
  #digestOf(connections: Iterable<ReportedConnection>): Digest {
    const listed = new Map<string, boolean>();
    let count = 0;
    let hash = 0;
    for (const { client, connected, channels } of connections) {
      const clientHash = hashOf(client);
      if (connected && this.#reportsConnections) {
        count++;
        hash ^= clientHash;
      }
      for (const channel of channels) {
        const isListed = listed.get(channel) ?? this.#reports(channel);
        listed.set(channel, isListed);
        if (!isListed) continue;
        count++;
        hash ^= subscriptionHash(clientHash, channel);
      }
    }
    return { count, hash: hash >>> 0 };
  }
}

/** The object whose connections these are. */
export interface ConnectionEventsSetup {
  readonly config: EventsConfig;
  readonly outbox: Outbox;
  readonly table: ReportedTable;
  /**
   * The connections of which the backend has been told; in a fresh instance, those that were open when the instance
   * before it ended.
   */
  readonly sessions: () => Iterable<ReportedConnection>;
  readonly namespaceOf: (channel: string) => string;
  /** The time, ms since 1970: a session may end without being given one. */
  readonly nowMs: () => number;
}

/** Further fields of an event about a client. */
export interface ClientDetails {
  readonly transport?: string;
  readonly info?: JsonText;
  readonly chanInfo?: JsonText;
}

/** A digest of the connections of which the backend was told: their number, and the sum of a hash of each. */
interface Digest {
  readonly count: number;
  readonly hash: number;
}

const emptyDigest: Digest = { count: 0, hash: 0 };
const markName = "told";

function changedDigest({ count, hash }: Digest, changed: number, change: 1 | -1): Digest {
  return { count: count + change, hash: (hash ^ changed) >>> 0 };
}

function sameDigest(one: Digest, other: Digest): boolean {
  return one.count === other.count && one.hash === other.hash;
}

function digestText({ count, hash }: Digest): string | undefined {
  return count === 0 ? undefined : `${count} ${hash}`;
}

function parseDigest(text: string | undefined): Digest {
  if (text === undefined) return emptyDigest;
  const [count = 0, hash = 0] = text.split(" ").map(Number);
  return { count, hash };
}

/** The hash of a connection's ID, a space and the name of a channel. */
function subscriptionHash(clientHash: number, channel: string): number {
  return hashOf(channel, hashOf(" ", clientHash));
}

function whoIs({
  client,
  user,
  traceparent,
}: ReportedConnection): Pick<ObjectEvent, "client" | "user" | "traceparent"> {
  return traceparent === undefined ? { client, user } : { client, user, traceparent };
}

const sessionTypes: readonly EventType[] = [
  "connected",
  "disconnected",
  "subscribed",
  "unsubscribed",
];

/** A stored event of a session, as far as it changes what the backend knows. */
interface StoredSessionEvent {
  readonly type: string;
  readonly client: string;
  readonly user: string;
  readonly channel?: string;
}

function parseBody(body: string): StoredSessionEvent {
  const event: StoredSessionEvent = JSON.parse(`{${body}}`);
  return event;
}

/** Takes the user from the event: a checkpoint also lists clients that hadn't connected yet, so without a user. */
function applyEvent(reported: Map<string, ReportedConnection>, event: StoredSessionEvent): void {
  const { type, client, user, channel = "" } = event;
  const before = reported.get(client);
  const channels = new Set(before?.channels);
  let connected = before?.connected === true;
  if (type === "connected") connected = true;
  else if (type === "disconnected") connected = false;
  else if (type === "subscribed") channels.add(channel);
  else channels.delete(channel);
  if (connected || channels.size > 0) reported.set(client, { client, user, connected, channels });
  else reported.delete(client);
}
