import { describe, expect, it } from "vitest";
import { AppChannel } from "../../../../src/features/pusher/channel/app-channel.ts";
import type { WebhookType } from "../../../../src/features/pusher/config.ts";
import { pusherLimits } from "../../../../src/features/pusher/limits.ts";
import { infoOf } from "../../../../src/features/pusher/presence-member.ts";
import { WebhookOutbox } from "../../../../src/features/pusher/channel/webhook-outbox.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import type { Sql } from "../../../../src/sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const all: readonly WebhookType[] = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
];
const { webhookLeaveMs } = pusherLimits;
const off = {
  enableClientMessages: false,
  enableSubscriptionCount: false,
  enableWatchlistEvents: false,
  requireSignin: false,
};
const app = { ...off, id: "shop", key: "key", secret: "PUSHER_SECRET_SHOP", namespace: "shop" };

/** A channel of the application on a storage, whose events go to a webhook for each list of types. */
function open(
  name: string,
  sql: Sql = new NodeSql(),
  ...types: readonly (readonly WebhookType[])[]
) {
  const lists = types.length === 0 ? [all] : types;
  const webhooks = lists.map((eventTypes) => ({
    endpoint: { kind: "url", url: "https://shop.example/" } as const,
    eventTypes: new Set(eventTypes),
  }));
  const given = { ...app, webhooks };
  const outboxes = webhooks.map(
    (webhook, index) => new WebhookOutbox(sql, { app: given, webhook }, `webhook_${index}_`),
  );
  const channel = new AppChannel(
    { relay: { instance: 1, sequence: 0 } },
    name,
    sql,
    outboxes,
    false,
  );
  return { channel, sql, told: (index = 0) => toldBy(outboxes[index]) };
}

/** The events of an outbox, as they are sent. */
function toldBy(webhook: WebhookOutbox | undefined): readonly object[] {
  const batch = webhook?.outbox.begin(20_000_000) ?? { body: '{"events":[]}' };
  const { events }: { readonly events: readonly object[] } = JSON.parse(batch.body);
  return events;
}

function member(client: string, user: string) {
  return { user: "", client, chanInfo: infoOf(user, undefined) };
}

function at(channel: AppChannel, ms: number): void {
  channel.nowMs = () => ms;
}

describe("[PU13] the webhooks of a channel", () => {
  it("are told that it is occupied, and vacated once nobody has come back in time", () => {
    const { channel, told } = open("orders");
    channel.settle(true, 1_000);
    channel.settle(false, 2_000);
    channel.settle(true, 2_000 + webhookLeaveMs - 1);
    channel.settle(undefined, 3_000_000);
    channel.settle(false, 4_000_000);
    expect(channel.dueAtMs).toBe(4_000_000 + webhookLeaveMs);
    channel.settle(false, 4_000_000 + webhookLeaveMs - 1);
    channel.settle(false, 4_000_000 + webhookLeaveMs);
    channel.settle(true, 5_000_000);
    expect(told()).toMatchObject([
      { name: "channel_occupied", channel: "orders", first: true },
      { name: "channel_vacated", channel: "orders" },
      { name: "channel_occupied", channel: "orders" },
    ]);
  });

  it("are told that it is vacated by the next instance, if this one ends before", () => {
    const { channel, sql } = open("orders");
    channel.settle(true, 1_000);
    channel.settle(false, 2_000);
    const next = open("orders", sql);
    next.channel.settle(true, 3_000);
    next.channel.settle(false, 4_000);
    next.channel.settle(false, 4_000 + webhookLeaveMs);
    expect(next.told()).toMatchObject([{ name: "channel_occupied" }, { name: "channel_vacated" }]);
  });

  it("get what their types say, each from an outbox of its own", () => {
    const { channel, told } = open("cache-news", new NodeSql(), ["cache_miss"], ["client_event"]);
    const missed = { method: "cacheMissed" } as const;
    expect(channel.reply("g", missed, 0, 10_000)).toEqual({ outcome: "noted" });
    channel.reply("g", missed, 0, 10_000 + pusherLimits.webhookMissMs - 1);
    channel.accepted(
      {
        data: trustedJsonText('{"x":1}'),
        tags: { event: "client-typing" },
        info: { user: "", client: "00000000-0000-0001-0000-000000000002" },
      },
      11_000,
    );
    channel.accepted({ data: trustedJsonText("{}"), tags: { event: "order" } }, 11_000);
    expect(told(0)).toMatchObject([{ name: "cache_miss", channel: "cache-news", first: true }]);
    expect(told(1)).toMatchObject([
      {
        first: true,
        name: "client_event",
        channel: "cache-news",
        event: "client-typing",
        data: '{"x":1}',
        socket_id: "1.2",
      },
    ]);
  });
});

describe("[PU14] the members of a presence channel", () => {
  it("are announced for each connection, and told once for each user, over a restart", () => {
    const { channel, sql } = open("presence-room");
    at(channel, 1_000);
    expect(channel.announces("join", member("a", "7"))).toBe(true);
    expect(channel.announces("join", member("a", "7"))).toBe(false);
    expect(channel.announces("join", member("b", "7"))).toBe(true);
    expect(channel.announces("leave", member("a", "7"))).toBe(true);
    const next = open("presence-room", sql);
    at(next.channel, 2_000);
    expect(next.channel.announces("join", member("b", "7"))).toBe(true);
    expect(next.channel.announces("leave", member("b", "7"))).toBe(true);
    next.channel.settle(undefined, 2_000 + webhookLeaveMs - 1);
    const last = open("presence-room", sql);
    last.channel.settle(undefined, 2_000 + webhookLeaveMs);
    expect(last.told()).toMatchObject([
      { name: "member_added", channel: "presence-room", user_id: "7", first: true },
      { name: "member_removed", channel: "presence-room", user_id: "7" },
    ]);
    expect(last.channel.roll?.isEmpty).toBe(true);
  });

  it("are announced to others when they reload, and webhooks are told nothing", () => {
    const { channel, told } = open("presence-room");
    at(channel, 1_000);
    channel.announces("join", member("a", "7"));
    expect(channel.announces("leave", member("a", "7"))).toBe(true);
    expect(channel.announces("join", member("b", "7"))).toBe(true);
    channel.settle(undefined, 1_000_000);
    expect(told()).toHaveLength(1);
  });

  it("are announced again by the next instance, which can't know whether they were told of", () => {
    const { channel, sql } = open("presence-room");
    channel.announces("join", member("a", "7"));
    expect(channel.announces("join", member("a", "7"))).toBe(false);
    const next = open("presence-room", sql).channel;
    expect(next.announces("join", member("a", "7"))).toBe(true);
    expect(next.announces("join", member("a", "7"))).toBe(false);
  });

  it("leave once, where they were found to have gone before their own leave came", () => {
    const { channel } = open("presence-room");
    channel.announces("join", member("a", "7"));
    const [lost] = channel.roll?.clients ?? [];
    if (lost === undefined) throw new Error("nobody is there");
    expect(channel.announces("leave", lost)).toBe(true);
    channel.roll?.found(lost);
    expect(channel.announces("leave", member("a", "7"))).toBe(false);
  });
});
