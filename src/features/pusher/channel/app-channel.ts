import type { AcceptedEntry, ChannelPart, PartedChannel } from "../../../channel/channel-part.ts";
import type { PublicationRequest } from "../../../contract/channel-call.ts";
import type { Config } from "../../../config/config.ts";
import type { RelayReply, RelayRequest } from "../../../contract/relay-request.ts";
import { trustedJsonText } from "../../../protocol/json/text.ts";
import { payloadJson } from "../../../protocol/payload.ts";
import type { ClientInfo } from "../../../protocol/publication.ts";
import type { Sql } from "../../../sql.ts";
import { kindOf, listsMembers, nameIn } from "../channel-names.ts";
import { eventTag } from "../event-data.ts";
import { pusherLimits } from "../limits.ts";
import { memberOf } from "../presence-member.ts";
import { socketIdOf } from "../socket-id.ts";
import { MemberRoll } from "./member-roll.ts";
import { SubscriptionCounts } from "./subscription-counts.ts";
import { appsOf, type WebhookEvent, type WebhookOutbox } from "./webhook-outbox.ts";

declare module "../../../contract/relay-request.ts" {
  interface RelayRequests {
    /** A client has subscribed to a cache channel that has nothing to give. */
    readonly cacheMissed: object;
    /** Asks for the connections of the members that gateways have been told of. */
    readonly members: object;
  }
  interface RelayOutcomes {
    readonly noted: object;
    /** `sequence` is the number of the last entry of the instance: see `RelayBatch`. */
    readonly members: {
      readonly clients: readonly ClientInfo[];
      readonly instance: number;
      readonly sequence: number;
    };
  }
}

/** A channel of an application, on the channel's own object: who is there, and what webhooks are told (rules PU13, PU14). */
export class AppChannel implements ChannelPart {
  readonly webhooks: readonly WebhookOutbox[];
  /** The members of a presence channel; undefined on any other. */
  readonly roll: MemberRoll | undefined;
  /** How many subscriptions there are, where clients are told. */
  readonly counts: SubscriptionCounts | undefined;
  /** The time, ms since 1970; set before anything happens. */
  nowMs: () => number = () => 0;
  readonly #name: string;
  readonly #relay: AppChannelSource["relay"];
  readonly #keepsGone: boolean;
  /** When it will be told that the last subscriber has gone, ms since 1970; undefined while there is one. */
  #vacatedAtMs: number | undefined;
  #missedAtMs = 0;

  /** @param name by which applications know the channel */
  constructor(
    { relay }: AppChannelSource,
    name: string,
    sql: Sql,
    webhooks: readonly WebhookOutbox[],
    isCounted: boolean,
  ) {
    this.#relay = relay;
    this.#name = name;
    this.webhooks = webhooks;
    this.roll = listsMembers(this.#name) ? new MemberRoll(sql) : undefined;
    this.counts = isCounted ? new SubscriptionCounts(sql) : undefined;
    this.#keepsGone = this.tells("member_removed");
  }

  /** Whether a webhook is told of such events. */
  tells(type: WebhookEvent["name"]): boolean {
    return this.webhooks.some((webhook) => webhook.tells(type));
  }

  announces(type: "join" | "leave", info: ClientInfo): boolean {
    if (this.roll === undefined) return true;
    const nowMs = this.nowMs();
    if (type === "leave") return this.roll.leave(info, this.#keepsGone, nowMs) !== "known";
    const joined = this.roll.join(info);
    if (joined === "first")
      this.#tell({ ...this.#event("member_added"), user_id: memberOf(info) ?? "" }, nowMs);
    return joined !== "known";
  }

  accepted({ info, tags, data }: AcceptedEntry, nowMs: number): void {
    const event = tags?.[eventTag] ?? "";
    if (info === undefined || !event.startsWith("client-") || !this.tells("client_event")) return;
    const user = this.roll === undefined ? undefined : memberOf(info);
    const told = {
      ...this.#event("client_event"),
      event,
      data: payloadJson(data),
      socket_id: socketIdOf(info.client),
      ...(user !== undefined && { user_id: user }),
    };
    this.#tell(told, nowMs);
  }

  reply(gateway: string, request: RelayRequest, _: number, nowMs: number): RelayReply | undefined {
    if (request.method === "subscriptions") {
      this.counts?.set(gateway, request.count);
      return { outcome: "noted" };
    }
    if (request.method === "members") {
      const { instance, sequence } = this.#relay;
      return { outcome: "members", clients: this.roll?.clients ?? [], instance, sequence };
    }
    if (request.method !== "cacheMissed") return undefined;
    // Each subscriber would be one, until the backend has sent an event.
    if (Math.abs(nowMs - this.#missedAtMs) >= pusherLimits.webhookMissMs) {
      this.#missedAtMs = nowMs;
      this.#tell(this.#event("cache_miss"), nowMs);
    }
    return { outcome: "noted" };
  }

  /** Tells webhooks of the number of subscriptions. @returns the publication by which clients are told */
  countTold(count: number, nowMs: number): PublicationRequest {
    const told = { subscription_count: count };
    this.#tell({ ...this.#event("subscription_count"), ...told }, nowMs);
    return {
      data: trustedJsonText(JSON.stringify(told)),
      tags: { [eventTag]: countEvent },
      skipHistory: true,
      idempotencyKey: "",
      version: 0n,
      versionEpoch: "",
      delta: false,
    };
  }

  /**
   * Tells what is due at the end of an event.
   *
   * @param isOccupied whether the channel has subscribers; undefined if that isn't known: then what was told stands
   */
  settle(isOccupied: boolean | undefined, nowMs: number): void {
    this.#noteOccupied(isOccupied, nowMs);
    if (this.#leaveDueAtMs > nowMs) return;
    for (const user of this.roll?.forgetGone(nowMs - pusherLimits.webhookLeaveMs) ?? [])
      this.#tell({ ...this.#event("member_removed"), user_id: user }, nowMs);
  }

  /** When {@link settle} has to be called, ms since 1970; Infinity for never. */
  get dueAtMs(): number {
    return Math.min(this.#leaveDueAtMs, this.#vacatedAtMs ?? Number.POSITIVE_INFINITY);
  }

  get storesNothing(): boolean {
    return (
      this.roll?.isEmpty !== false &&
      this.counts?.isEmpty !== false &&
      this.webhooks.every(({ outbox }) => outbox.storesNothing)
    );
  }

  get #leaveDueAtMs(): number {
    return (this.roll?.goneSinceMs ?? Number.POSITIVE_INFINITY) + pusherLimits.webhookLeaveMs;
  }

  /** The rows of the events note the last report, so occupied and vacated alternate, through crashes. */
  #noteOccupied(isOccupied: boolean | undefined, nowMs: number): void {
    const told = this.webhooks.filter((webhook) => webhook.tells("channel_occupied"));
    if (isOccupied === undefined || told.length === 0) return;
    if (isOccupied) this.#vacatedAtMs = undefined;
    else if (told.some(({ outbox }) => outbox.mark(markName) !== undefined))
      this.#vacatedAtMs ??= nowMs + pusherLimits.webhookLeaveMs;
    if (!isOccupied && nowMs < (this.#vacatedAtMs ?? Number.POSITIVE_INFINITY)) return;
    this.#vacatedAtMs = undefined;
    const event = this.#event(isOccupied ? "channel_occupied" : "channel_vacated");
    for (const webhook of told) {
      const { outbox } = webhook;
      if (isOccupied === (outbox.mark(markName) !== undefined)) continue;
      outbox.setMark(markName, isOccupied ? "1" : undefined);
      webhook.add(event, nowMs);
    }
  }

  #event(name: WebhookEvent["name"]): WebhookEvent {
    return { name, channel: this.#name };
  }

  #tell(event: WebhookEvent, nowMs: number): void {
    for (const webhook of this.webhooks) webhook.add(event, nowMs);
  }
}

/** The channel, as far as this part needs it. */
interface AppChannelSource {
  readonly relay: Pick<PartedChannel["relay"], "instance" | "sequence">;
}

/** Whether clients are told how many subscriptions a channel has: those of presence channels know their members. */
export function countsSubscriptions(config: Config, channel: string): boolean {
  const app = appsOf(config, channel).find((one) => one.enableSubscriptionCount);
  if (app === undefined) return false;
  const access = kindOf(nameIn(app, channel, config.channel))?.access;
  return access === "public" || access === "private";
}

const markName = "occupied";

/** The protocol's own event, which comes as a publication: it needs no frame of its own. */
const countEvent = "pusher_internal:subscription_count";
