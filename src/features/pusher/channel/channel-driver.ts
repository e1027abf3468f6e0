import { presentClients } from "../../../channel/presence.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { gatherPresence } from "../../../object/channel-presence.ts";
import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import { limits } from "../../../limits.ts";
import type { ClientInfo } from "../../../protocol/publication.ts";
import { pusherLimits } from "../limits.ts";
import type { AppChannel } from "./app-channel.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";

/** Sends the webhooks of a channel, and finds the members that have gone with a gateway. */
export class ChannelDriver implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #kept: AppChannel;
  readonly #timer: NextTimer;
  /** The relay's count of renewals when members were last looked for. */
  #renewals = 0;
  /** When members are looked for, ms since 1970; undefined for never. */
  #checkAtMs: number | undefined;
  #isChecking = false;
  /** Whether this instance has looked: the one before may have ended while it was about to. */
  #hasLooked = false;

  constructor(object: PartedChannelObject, kept: AppChannel) {
    this.#object = object;
    this.#kept = kept;
    kept.nowMs = () => object.platform.nowMs();
    this.#timer = new NextTimer(object.platform, (nowMs) => {
      this.#tellCount(nowMs);
      object.endEvent(nowMs);
    });
    // The instance before may have ended between the loss of a gateway and the look.
    if (kept.roll?.isEmpty === false && !object.channel.isHeld)
      this.#checkAtMs = object.awakeSinceMs;
  }

  ended(nowMs: number): void {
    const { channel } = this.#object;
    const { hub, relay } = channel;
    if (this.#renewals !== relay.renewals) {
      this.#renewals = relay.renewals;
      this.#kept.counts?.keepOnly(relay.gateways);
      if (this.#kept.roll?.isEmpty === false) this.#checkAtMs = nowMs + pusherLimits.membersCheckMs;
    }
    if (this.#checkAtMs !== undefined && this.#checkAtMs <= nowMs) this.#check();
    this.#kept.settle(hub.shownSize > 0 ? true : relay.occupied, nowMs);
    for (const webhook of this.#kept.webhooks) this.#send(webhook, nowMs);
    this.#timer.set(this.#waitMs(nowMs), nowMs);
  }

  dueAtMs(nowMs: number): number {
    const ownAtMs = this.#ownAtMs;
    // The timer is due earlier, so the alarm finds something to do after a crash only.
    return Math.min(
      ownAtMs === Number.POSITIVE_INFINITY
        ? ownAtMs
        : Math.max(ownAtMs, nowMs) + limits.crashAlarmMs,
      ...this.#kept.webhooks.map(({ outbox }) => outbox.alarmAtMs(nowMs)),
    );
  }

  rang(nowMs: number): void {
    for (const { outbox } of this.#kept.webhooks) outbox.deleteExpired(nowMs);
    // With the gateways that are checked each hour, so that this takes no alarm of its own.
    if (!this.#hasLooked && this.#kept.roll?.isEmpty === false) this.#checkAtMs ??= nowMs;
  }

  storesNothing(): boolean {
    return this.#kept.storesNothing;
  }

  storageDeleted(): void {
    this.#kept.roll?.deleted();
    this.#kept.counts?.deleted();
  }

  /** Tells how many subscriptions there are. The timer calls it, because what it publishes is sent when an event ends. */
  #tellCount(nowMs: number): void {
    const { channel } = this.#object;
    const count = this.#kept.counts?.take(channel.hub.shownSize, nowMs);
    if (count !== undefined) channel.publish(this.#kept.countTold(count, nowMs), undefined, nowMs);
  }

  /** When it is to be told who has gone, or to be looked for them, ms since 1970; Infinity for never. */
  get #ownAtMs(): number {
    return Math.min(this.#kept.dueAtMs, this.#checkAtMs ?? Number.POSITIVE_INFINITY);
  }

  #waitMs(nowMs: number): number | undefined {
    const waits = this.#kept.webhooks.map(
      ({ outbox }) => outbox.beginInMs(nowMs) ?? Number.POSITIVE_INFINITY,
    );
    const { hub } = this.#object.channel;
    const countAtMs = this.#kept.counts?.dueAtMs(hub.shownSize, nowMs) ?? Number.POSITIVE_INFINITY;
    const waitMs = Math.min(Math.max(0, Math.min(this.#ownAtMs, countAtMs) - nowMs), ...waits);
    return waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs;
  }

  #send({ outbox, receiver }: WebhookOutbox, nowMs: number): void {
    const batch = outbox.begin(nowMs);
    if (batch === undefined) return;
    const { platform } = this.#object;
    this.#object.called();
    const done = (isTaken: boolean): void => {
      const answeredMs = platform.nowMs();
      outbox.answered(batch, isTaken, answeredMs);
      this.#object.schedule(answeredMs);
    };
    platform.sendEvents(batch.body, done, receiver);
  }

  /** Looks which of the connections that were announced are still there, and announces the end of the others. */
  #check(): void {
    this.#checkAtMs = undefined;
    const { roll } = this.#kept;
    if (this.#isChecking || roll === undefined || roll.isEmpty) return;
    this.#isChecking = true;
    const { channel, platform, called, endEvent } = this.#object;
    // Those who come meanwhile aren't looked for.
    const announced = roll.clients;
    const { gateways } = channel.relay;
    called(gateways.length);
    gatherPresence(platform, gateways, channel.name, false, ({ clients, complete }) => {
      this.#isChecking = false;
      const nowMs = platform.nowMs();
      this.#hasLooked ||= complete;
      if (complete) this.#end(announced, [...clients, ...presentClients(channel.hub.subscribers)]);
      else this.#checkAtMs = nowMs + pusherLimits.membersRetryMs;
      endEvent(nowMs);
    });
  }

  #end(announced: readonly ClientInfo[], present: readonly ClientInfo[]): void {
    const { channel } = this.#object;
    const here = new Set(present.map(({ client }) => client));
    const known = new Set(this.#kept.roll?.clients.map(({ client }) => client));
    for (const info of announced) {
      if (here.has(info.client) || !known.has(info.client)) continue;
      channel.announce("leave", info);
      this.#kept.roll?.found(info);
    }
  }
}
