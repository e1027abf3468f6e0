import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { patience } from "../../support/patience.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { crashObject } from "../support/crash-object.ts";
import { logInWith, own } from "../console/console-post.ts";
import { address } from "../support/api-request.ts";
import { TestSocket } from "../support/test-socket.ts";
import { app, request, secret, subscribe } from "./app-client.ts";

const types = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
];
const password = "the-password-of-the-webhook-tests";
configure({
  console: { enabled: true },
  channel: {
    namespaces: [{ name: "shop", presence: true, history_size: 10, history_ttl: "10m" }],
  },
  pusher: {
    apps: [
      {
        ...app,
        enable_client_messages: true,
        webhooks: [{ url: "service:RECEIVER", event_types: types }],
      },
    ],
  },
});
Object.assign(env, { PUSHER_SECRET_SHOP: secret, CONSOLE_PASSWORD: password });
// Evictions wait for an object's timers.
Object.assign(eventLimits, { eventsFirstWaitMs: 20, eventsPauseMs: 50, eventsRetryMs: 50 });
Object.assign(pusherLimits, { webhookLeaveMs: 100, webhookMissMs: 0, membersCheckMs: 100 });

interface Told {
  readonly name: string;
  readonly channel: string;
  readonly number: number;
}

/** What the receiver was told of a channel, once it was told so much. */
function told(channel: string, count: number): Promise<readonly Told[]> {
  return vi.waitUntil(
    async () => {
      const response = await env.RECEIVER.fetch("https://receiver/taken");
      const { taken }: { readonly taken: readonly Told[] } = await response.json();
      const events = taken.filter((event) => event.channel === channel);
      return events.length >= count && events;
    },
    { timeout: 20_000, interval: 20 },
  );
}

let count = 0;
const gateway = () => env.GATEWAYS.getByName("pusher~any/0");
const states = [
  { state: "awake", settle: async () => undefined },
  {
    state: "evicted",
    settle: async (channel: string) => {
      await hibernate(gateway());
      await hibernate(env.CHANNELS.getByName(`shop:${channel}`));
    },
  },
];

describe.each(states)("webhooks, while the objects are $state", ({ state, settle }) => {
  it("[PU13] tell when a channel is occupied and vacated, and of its members", async () => {
    const channel = `presence-${state}-${++count}`;
    const one = await subscribe(channel, "1");
    await settle(channel);
    const [two, again] = [await subscribe(channel, "2"), await subscribe(channel, "2")];
    await settle(channel);
    two.socket.close();
    await two.socket.closed;
    again.socket.close();
    await again.socket.closed;
    await told(channel, 4);
    await settle(channel);
    one.socket.close();
    await one.socket.closed;
    const all = await told(channel, 6);
    expect(all.slice(0, 4)).toMatchObject([
      { name: "channel_occupied", channel, first: true },
      { name: "member_added", channel, user_id: "1" },
      { name: "member_added", channel, user_id: "2" },
      { name: "member_removed", channel, user_id: "2" },
    ]);
    expect(
      all
        .slice(4)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["channel_vacated", "member_removed"]);
  });

  it("[PU13] tell of clients' events, and of cache misses", async () => {
    const channel = `private-cache-${state}-${++count}`;
    const { socket, socketId } = await subscribe(channel);
    expect(await socket.frame()).toContain("pusher:cache_miss");
    await told(channel, 2);
    await settle(channel);
    socket.send({ event: "client-typing", channel, data: { at: 1 } });
    const events = await told(channel, 3);
    expect(events).toContainEqual(expect.objectContaining({ name: "cache_miss" }));
    expect(events.at(-1)).toMatchObject({
      name: "client_event",
      event: "client-typing",
      data: '{"at":1}',
      socket_id: socketId,
    });
    socket.close();
  });
});

describe("an operator who looks on", () => {
  it("[N32] [N26] is told of in no webhook", async () => {
    const channel = `private-cache-console-${++count}`;
    const headers = { ...own, ...(await logInWith(password)), Upgrade: "websocket" };
    const path = address("/console/connect?app=shop");
    const onlooker = TestSocket.on(await exports.default.fetch(path, { headers }));
    expect(await onlooker.frame()).toContain("pusher:connection_established");
    onlooker.send({ event: "pusher:subscribe", data: { channel } });
    expect(await onlooker.frame()).toContain("subscription_succeeded");
    expect(await onlooker.frame()).toContain("pusher:cache_miss");
    // The application is told of the first client, and of what that one has missed.
    const { socket } = await subscribe(channel);
    socket.send({ event: "client-typing", channel, data: {} });
    const names = (await told(channel, 3)).map(({ name }) => name);
    expect(names.sort()).toEqual(["cache_miss", "channel_occupied", "client_event"]);
    for (const one of [socket, onlooker]) one.close();
  });
});

describe("a crash of the gateway", () => {
  it("[PU14] ends the members that it held, for the others and for webhooks", async () => {
    const channel = `presence-crash-${++count}`;
    await subscribe(channel, "1");
    await subscribe(channel, "2");
    await told(channel, 3);
    await crashObject(gateway());
    const back = await subscribe(channel, "1");
    await vi.waitUntil(
      async () => (await back.socket.frame()).includes("member_removed"),
      patience,
    );
    const events = await told(channel, 4);
    expect(events.at(-1)).toMatchObject({ name: "member_removed", user_id: "2" });
    back.socket.close();
  });

  it("[PU14] ends them where nobody comes back to it, once the channel has something to tell", async () => {
    const channel = `presence-left-${++count}`;
    const far = await subscribe(channel, "1", "EU");
    const near = await subscribe(channel, "2");
    await told(channel, 3);
    await crashObject(gateway());
    await near.socket.closed;
    await request(JSON.stringify({ name: "order", channel, data: "{}" }));
    await vi.waitUntil(async () => (await far.socket.frame()).includes("member_removed"), patience);
    expect((await told(channel, 4)).at(-1)).toMatchObject({ name: "member_removed", user_id: "2" });
    far.socket.close();
  });
});
