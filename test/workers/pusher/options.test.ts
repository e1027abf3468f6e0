import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { signinText } from "../../../src/features/pusher/signed-text.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { app, connect, get, secret, sign, subscribe } from "./app-client.ts";

configure({
  channel: { namespaces: [{ name: "shop", presence: true }] },
  pusher: { apps: [{ ...app, enable_subscription_count: true, require_signin: true }] },
});
Object.assign(env, { PUSHER_SECRET_SHOP: secret });
// Evictions wait for an object's timers.
Object.assign(pusherLimits, { countWaitMs: 20 });
afterEach(() => {
  vi.useRealTimers();
});

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

/** Awaits a client's frame with a text in it. */
async function frameWith(socket: TestSocket, text: string): Promise<string> {
  for (;;) {
    const frame = await socket.frame();
    if (frame.includes(text)) return frame;
  }
}

describe.each(states)(
  "an application's clients, while the objects are $state",
  ({ state, settle }) => {
    it("[PU15] are told how many subscriptions a channel has", async () => {
      const channel = `private-count-${state}`;
      const [one, two] = [await subscribe(channel), await subscribe(channel)];
      const frame = await frameWith(one.socket, 'count\\":2');
      expect(JSON.parse(frame)).toEqual({
        event: "pusher_internal:subscription_count",
        channel,
        data: '{"subscription_count":2}',
      });
      await frameWith(two.socket, 'count\\":2');
      await settle(channel);
      two.socket.close();
      await frameWith(one.socket, 'count\\":1');
      await settle(channel);
      const three = await subscribe(channel);
      await frameWith(one.socket, 'count\\":2');
      three.socket.close();
      one.socket.close();
    });

    it("[PU16] are closed with 4009 unless a user signs in in time", async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      const [idle, known] = [await connect(), await connect()];
      const data = JSON.stringify({ id: "7" });
      const auth = `${app.key}:${await sign(signinText(known.socketId, data))}`;
      known.socket.send({ event: "pusher:signin", data: { auth, user_data: data } });
      expect(await known.socket.frame()).toContain("signin_success");
      await settle("private-x");
      const dueAtMs = await runInDurableObject(gateway(), (_, { storage }) => storage.getAlarm());
      expect(dueAtMs).toBeLessThanOrEqual(Date.now() + (pusherLimits.signinSeconds + 1) * 1_000);
      vi.setSystemTime(Date.now() + (pusherLimits.signinSeconds + 1) * 1_000);
      await runDurableObjectAlarm(gateway());
      expect(await idle.socket.frame()).toContain('"pusher:error","data":{"code":4009');
      expect((await idle.socket.closed).code).toBe(4009);
      known.socket.sendFrame('{"event": "pusher:ping"}');
      expect(await known.socket.frame()).toContain("pusher:pong");
      known.socket.close();
    });
  },
);

describe("the list of channels", () => {
  it("[PU12] has all of them, however many pages that takes, by their prefix", async () => {
    Object.assign(pusherLimits, { listedPageChannels: 2 });
    const names = ["list-1", "list-2", "list-3", "list-4", "list-5"];
    const clients = [];
    for (const name of [...names, "other-1"]) clients.push(await subscribe(name));
    const channels = Object.fromEntries(names.map((name) => [name, {}]));
    expect(await get("/channels", { filter_by_prefix: "list-" })).toEqual({ channels });
    for (const { socket } of clients) socket.close();
  });
});
