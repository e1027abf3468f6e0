import { type TestContext, afterAll, beforeAll, expect, it } from "vitest";
import { cookieSocket, cookiesOf } from "../../support/sockets/cookie-socket.ts";
import { freePort } from "../../support/servers/listen.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { pythonSubscriber } from "../../support/environments/python-subscriber.ts";
import type { PythonScript } from "../../support/environments/python-script.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const config = {
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      presence: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
    namespaces: [
      { name: "plain", allow_subscribe_for_client: true },
      { name: "room", subscribe_proxy_enabled: true, publish_proxy_enabled: true },
    ],
  },
  swagger: { enabled: true },
};
const djangoPort = await freePort();
/** Where the Django application answers the questions of a kind. */
const hook = (name: string) => ({
  endpoint: `http://127.0.0.1:${djangoPort}/hooks/${name}`,
  timeout: "20s",
});
const hooks = {
  ...config,
  client: { proxy: { connect: { enabled: true, http_headers: ["Cookie"], ...hook("connect") } } },
  channel: {
    ...config.channel,
    proxy: { subscribe: hook("subscribe"), publish: hook("publish") },
  },
  rpc: { proxy: hook("rpc"), without_namespace: { proxy_enabled: true } },
};
const signingSecret = "whsec_c2lnbnMtdGhlLXF1ZXN0aW9ucy1mb3ItZGphbmdv";

let python: PythonEnvironment;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({
    secrets: { ...testSecrets, HOOK_SIGNING_SECRET: signingSecret },
    config: hooks,
  });
  python = await PythonEnvironment.open();
}, 300_000);
afterAll(() => server.close());

/** One of the backend's scenarios. */
function backend(test: TestContext, name: string, options: object): PythonScript {
  const reached = { address: `${server.address}/api`, key: testSecrets.API_KEY };
  return python.run(test, name, { ...reached, ...options });
}

/** A client of the user that has subscribed on a gateway. */
function subscribed(test: TestContext, user: string, channels: readonly string[]) {
  return pythonSubscriber(test, python, server, { user, channels });
}

/** A subscriber's publication, without the channel. */
function publication(offset: number, data: unknown, tags: object = {}) {
  return { event: "publication", offset, data, info: null, tags, delta: false };
}

it("[I1] [W3] cent publishes and broadcasts with tags, and with a key once only, to those who listen on a gateway", async (test) => {
  const channels = ["published-a", "published-b"];
  const [first, second] = channels;
  const subscriber = await subscribed(test, "alice", channels);
  const events = await backend(test, "backend_publish", { channels }).ended();
  await subscriber.next("publication", 5);
  await subscriber.finish();

  const [a, b] = await Promise.all(
    channels.map(async (channel) => (await server.backend.history(channel)).epoch),
  );
  const responses = [
    { result: { offset: 1, epoch: b } },
    { result: { offset: 2, epoch: a } },
    { error: { code: 102, message: "unknown channel" } },
  ];
  expect(events).toEqual([
    { event: "publish", offset: 1, epoch: a },
    { event: "publish again", offset: 1, epoch: a },
    { event: "broadcast", responses },
    { event: "broadcast again", responses },
    { event: "publish unkept" },
    { event: "publish last", offset: 3, epoch: a },
  ]);
  const received = subscriber.allOf("publication");
  expect(received.filter(({ channel }) => channel === first)).toEqual(
    [
      publication(1, { text: "ä" }, { kind: "first" }),
      publication(2, [1, 2.5, null], { kind: "second" }),
      publication(0, "not kept"),
      publication(3, "last"),
    ].map((one) => Object.assign(one, { channel: first })),
  );
  expect(received.filter(({ channel }) => channel === second)).toEqual([
    Object.assign(publication(1, [1, 2.5, null], { kind: "second" }), { channel: second }),
  ]);
});

it("[H2] [H10] [P1] cent reads the history and who is present on gateways, and removes the history", async (test) => {
  const channel = "read";
  const subscribers = await Promise.all(
    ["alice", "bob", "bob"].map((user) => subscribed(test, user, [channel])),
  );
  const { epoch } = await server.backend.publishAll(channel, ["a", "b", "c"]);
  const events = await backend(test, "backend_read", { channel }).ended();
  await Promise.all(subscribers.map((subscriber) => subscriber.finish()));

  const kept = ["a", "b", "c"].map((data, index) => ({ data, offset: index + 1 }));
  const [a, b, c] = kept;
  const present = subscribers.map((subscriber, index) => {
    const user = index === 0 ? "alice" : "bob";
    const client = subscriber.allOf("connected")[0]?.client ?? "";
    return [client, { client, user, conn_info: { name: user } }] as const;
  });
  expect(events).toEqual([
    { event: "history", publications: [], offset: 3, epoch },
    { event: "history", publications: [a, b, c], offset: 3, epoch },
    { event: "history", publications: [b], offset: 3, epoch },
    { event: "history", publications: [c, b], offset: 3, epoch },
    { event: "presence", presence: Object.fromEntries(present) },
    { event: "presence stats", num_clients: 3, num_users: 2 },
    { event: "channels", channels: { [channel]: { num_clients: 3 } } },
    { event: "info", nodes: [expect.objectContaining({ num_clients: 3, num_users: 2 })] },
    { event: "history removed" },
    { event: "history", publications: [], offset: 3, epoch },
  ]);
  for (const subscriber of subscribers) expect(subscriber.allOf("publication")).toHaveLength(3);
});

it("[W3] cent is answered a batch in the order that it asked in, one after the other and in parallel", async (test) => {
  const channel = "batched";
  const subscriber = await subscribed(test, "alice", [channel]);
  const events = await backend(test, "backend_batch", { channel }).ended();
  await subscriber.next("publication", 4);
  await subscriber.finish();

  const { epoch } = await server.backend.history(channel);
  const error = { code: 102, message: "unknown channel" };
  const replies = (before: number) => {
    const kept = Array.from({ length: before + 2 }, (_, index) => ({
      data: (index % 2) + 1,
      offset: index + 1,
    }));
    return [
      { offset: before + 1, epoch },
      { responses: [{ result: { offset: before + 2, epoch } }, { error }] },
      { publications: kept, offset: before + 2, epoch },
      { num_clients: 1, num_users: 1 },
    ];
  };
  expect(events).toEqual([
    { event: "batch", replies: replies(0) },
    { event: "batch", replies: replies(2) },
  ]);
  const received = subscriber.allOf("publication").map(({ offset, data }) => ({ offset, data }));
  expect(received).toEqual([1, 2, 3, 4].map((offset) => ({ offset, data: offset % 2 || 2 })));
});

it("[W1] [A7] cent is told by its own errors what it can't have", async (test) => {
  const channel = "refused";
  const events = await backend(test, "backend_errors", { channel, plain: "plain:x" }).ended();
  const notAvailable = { event: "error", code: 108, message: "not available" };
  expect(events).toEqual([
    { event: "error", code: 102, message: "unknown channel" },
    { event: "error", code: 107, message: "bad request" },
    notAvailable,
    notAvailable,
    notAvailable,
    { event: "error", code: 112, message: "unrecoverable position" },
    { event: "unauthorized" },
  ]);
  expect(await server.backend.history(channel)).toMatchObject({ offset: 0, publications: [] });
});

it("[U1] [U2] cent throws a user out of a channel and of the server, and others stay", async (test) => {
  const channel = "throwing-out";
  const ada = await subscribed(test, "thrown-out", [channel]);
  const bob = await subscribed(test, "staying", [channel]);
  const events = await backend(test, "backend_users", { channel, user: "thrown-out" }).ended();
  expect(events).toEqual([{ event: "unsubscribed" }, { event: "disconnected" }]);
  await server.backend.publish(channel, "after");
  await bob.next("publication", 1);
  await ada.ended();
  expect(ada.allOf("disconnected")[0]).toMatchObject({ code: 4501, reason: "thrown out" });
  expect(ada.allOf("unsubscribed")[0]).toMatchObject({ code: 2000 });
  expect(ada.allOf("publication")).toHaveLength(0);
  await bob.finish();
});

it("[U7] [U8] cent subscribes a user to a channel and refreshes the connection", async (test) => {
  const channel = "moved";
  const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "moving" }) });
  await client.connected.count(1);
  await server.backend.publish(channel, "before");
  const events = await backend(test, "backend_moves", { channel, user: "moving" }).ended();
  expect(events).toEqual([{ event: "subscribed" }, { event: "refreshed" }]);
  const { serverSide } = client;
  expect(await serverSide.subscribed.next()).toMatchObject({ channel, data: { hello: "moving" } });
  expect(await serverSide.publications.next()).toMatchObject({ data: "before", offset: 1 });
  expect(client.disconnected.all).toHaveLength(0);
  client.close();
});

it("[W8] a client that a generator makes of the description publishes, reads and is refused", async (test) => {
  const channel = "generated";
  const reached = { address: server.address, key: testSecrets.API_KEY };
  const options = { ...reached, channel, plain: "plain:x" };
  const events = await python.run(test, "backend_generated", options).ended();
  const first = { data: { text: "ä" }, offset: 1, tags: { kind: "first" } };
  expect(events).toEqual([
    { event: "published", type: "PublishAnswer", offset: 1 },
    { event: "history", publications: [first], offset: 1 },
    { event: "refused", type: "ErrorAnswer", code: 108 },
    { event: "in transport mode", type: "Error", code: 108 },
    { event: "batch", offset: 2, num_clients: 0 },
  ]);
});

it("[Q2] [Q8] a Django application knows its users by their cookies, and its views decide", async (test) => {
  const users = { ada: ["staff", "lobby"], bob: ["lobby"] };
  const options = { port: djangoPort, secret: signingSecret, users };
  const django = python.run(test, "django_backend", options);
  await django.next("listening");
  const address = `http://127.0.0.1:${djangoPort}`;
  expect((await fetch(`${address}/hooks/connect`, { method: "POST" })).status).toBe(401);
  /** The connection of a page with this cookie. */
  const page = (cookie: string): SdkClient => {
    const client = new SdkClient(server.gatewayAddress(), { websocket: cookieSocket(cookie) });
    test.onTestFinished(() => client.close());
    return client;
  };
  const stranger = page("");
  expect(await stranger.disconnected.next()).toEqual({ code: 4501, reason: "log in first" });
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map(async (name) => page(cookiesOf(await fetch(`${address}/login/${name}`)))),
  );
  if (ada === undefined || bob === undefined) throw new Error("nobody has logged in");
  const { publications } = await bob.subscribed("room:lobby");
  await ada.client.publish("room:lobby", { text: "drat" });
  expect(await publications.next()).toMatchObject({
    data: { text: "****" },
    info: { connInfo: { name: "ada" } },
  });
  await expect(ada.client.publish("room:lobby", ["drat"])).rejects.toMatchObject({ code: 400 });
  const refusal = { code: 403, message: "this room is private" };
  const { code, reason } = await bob.subscribe("room:staff").unsubscribed.next();
  expect({ code, message: reason }).toEqual(refusal);
  await expect(bob.client.publish("room:staff", { text: "?" })).rejects.toMatchObject(refusal);
  expect(await ada.client.rpc("rooms", {})).toEqual({ data: ["staff", "lobby"] });
  await expect(ada.client.rpc("other", {})).rejects.toMatchObject({ code: 404 });
  await django.finish();
});
