import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName, homeObject } from "../../../src/contract/object-names.ts";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { channel as coded } from "../../../src/features/procedures/definition.ts";
import { requestText } from "../../../src/features/pusher/signed-text.ts";
import { useChannels } from "../../../workers/platform/channel-code.ts";
import { configureEvents } from "../events/event-receiver.ts";
import { address, call, publish } from "../support/api-request.ts";
import { attachmentsOf, hibernate } from "../support/attachments.ts";
import { hmac, keySignature, token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";

const password = "the-password-of-the-onlooker-tests";
const trackSecret = "shared-poll-secret-of-onlooker-tests";
const appSecret = "the secret of the app of the onlooker tests";
Object.assign(env, {
  CONSOLE_PASSWORD: password,
  SHARED_POLL_HMAC_SECRET_KEY: trackSecret,
  PUSHER_SECRET_SHOP: appSecret,
});
useChannels({ coded: coded({ procedures: { sign: (ctx) => ctx.set("signed by", ctx.user) } }) });
const hook = { endpoint: "service:BACKEND", timeout: "20s" };
const kept = { allow_subscribe_for_client: true, history_size: 10, history_ttl: "5m" };
const map = { mode: "persistent", allow_publish_for_client: true };
configureEvents(
  {
    types: [
      "connected",
      "disconnected",
      "subscribed",
      "unsubscribed",
      "channel_occupied",
      "channel_vacated",
      "user_online",
      "user_offline",
    ],
  },
  {
    console: { enabled: true },
    client: {
      ...testConfig.client,
      user_connection_limit: 1,
      users: { status: { enabled: true } },
    },
    channel: {
      proxy: { subscribe: hook, publish: hook, shared_poll_refresh: hook },
      namespaces: [
        {
          name: "chat",
          ...kept,
          force_recovery: true,
          presence: true,
          join_leave: true,
          force_push_join_leave: true,
          allow_publish_for_client: true,
          allow_presence_for_client: true,
          map_clients_presence_channel_prefix: "clients:",
          cursors: { enabled: true, audience: "subscribed" },
        },
        {
          name: "clients",
          subscription_type: "map_clients",
          map: { mode: "ephemeral", key_ttl: "60s" },
        },
        { name: "asked", ...kept, subscribe_proxy_enabled: true },
        { name: "board", subscription_type: "map", map, allow_subscribe_for_client: true },
        {
          name: "poll",
          subscription_type: "shared_poll",
          shared_poll: { refresh_interval: "1h" },
          allow_subscribe_for_client: true,
        },
        {
          name: "edited",
          ...kept,
          allow_publish_for_client: true,
          allow_change: true,
          allow_change_own_for_client: true,
        },
        { name: "coded", ...kept, allow_call_for_client: true },
        { name: "shop", ...kept, presence: true },
      ],
    },
    pusher: {
      apps: [{ id: "shop", key: "shop-key", secret: "PUSHER_SECRET_SHOP", namespace: "shop" }],
    },
  },
);

// An eviction waits until an ephemeral map rests.
Object.assign(mapLimits, { mapRestMs: 50 });

const gateway = () => env.GATEWAYS.getByName("any/0");
const own = { Origin: "https://dormouse.example.com" };

/** What somebody did, and where: the names are of this story alone. */
interface Story {
  readonly id: string;
  readonly user: string;
  readonly channel: string;
  /** Of somebody else, who is subscribed to the channel `chat:<id>-seen`. */
  readonly witness: TestSocket;
  /** When it began, ms since 1970. */
  readonly sinceMs: number;
}

let Cookie = "";
let open: TestSocket[] = [];

beforeAll(async () => {
  Cookie = await logIn();
});

afterAll(() => {
  for (const socket of open) socket.close();
  open = [];
});

function post(path: string, body: object, cookie = Cookie): Promise<Response> {
  const headers = { ...own, Cookie: cookie };
  return exports.default.fetch(address(path), {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
}

async function logIn(): Promise<string> {
  const response = await post("/console/login", { password }, "");
  expect(response.status).toBe(204);
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
}

async function socketAt(path: string, headers: object): Promise<TestSocket> {
  const all = { Upgrade: "websocket", ...headers };
  const socket = TestSocket.on(await exports.default.fetch(address(path), { headers: all }));
  open.push(socket);
  return socket;
}

const lookOn = (user: string, cookie = Cookie) =>
  socketAt(`/console/connect?user=${encodeURIComponent(user)}`, { ...own, Cookie: cookie });

async function result<Result>(method: string, request: object): Promise<Result> {
  const { body } = await call(method, request);
  const parsed: { result?: Result } = JSON.parse(body);
  if (parsed.result === undefined) throw new Error(`${method}: ${body}`);
  return parsed.result;
}

/** The types of the events of an object that name one of these texts. */
async function eventsOf(object: string, ...texts: readonly string[]): Promise<readonly string[]> {
  const { body } = await call("events", { object, limit: 1_000 });
  const { result: told = { events: [] } }: { result?: { events: { type: string }[] } } =
    JSON.parse(body);
  return told.events
    .filter((event) => texts.some((text) => JSON.stringify(event).includes(`"${text}"`)))
    .map(({ type }) => type);
}

async function keysOf(channel: string): Promise<readonly string[]> {
  const request = { channel, limit: -1 };
  const { entries } = await result<{ entries: { key: string }[] }>("map_read_state", request);
  return entries.map(({ key }) => key);
}

/** What can be read about a user and a channel, by the feature that knows it. */
type Reading = (story: Story) => Promise<unknown>;

/**
 * The traces that a connection leaves, by the folder of their feature. A feature without a row fails the first test below: it
 * has to say here what others can read of a connection because of it.
 */
const traces: Readonly<Record<string, Reading>> = {
  // The kernel.
  connections: async ({ user }) =>
    Object.keys((await result<{ connections: object }>("connections", { user })).connections)
      .length,
  channels: async ({ channel }) =>
    (await result<{ channels: object }>("channels", { pattern: channel })).channels,
  present: async ({ channel }) => result("presence_stats", { channel }),
  joins: async ({ witness, id, user }) => {
    await publish(`chat:${id}-seen`, "fence");
    const lines: string[] = [];
    for (let line = ""; !line.includes('"fence"'); lines.push(line)) line = await witness.line();
    return lines.filter((line) => line.includes(`"${user}"`)).length > 0;
  },
  holders: async ({ user }) => env.USERS.getByName(homeName(userKey(user))).holders(userKey(user)),
  status: async ({ user }) =>
    /"online":[1-9]/.test(JSON.stringify(await result("get_user_status", { users: [user] }))),
  // The features.
  changes: async ({ id }) =>
    JSON.stringify(await result("history", { channel: `edited:${id}`, limit: -1 })).includes(
      "changed",
    ),
  console: async ({ user }) => (await (await post("/console/api/users", {})).text()).includes(user),
  cursors: async ({ channel, user }) => [
    (await result<{ users: object }>("audience", { channel })).users,
    await result("delivered", { channel, user }).then((one) => JSON.stringify(one).length),
  ],
  events: async ({ channel, user, id }) => [
    await eventsOf(`channel/${channel}`, channel),
    await eventsOf("gateway/any/0", user, `chat:${id}`),
    await eventsOf(homeObject(homeName(userKey(user))), user),
  ],
  hooks: async ({ user }) => {
    const response = await env.BACKEND.fetch("https://backend/asked");
    return (await response.text()).includes(user);
  },
  maps: async ({ id }) => keysOf(`board:${id}`),
  metrics: async ({ user }) =>
    runInDurableObject(gateway(), ({ host }) =>
      [...host.sockets.sessions()].filter((session) => session.user === user).map(String),
    ),
  presence: async ({ channel }) => (await keysOf(`clients:${channel}`)).length,
  procedures: async ({ id, user }) =>
    (await call("inspect", { channel: `coded:${id}` })).body.includes(user),
  pusher: async ({ id }) => {
    const path = `/apps/shop/channels/${id}`;
    const now = String(Math.floor(Date.now() / 1_000));
    const parameters = { auth_key: "shop-key", auth_timestamp: now, auth_version: "1.0" };
    const text = requestText("GET", path, Object.entries(parameters));
    const query = new URLSearchParams({
      ...parameters,
      auth_signature: await hmac(text, appSecret),
    });
    return (await exports.default.fetch(address(`${path}?${query.toString()}`))).json();
  },
  "shared-polls": async ({ id }) => {
    const polls = await env.BACKEND.fetch(`https://backend/polls?channel=poll:${id}`);
    return (await polls.json<{ asked: number }>()).asked > 0;
  },
  why: async ({ channel, user }) => {
    const told = await call("why", { channel, offset: 2, user });
    return told.body.includes('"client"');
  },
};

/** Begins a story: two publications, of which somebody may have missed the second, and a witness. */
async function begin(): Promise<Story> {
  const id = crypto.randomUUID();
  const channel = `chat:${id}`;
  await publish(channel, 1);
  await publish(channel, 2);
  const witness = await socketAt("/connection/websocket", {});
  await witness.ask({ id: 1, connect: { token: await token({ sub: `witness-${id}` }) } });
  await witness.ask({ id: 2, subscribe: { channel: `chat:${id}-seen` } });
  return { id, user: `user-${id}`, channel, witness, sinceMs: Date.now() };
}

/** Has a connection do what it can, and gives what it was answered to each command. */
async function act(socket: TestSocket, { id, channel, user }: Story, bearer: object) {
  const { epoch } = await publish(channel, 3);
  const answers: Record<string, number | string> = {};
  const ask = async (name: string, command: object) => {
    const number = Object.keys(answers).length + 1;
    socket.send({ id: number, ...command });
    const line = await socket.lineWith(`"id":${number}`);
    answers[name] = /"error":\{"code":(\d+)/.exec(line)?.[1] ?? "done";
  };
  await ask("connect", { connect: bearer });
  await ask("subscribe", { subscribe: { channel, recover: true, epoch, offset: 2 } });
  await ask("seen", { subscribe: { channel: `chat:${id}-seen` } });
  await ask("asked", { subscribe: { channel: `asked:${id}`, data: { answer: { result: {} } } } });
  await ask("map", { subscribe: { channel: `board:${id}`, type: 1, phase: 0 } });
  await ask("set", { publish: { channel: `board:${id}`, type: 1, key: "k", data: 1 } });
  await ask("poll", { subscribe: { channel: `poll:${id}`, type: 4 } });
  await ask("track", {
    sub_refresh: { channel: `poll:${id}`, type: 1, track: [await track(user, id)] },
  });
  await ask("presence", { presence: { channel } });
  await ask("publish", { publish: { channel, data: 4 } });
  await ask("write", { publish: { channel: `edited:${id}`, data: "written" } });
  const changed = { channel: `edited:${id}`, offset: 1, data: "changed" };
  await ask("change", { rpc: { method: "dormouse.update", data: changed } });
  const signing = { channel: `coded:${id}`, procedure: "sign" };
  await ask("call", { rpc: { method: "dormouse.call", data: signing } });
  await ask("shop", { subscribe: { channel: `shop:${id}` } });
  await ask("read", { rpc: { method: "dormouse.read", data: { channel, offset: 3, epoch } } });
  return answers;
}

/** A key of the story's poll, with a signature for its user. */
async function track(user: string, id: string): Promise<object> {
  const signed = { user, channel: `poll:${id}`, keys: ["key"] };
  return { signature: await keySignature(signed, trackSecret), items: [{ key: "key" }] };
}

async function read(story: Story): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, reading] of Object.entries(traces)) {
    const value = JSON.stringify(await reading(story));
    found[name] = value.replaceAll(story.id, "ID");
  }
  return found;
}

const states = ["awake", "evicted"] as const;

async function betweenSteps(state: (typeof states)[number], { channel }: Story): Promise<void> {
  if (state === "awake") return;
  await hibernate(gateway());
  await hibernate(env.CHANNELS.getByName(channel));
}

describe("an onlooker's traces", () => {
  it("[N26] have a row for each feature that has parts", () => {
    const folders = Object.keys(import.meta.glob("../../../src/features/*/feature.ts")).map(
      (path) => path.split("/").at(-2),
    );
    expect(folders.length).toBeGreaterThan(8);
    expect(folders.filter((folder) => folder === undefined || !(folder in traces))).toEqual([]);
  });

  it.each(states)(
    "[N19] [N26] are none, and a user's own connection leaves all, %s",
    async (state) => {
      const nobody = await begin();
      const read0 = await read(nobody);
      const onlooked = await begin();
      const onlooker = await lookOn(onlooked.user);
      const answered = await act(onlooker, onlooked, {});
      await betweenSteps(state, onlooked);
      const during = await read(onlooked);
      await publish(onlooked.channel, "heard");
      expect(await onlooker.lineWith('"heard"')).toContain(onlooked.channel);
      const used = await begin();
      const user = await socketAt("/connection/websocket", {});
      const bearer = { token: await token({ sub: used.user }) };
      const usual = await act(user, used, bearer);
      await betweenSteps(state, used);
      const ofUser = await read(used);
      expect(answered).toEqual({
        ...Object.fromEntries(Object.keys(usual).map((name) => [name, "done"])),
        asked: "103",
        set: "103",
        publish: "103",
        read: "103",
        track: "103",
        write: "103",
        change: "103",
        call: "103",
      });
      expect(new Set(Object.values(usual))).toEqual(new Set(["done"]));
      expect(during).toEqual(read0);
      const same = Object.keys(traces).filter((name) => ofUser[name] === read0[name]);
      expect(same).toEqual([]);
      // The user's one connection is admitted beside it, and neither closes the other.
      const late = await socketAt("/connection/websocket", {});
      const credentials = { token: await token({ sub: onlooked.user }) };
      expect(await late.ask({ id: 1, connect: credentials })).toHaveProperty("connect");
      onlooker.close();
      await onlooker.closed;
      late.close();
      await late.closed;
      await betweenSteps(state, onlooked);
      expect((await read(onlooked))["joins"]).toBe(read0["joins"]);
    },
  );
});

describe.each(states)("an onlooker, %s", (state) => {
  it("[N27] [N6] [U10] is closed with 3500 by the log-out, as what hears a channel is, and no other login's", async () => {
    const story = await begin();
    const [first, second] = [await logIn(), await logIn()];
    const live = `/console/live?channel=${encodeURIComponent(story.channel)}`;
    const sockets = [
      await lookOn(story.user, first),
      await socketAt(live, { ...own, Cookie: first }),
      await lookOn(story.user, second),
    ];
    const [onlooker, hearer, other] = sockets;
    for (const socket of sockets)
      expect(await socket.ask({ id: 1, connect: {} })).toHaveProperty("connect");
    await betweenSteps(state, story);
    expect((await post("/console/logout", {}, first)).status).toBe(204);
    expect(await onlooker?.closed).toEqual({ code: 3_500, reason: "invalid token" });
    expect(await hearer?.closed).toEqual({ code: 3_500, reason: "invalid token" });
    // Nor does a copy of the cookie open another one.
    const late = await lookOn(story.user, first);
    late.send({ id: 1, connect: {} });
    expect(await late.closed).toMatchObject({ code: 3_500 });
    expect(await other?.ask({ id: 2, subscribe: { channel: story.channel } })).toHaveProperty(
      "subscribe",
    );
  });

  it("[N26] [E10] sees a channel that is occupied and vacated by others", async () => {
    const story = await begin();
    const { channel, user, id } = story;
    const object = `channel/${channel}`;
    const typesOf = () => eventsOf(object, channel);
    const onlooker = await lookOn(user);
    await onlooker.ask({ id: 1, connect: {} });
    await onlooker.ask({ id: 2, subscribe: { channel } });
    await betweenSteps(state, story);
    const client = await socketAt("/connection/websocket", {});
    await client.ask({ id: 1, connect: { token: await token({ sub: `client-${id}` }) } });
    await client.ask({ id: 2, subscribe: { channel } });
    await expect.poll(typesOf).toEqual(["channel_occupied"]);
    expect(await onlooker.lineWith('"join"')).toContain(`client-${id}`);
    await betweenSteps(state, story);
    await publish(channel, "seen");
    expect(await onlooker.lineWith('"seen"')).toContain(channel);
    client.close();
    await client.closed;
    expect(await onlooker.lineWith('"leave"')).toContain(`client-${id}`);
    await expect.poll(typesOf).toEqual(["channel_occupied", "channel_vacated"]);
    await betweenSteps(state, story);
    onlooker.close();
    await onlooker.closed;
    await publish(channel, "later");
    expect(await typesOf()).toEqual(["channel_occupied", "channel_vacated"]);
  });
});

describe("an onlooker", () => {
  it("[N19] is refused as a blocked user is", async () => {
    const { user } = await begin();
    await call("block_user", { user });
    const refused = await lookOn(user);
    expect(await refused.closed).toMatchObject({ code: 3_507 });
    await call("unblock_user", { user });
    const admitted = await lookOn(user);
    expect(await admitted.ask({ id: 1, connect: {} })).toHaveProperty("connect");
  });

  it("[N26] [V1] is no connection of the user's for the release before", async () => {
    const { user } = await begin();
    const onlooker = await lookOn(user);
    await onlooker.ask({ id: 1, connect: {} });
    const stored = (await attachmentsOf(gateway())).filter(({ claims }) => claims?.user === user);
    // That release reads 1, and closes a socket with any other number.
    expect(stored.map(({ v }) => v)).toEqual([2]);
  });
});
