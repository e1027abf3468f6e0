import type { Channel } from "../../channel/channel.ts";
import type { ChannelSetup } from "../../channel/channel-setup.ts";
import type { Config, EventType } from "../../config/config.ts";
import { ConnectionEvents } from "./connection-events.ts";
import { isTold } from "./event.ts";
import { Occupancy } from "./occupancy.ts";
import { type EventBatch, Outbox } from "./outbox.ts";
import { type ToldConnection, ToldTable } from "./told-table.ts";
import { limits } from "../../limits.ts";
import type { SessionContext } from "../../session/ports.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { Platform } from "../../object/platform.ts";

/**
 * Sends the events of one object to the target of the configuration: one batch at a time, and nothing else of the object
 * waits for it (rule E3). `Outbox` decides what is sent and when. The output gate lets a batch out only once its rows are
 * durable.
 */
export class EventDelivery {
  readonly outbox: Outbox;
  /** Tells of the object's connections; undefined where the backend isn't told of any. */
  readonly connections: ConnectionEvents | undefined;
  readonly #setup: EventDeliverySetup;
  /** Adds events at the end of every event, before the batch begins. */
  #note: ((nowMs: number) => void) | undefined;
  readonly #timer: NextTimer;

  constructor(setup: EventDeliverySetup) {
    this.#setup = setup;
    const { platform, object, events, sessions, namespaceOf } = setup;
    const { sql } = platform;
    this.#timer = new NextTimer(platform, () => this.proceed(platform.nowMs()));
    const outbox = new Outbox({ sql, object, config: events });
    this.outbox = outbox;
    const isConcerned = isTold(events, "connected") || isTold(events, "subscribed");
    this.connections = isConcerned
      ? new ConnectionEvents({
          config: events,
          outbox,
          table: new ToldTable(sql),
          sessions,
          namespaceOf,
          nowMs: () => platform.nowMs(),
        })
      : undefined;
  }

  /**
   * What a channel needs to tell of its publications, and to find out that it has no subscriber any more.
   *
   * @param jobAddedAtMs says when the job came that is being carried out, ms since 1970; undefined outside of a job: then
   *                     {@link committed} isn't called for it
   */
  ofChannel(
    name: string,
    jobAddedAtMs: () => number | undefined,
  ): Pick<ChannelSetup, "events" | "followersCheckMs"> {
    const followersCheckMs = limits.eventsFollowersCheckMs;
    const events: ChannelSetup["events"] = {
      add: (event, nowMs) => {
        // A crash is told of as long as the rows that say who was there are kept.
        this.connections?.compare();
        const publishedAtMs = jobAddedAtMs();
        if (publishedAtMs === undefined) this.outbox.add({ ...event, publishedAtMs: nowMs }, nowMs);
        else this.outbox.addInCommit({ ...event, publishedAtMs }, nowMs);
      },
    };
    return {
      ...(this.#tellsOf("publication", name) ? { events } : {}),
      ...(this.#tellsOf("channel_occupied", name) ? { followersCheckMs } : {}),
    };
  }

  /** Tells, from now on, whether a channel has subscribers (rule E10). */
  watch(channel: Pick<Channel, "name" | "isHeld">): void {
    if (!this.#tellsOf("channel_occupied", channel.name)) return;
    const occupancy = new Occupancy(this.outbox, channel.name);
    this.#note = (nowMs) => occupancy.note(channel.isHeld, nowMs);
  }

  /** What sessions need to tell of themselves. */
  get ofSessions(): Pick<SessionContext, "events"> {
    return this.connections === undefined ? {} : { events: this.connections };
  }

  #tellsOf(type: EventType, channel: string): boolean {
    const { events, namespaceOf } = this.#setup;
    return isTold(events, type, namespaceOf(channel));
  }

  /** The publications that were added are durable, and may be sent (rule E12). */
  committed(nowMs: number): void {
    this.outbox.committed(nowMs);
    this.proceed(nowMs);
  }

  /** When the object's alarm has to ring, ms since 1970; Infinity for never. */
  alarmAtMs(nowMs: number): number {
    const connectionsAtMs = this.connections?.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.outbox.alarmAtMs(nowMs), connectionsAtMs);
  }

  /** Sends the batch that is due, and sets the timer for the next one. To be called at the end of every event. */
  proceed(nowMs: number): void {
    this.connections?.compare();
    this.#note?.(nowMs);
    const batch = this.outbox.begin(nowMs);
    if (batch !== undefined) this.#send(batch);
    this.#timer.set(this.outbox.beginInMs(nowMs), nowMs);
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

/** The object whose events are sent. */
export interface EventDeliverySetup {
  readonly events: NonNullable<Config["events"]>;
  readonly platform: Pick<Platform, "sql" | "after" | "nowMs" | "sendEvents">;
  /** The object's name in its events. */
  readonly object: string;
  /** What was told of the object's open connections. */
  readonly sessions: () => Iterable<ToldConnection>;
  readonly namespaceOf: (channel: string) => string;
  /** Called before each call. */
  readonly called: () => void;
  /** Ends the event that an answer is: it has to call {@link EventDelivery.proceed}, and to set the alarm. */
  readonly endEvent: (nowMs: number) => void;
}
