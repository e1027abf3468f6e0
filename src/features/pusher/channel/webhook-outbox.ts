import type { Config } from "../../../config/config.ts";
import { partsOf } from "../../../config/name-parts.ts";
import type { SignedReceiver } from "../../../object/platform.ts";
import { type EventForm, Outbox } from "../../events/outbox.ts";
import type { Sql } from "../../../sql.ts";
import type { PusherApp, Webhook, WebhookType } from "../config.ts";
import { pusherLimits } from "../limits.ts";

/** An event of a webhook, with the fields that Pusher gives it, in their order. */
export interface WebhookEvent {
  readonly name: WebhookType;
  readonly channel: string;
  readonly [field: string]: string | number;
}

/** The events of one channel for one webhook of an application, in an outbox of their own (rule PU13). */
export class WebhookOutbox {
  readonly outbox: Outbox;
  readonly receiver: SignedReceiver;
  readonly #types: ReadonlySet<WebhookType>;

  /** @param prefix of its tables' names */
  constructor(sql: Sql, { app, webhook }: AppWebhook, prefix: string) {
    const { key, secret } = app;
    this.#types = webhook.eventTypes;
    this.receiver = {
      endpoint: webhook.endpoint,
      secret,
      headers: (signature) => ({ "X-Pusher-Key": key, "X-Pusher-Signature": signature }),
    };
    const config = {
      target: webhook.endpoint,
      batchMax: pusherLimits.webhookEventsMax,
      keepMs: pusherLimits.webhookKeepMs,
      keepMax: pusherLimits.webhookKeepMax,
    };
    this.outbox = new Outbox({ sql, object: "", config, form, prefix });
  }

  tells(type: WebhookType): boolean {
    return this.#types.has(type);
  }

  /** Adds an event, if the webhook is told of such: a row written. */
  add(event: WebhookEvent, nowMs: number): void {
    if (this.tells(event.name))
      this.outbox.add(event.name, JSON.stringify(event).slice(1, -1), nowMs);
  }
}

/** A batch as Pusher writes it. An event has a number more: by it a receiver knows a repeated one. */
const form: EventForm = {
  head: (number) => `{"number":${number},`,
  gap: '"name":"gap"',
  body: (events, firstMs) => `{"time_ms":${firstMs},"events":[${events.join(",")}]}`,
};

/** A webhook with its application. */
interface AppWebhook {
  readonly app: PusherApp;
  readonly webhook: Webhook;
}

/** The applications on whose namespace a channel is. */
export function appsOf({ pusher, channel }: Config, name: string): readonly PusherApp[] {
  if (pusher === undefined) return [];
  const { namespace } = partsOf(name, channel);
  return pusher.apps.filter((app) => app.namespace === namespace);
}

/** Their webhooks. */
export function webhooksOf(apps: readonly PusherApp[]): readonly AppWebhook[] {
  return apps.flatMap((app) => app.webhooks.map((webhook) => ({ app, webhook })));
}
