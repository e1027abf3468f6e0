import type { Channel } from "../../channel/channel.ts";
import type { ChannelSetup } from "../../channel/channel-setup.ts";
import type { Config } from "../../config/config.ts";
import type { Erased } from "../../contract/erased.ts";
import type { EventType } from "./config.ts";
import { ConnectionEvents } from "./connection-events.ts";
import { isReported, publicationEvent } from "./event.ts";
import { type EventBatch, Outbox } from "./outbox.ts";
import { type ReportedConnection, ReportedTable } from "./reported-table.ts";
import { eventLimits } from "./limits.ts";
import type { SessionContext } from "../../session/ports.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { HomePart, ObjectPart, PartedHome, PartHost, ToldEvent } from "../../object/part.ts";
import type { Platform } from "../../object/platform.ts";
import { partsOf } from "../../config/name-parts.ts";
import { eventObject, homeObject } from "../../contract/object-names.ts";
import type { GatewaySetup } from "../../gateway/gateway-setup.ts";
import { SessionEvents, sessionEvents } from "./session-events.ts";

/**
 * Sends the events of one object to the target of the configuration: one batch at a time, and nothing else of the object
 * waits for it (rule E3). `Outbox` decides what is sent and when. The output gate lets a batch out only once its rows are
 * durable.
 */
class EventDelivery implements ObjectPart, HomePart {
  readonly outbox: Outbox;
  /** Reports the object's connections; undefined if the backend gets no events of connections. */
  readonly connections: ConnectionEvents | undefined;
  readonly #setup: EventDeliverySetup;
  /** Whether the channel has subscribers, and who reports it; undefined where that isn't reported. */
  #occupancy:
    | { readonly channel: Pick<Channel, "hub" | "relay">; readonly occupancy: Occupancy }
    | undefined;
  readonly #timer: NextTimer;

  constructor(setup: EventDeliverySetup) {
    this.#setup = setup;
    const { platform, object, events, sessions, namespaceOf } = setup;
    const { sql } = platform;
    this.#timer = new NextTimer(platform, (nowMs) => this.ended(nowMs));
    const outbox = new Outbox({ sql, object, config: events });
    this.outbox = outbox;
    const isConcerned = isReported(events, "connected") || isReported(events, "subscribed");
    this.connections = isConcerned
      ? new ConnectionEvents({
          config: events,
          outbox,
          table: new ReportedTable(sql),
          sessions,
          namespaceOf,
          nowMs: () => platform.nowMs(),
        })
      : undefined;
  }

  /** Reports the channel's publications; also how often the channel asks whether gateways still follow it. */
  ofChannel(name: string): Pick<ChannelSetup, "accepted" | "followersCheckMs"> {
    const followersCheckMs = eventLimits.eventsFollowersCheckMs;
    const accepted: ChannelSetup["accepted"] = (entry, position, nowMs) => {
      // This event may overwrite the row that says which connections a crash has ended: report those first.
      this.connections?.compare();
      const event = publicationEvent(name, entry, position);
      const publishedAtMs = this.#setup.jobAddedAtMs();
      if (publishedAtMs === undefined)
        this.outbox.append({ ...event, publishedAtMs: nowMs }, nowMs);
      else this.outbox.addInCommit({ ...event, publishedAtMs }, nowMs);
    };
    return {
      ...(this.#reports("publication", name) ? { accepted } : {}),
      ...(this.#reports("channel_occupied", name) ? { followersCheckMs } : {}),
    };
  }

  /** Reports from now on whether the channel has subscribers (rule E10). */
  began(channel: Pick<Channel, "name" | "hub" | "relay">): void {
    if (!this.#reports("channel_occupied", channel.name)) return;
    this.#occupancy = { channel, occupancy: new Occupancy(this.outbox, channel.name) };
  }

  /** The sessions' port for their observers. */
  get ofSessions(): Pick<SessionContext, "observe"> {
    const { connections } = this;
    return connections === undefined
      ? {}
      : { observe: (session) => sessionEvents(session, connections) };
  }

  /** A backend may wait for the event that a channel has no subscriber any more (rule E10). */
  readonly ofGateway: Pick<GatewaySetup, "awaitsEnd"> = {
    awaitsEnd: (channel) => this.#reports("channel_vacated", channel),
  };

  #reports(type: EventType, channel: string): boolean {
    const { events, namespaceOf } = this.#setup;
    return isReported(events, type, namespaceOf(channel));
  }

  /** Reports what another feature has found (rules CU23 and CU26). */
  tell(event: ToldEvent, nowMs: number): void {
    if (!this.#reports(event.type, event.channel)) return;
    this.connections?.compare();
    this.outbox.append(event, nowMs);
  }

  erase(erased: Erased, from: number): number | undefined {
    return this.outbox.erase(erased, from);
  }

  get untaken(): number {
    return this.outbox.untaken;
  }

  noteOnline(user: string, isOnline: boolean): void {
    const type = isOnline ? "user_online" : "user_offline";
    this.outbox.append({ type, user }, this.#setup.platform.nowMs());
  }

  /** The publications that were added are durable, and may be sent (rule E12). */
  committed(nowMs: number): void {
    this.outbox.committed(nowMs);
    this.ended(nowMs);
  }

  /** When the object's alarm has to ring, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    const connectionsAtMs = this.connections?.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.outbox.alarmAtMs(nowMs), connectionsAtMs);
  }

  rang(nowMs: number): void {
    this.outbox.deleteExpired(nowMs);
  }

  storesNothing(): boolean {
    return this.outbox.storesNothing;
  }

  eventsAfter(since: number, limit: number, nowMs: number): readonly string[] {
    return this.outbox.after(since, limit, nowMs);
  }

  /**
   * Sends the batch that is due, and sets the timer for the next one. The object calls it whenever its work on a frame, a
   * call or its alarm ends.
   */
  ended(nowMs: number): void {
    this.connections?.compare();
    this.#noteOccupied(nowMs);
    const batch = this.outbox.begin(nowMs);
    if (batch !== undefined) this.#send(batch);
    this.#timer.set(this.outbox.beginInMs(nowMs), nowMs);
  }

  /** Notes whether the channel has subscribers; onlookers don't count (rule N26). */
  #noteOccupied(nowMs: number): void {
    if (this.#occupancy === undefined) return;
    const { occupancy, channel } = this.#occupancy;
    occupancy.note(channel.hub.shownSize > 0 ? true : channel.relay.occupied, nowMs);
  }

  #send(batch: EventBatch): void {
    const { platform, called, endEvent } = this.#setup;
    called();
    platform.sendEvents(batch.body, (taken) => {
      const nowMs = platform.nowMs();
      this.outbox.answered(batch, taken, nowMs);
      endEvent(nowMs);
    });
  }
}

/** Makes the events of an object; undefined if it reports no events to a backend. */
export function newEvents(object: PartHost): ObjectPart | undefined {
  const { config, platform, knownChannel: channel, node } = object;
  const { events } = config;
  if (events === undefined) return undefined;
  const namespaceOf = (name: string): string => partsOf(name, config.channel).namespace ?? "";
  const isConcerned =
    connectionTypes.some((type) => isReported(events, type)) ||
    (channel !== undefined &&
      channelTypes.some((type) => isReported(events, type, namespaceOf(channel))));
  const awaitsEnd = (name: string): boolean =>
    isReported(events, "channel_vacated", namespaceOf(name));
  if (!isConcerned) return object.kind === "gateway" ? { ofGateway: { awaitsEnd } } : undefined;
  return new EventDelivery({
    events,
    platform,
    object: eventObject(node),
    sessions: () => watchedSessions(object),
    namespaceOf,
    jobAddedAtMs: () => object.jobAddedAtMs(),
    called: () => object.called(),
    endEvent: (nowMs) => object.schedule(nowMs),
  });
}

/** Makes the events of a home; undefined if no backend gets events of users who are online (rule E11). */
export function newHomeEvents({ config, platform, endEvent }: PartedHome): HomePart | undefined {
  const { events } = config;
  if (events === undefined || !reportsWhoIsOnline(config)) return undefined;
  return new EventDelivery({
    events,
    platform,
    object: homeObject(platform.name),
    sessions: () => [],
    namespaceOf: () => "",
    jobAddedAtMs: () => undefined,
    called: () => undefined,
    endEvent,
  });
}

export function reportsWhoIsOnline({ events }: Config): boolean {
  return isReported(events, "user_online");
}

function* watchedSessions(object: PartHost): Generator<SessionEvents> {
  for (const { observer } of object.sockets.sessions())
    if (observer instanceof SessionEvents) yield observer;
}

/** The types of events that any object with connections may have. */
const connectionTypes = ["connected", "subscribed"] as const;

/** Those that only the object of a channel has. */
const channelTypes = ["publication", "channel_occupied", "unseen", "seen"] as const;

/** The object whose events are sent. */
interface EventDeliverySetup {
  readonly events: NonNullable<Config["events"]>;
  readonly platform: Pick<Platform, "sql" | "after" | "nowMs" | "sendEvents">;
  /** The object's name in its events. */
  readonly object: string;
  /** The object's open connections, as they were reported. */
  readonly sessions: () => Iterable<ReportedConnection>;
  readonly namespaceOf: (channel: string) => string;
  /**
   * When the job came that is being carried out, ms since 1970; undefined outside of a job: then
   * {@link EventDelivery.committed} isn't called for what it adds.
   */
  readonly jobAddedAtMs: () => number | undefined;
  /** Called before each call. */
  readonly called: () => void;
  /** Ends the object's work on an answer: it has to call {@link EventDelivery.ended}, and to set the alarm. */
  readonly endEvent: (nowMs: number) => void;
}

/**
 * Reports to a backend when a channel gets its first subscriber, and when it has lost its last one (rule E10). The rows
 * of the outbox note the last report, so the two events alternate, through crashes.
 */
export class Occupancy {
  readonly #outbox: Outbox;
  readonly #channel: string;

  constructor(outbox: Outbox, channel: string) {
    this.#outbox = outbox;
    this.#channel = channel;
  }

  /**
   * The object calls it when its work on a frame, a call or its alarm ends.
   *
   * @param isOccupied whether the channel has subscribers, here or on gateways; undefined if that isn't known: then the
   *                   last report stands
   */
  note(isOccupied: boolean | undefined, nowMs: number): void {
    if (isOccupied === undefined) return;
    if (isOccupied === (this.#outbox.mark(markName) !== undefined)) return;
    this.#outbox.setMark(markName, isOccupied ? "1" : undefined);
    const type = isOccupied ? "channel_occupied" : "channel_vacated";
    this.#outbox.append({ type, channel: this.#channel }, nowMs);
  }
}

const markName = "occupied";
