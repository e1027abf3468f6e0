import { env } from "cloudflare:workers";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { hookLimits } from "../../../src/features/hooks/limits.ts";
import { limits } from "../../../src/limits.ts";
import { createApp } from "../../../workers/http/app.ts";
import { AddressRate } from "../../../workers/http/client-address.ts";
import { regionEndpoint } from "../../../workers/http/endpoints.ts";
import { configure as configureWorker } from "../../../workers/http/middleware.ts";
import type { AppEnv } from "../../../workers/http/app-env.ts";
import { webSocket as webSocketHandler } from "../../../workers/http/websocket.ts";
import { address, call, fetchWith } from "../support/api-request.ts";
import { attachmentsOf } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { requestUpgrade } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import { type Closing, TestSocket } from "../support/test-socket.ts";
import { TestStream } from "../support/test-stream.ts";
import { gatewayVariants, variants } from "../support/variant.ts";
import { untouchable } from "../support/watched-upgrades.ts";

const connectHook = {
  enabled: true,
  at: "upgrade",
  endpoint: "service:BACKEND",
  timeout: "20s",
  http_headers: ["X-Answer"],
  emulated_headers: ["X-Emulated"],
};

/** The tests' configuration with the hook, and with more in `client`. */
const hookConfig = (client: object = {}) => ({
  ...openConfig,
  client: {
    ...testConfig.client,
    stale_close_delay: "1s",
    proxy: { connect: connectHook },
    ...client,
  },
});
configure(hookConfig());
Object.assign(env, { HOOK_SIGNING_SECRET: "hook-signing-secret-of-worker-tests" });

const saying = (answer: object) => ({ "X-Answer": JSON.stringify(answer) });
const giving = (result: object) => saying({ body: { result } });
/** The same, with an `info` of so many characters or so many `subs`. */
const givingLarge = (large: object) => saying({ body: { result: { user: "ada" } }, large });
const refusedBy = (error: object) => saying({ body: { error } });
const thrownOut = saying({ body: { disconnect: { code: 4_500, reason: "banned" } } });
const no = { code: 1_000, message: "no" };

/** A user whom no other test has. */
const newUser = () => `user-${crypto.randomUUID()}`;

/** A WebSocket's handshake. */
const upgrading = (headers: object) => ({ headers: { Upgrade: "websocket", ...headers } });

/** The request for a bidirectional stream. */
const post = (headers: object, connect: object): RequestInit => ({
  method: "POST",
  headers: { ...headers },
  body: JSON.stringify({ id: 1, connect }),
});

/** What the backend was asked since the last call. */
async function takeAsked(): Promise<readonly object[]> {
  const response = await env.BACKEND.fetch("https://backend/asked");
  const asked = await response.json<{ readonly text: string }[]>();
  return asked.map(({ text }): object => JSON.parse(text));
}

/** Asks an edge none of whose objects may be touched. */
function edge(path: string, init: RequestInit, client: object = {}): Promise<Response> {
  const objects = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };
  const config = hookConfig(client);
  return fetchWith({ ...objects, config }, new Request(address(path), init));
}

const poll = (headers: object) => edge("/channel/news/poll?offset=1", { headers: { ...headers } });

/** A socket that the edge itself answers. */
async function refusedSocket(headers: object, path = "/connection/websocket"): Promise<TestSocket> {
  return TestSocket.on(await edge(path, { headers: { Upgrade: "websocket", ...headers } }));
}

beforeEach(async () => {
  await takeAsked();
});

describe.each(variants)("a backend that is asked at the upgrade, on $name", (variant) => {
  it("[Q10] [X1] is told the trace of the handshake, and so is the object", async () => {
    const channel = newChannel("room");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await variant.open(channel, "", { ...giving({ user: newUser() }), traceparent });
    const response = await env.BACKEND.fetch("https://backend/asked");
    const [asked] = await response.json<{ readonly headers: Record<string, string> }[]>();
    expect(asked?.headers).toMatchObject({ traceparent });
    expect(await attachmentsOf(variant.place.holder(channel))).toMatchObject([{ traceparent }]);
  });

  it("[Q10] [U1] admits a client, which is its user's connection like any other", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const headers = giving({ user, info: { n: 1 }, data: { hi: 1 } });
    const socket = await variant.open(channel, "", headers);
    const [asked] = await takeAsked();
    expect(asked).toStrictEqual({
      client: expect.any(String),
      transport: "websocket",
      protocol: "json",
      encoding: "json",
    });
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { name: "js", data: { answer: { status: 500 } } } });
    const reply = await socket.line();
    expect(reply).toContain('"data":{"hi":1}');
    expect({ client: JSON.parse(reply).connect.client }).toMatchObject({
      client: Reflect.get(asked ?? {}, "client"),
    });
    await variant.betweenSteps(channel);
    await socket.ask({ id: 2, subscribe: { channel } });
    expect((await call("presence", { channel })).body).toContain('"conn_info":{"n":1}');
    expect((await call("connections", { user })).body).not.toContain("connection_token");
    expect(await takeAsked()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    await call("disconnect", { user });
    expect(await socket.closed).toStrictEqual({ code: 3503, reason: "force disconnect" });
  });

  it("[Q10] [Q8] leaves no header for the object that only the connect hook gets", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel, "", giving({ user: "ada" }));
    expect((await attachmentsOf(variant.place.holder(channel)))[0]?.headers).toBeUndefined();
    socket.close();
  });

  it("[B24] [Q10] [Q14] admits a client that counts as one with a token", async () => {
    const channel = newChannel("room");
    const headers = { ...giving({ user: "ada" }), "CF-Connecting-IP": "192.0.2.7" };
    const most = limits.unconnectedPerAddressMax;
    const sockets: TestSocket[] = [];
    while (sockets.length <= most) sockets.push(await variant.open(channel, "", headers));
    expect(await sockets[most]?.ask({ id: 1, connect: {} })).toHaveProperty("connect");
    for (const socket of sockets) socket.close();
  });

  it("[V1] [Q10] is asked by the object if the edge of another release hasn't", async () => {
    const channel = newChannel("room");
    const holder = variant.place.holder(channel);
    const socket = TestSocket.on(await requestUpgrade(holder));
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { data: { answer: { body: { result: { user: "ada" } } } } } });
    expect(await socket.line()).toContain('"connect"');
    expect(await takeAsked()).toHaveLength(1);
    socket.close();
  });
});

it.each(gatewayVariants)(
  "[Q10] [C9] the subscriptions that a backend gives begin with the connect, on $name",
  async (variant) => {
    const own = newChannel("room");
    // Too large for the attachment: a row keeps them.
    const many = { subs: 100, name: `room:${crypto.randomUUID()}` };
    const socket = await variant.open(own, "", givingLarge(many));
    await variant.betweenSteps(own);
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(Object.keys(connect?.subs ?? {})).toHaveLength(many.subs);
    socket.close();
  },
);

describe("a client that a backend refuses at the upgrade", () => {
  const paths = ["/connection/websocket", "/channel/news/websocket"];

  it.each(paths)(
    "[Q10] [Q13] is closed with the backend's code, and no object is touched: %s",
    async (path) => {
      const socket = await refusedSocket(thrownOut, path);
      expect(await socket.closed).toStrictEqual({ code: 4_500, reason: "banned" });
    },
  );

  it("[Q10] [Q13] [C4] has its connect answered with the error, nothing after it, and is closed as stale", async () => {
    const socket = await refusedSocket(refusedBy(no));
    socket.sendFrame("{}");
    expect(await socket.line()).toBe('{"push":{"channel":""}}');
    const frame = '{"id":7,"connect":{}}\n{"id":8,"subscribe":{"channel":"a"}}';
    socket.sendFrame(frame);
    socket.sendFrame(frame);
    expect(await socket.line()).toBe('{"id":7,"error":{"code":1000,"message":"no"}}');
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    expect(await socket.rest()).toStrictEqual([]);
  });

  it.each<[string, string | Uint8Array, Closing]>([
    [
      "another command",
      '{"id":1,"subscribe":{"channel":"a"}}',
      { code: 3501, reason: "bad request" },
    ],
    ["nonsense", "nonsense", { code: 3501, reason: "bad request" }],
    [
      "too large a frame",
      " ".repeat(limits.frameBytesMax + 1),
      { code: 1009, reason: "message size limit exceeded" },
    ],
  ])("[C1] [C8] is closed as ever after %s", async (_, frame, closing) => {
    const socket = await refusedSocket(refusedBy(no));
    socket.sendFrame(frame);
    expect(await socket.closed).toStrictEqual(closing);
  });

  it("[C2] is closed as stale without a connect", async () => {
    const socket = await refusedSocket(refusedBy(no));
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
  });

  it("[W5] [Q10] is answered in its codec, on the protocol that it offered", async () => {
    const headers = { ...refusedBy(no), "Sec-WebSocket-Protocol": "centrifuge-protobuf" };
    const init = { headers: { Upgrade: "websocket", ...headers } };
    const response = await edge("/connection/websocket", init);
    expect(response.headers.get("Sec-WebSocket-Protocol")).toBe("centrifuge-protobuf");
    const { webSocket } = response;
    const reply = Promise.withResolvers<ArrayBuffer>();
    webSocket?.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) reply.resolve(data);
    });
    if (webSocket !== null) webSocket.binaryType = "arraybuffer";
    webSocket?.accept();
    // Command 7 with an empty connect.
    webSocket?.send(Uint8Array.of(4, 8, 7, 34, 0));
    const bytes = new Uint8Array(await reply.promise);
    // Reply 7 with error 1000 and its message.
    expect([...bytes]).toStrictEqual([11, 8, 7, 18, 7, 8, 232, 7, 18, 2, 110, 111]);
    webSocket?.close();
  });

  it("[T8] [Q10] [Q13] is closed if it is unidirectional, and can't be sent an error", async () => {
    const socket = await refusedSocket(refusedBy(no), "/connection/uni_websocket");
    expect(await socket.closed).toStrictEqual({ code: 3004, reason: "internal server error" });
  });

  it("[B1] [Q10] [Q13] is closed at once if the edge holds too many such sockets", async () => {
    const opening = Array.from({ length: limits.refusedSocketsMax }, () =>
      refusedSocket(refusedBy(no)),
    );
    const held = await Promise.all(opening);
    const socket = await refusedSocket(refusedBy({ ...no, code: 103 }));
    expect(await socket.closed).toStrictEqual({ code: 3507, reason: "permission denied" });
    for (const one of held) one.close();
    for (const one of held) await one.closed;
    const later = await refusedSocket(refusedBy(no));
    expect(await later.ask({ id: 1, connect: {} })).toMatchObject({ error: { code: 1_000 } });
    later.close();
  });

  it.each([
    ["too large credentials", givingLarge({ info: limits.sessionClaimsBytesMax })],
    ["too many subscriptions", givingLarge({ subs: 1_000, name: "room:" })],
    ["too much data", saying({ size: limits.attachmentBytesMax })],
  ])("[B2] [Q10] [Q14] is answered 106 after %s", async (_, headers) => {
    const socket = await refusedSocket(headers);
    expect((await socket.ask({ id: 1, connect: {} })).error?.code).toBe(106);
    socket.close();
  });

  it("[Q5] [Q10] [Q14] is answered 110 after credentials that have ended", async () => {
    const socket = await refusedSocket(giving({ user: "ada", expire_at: 5 }));
    expect((await socket.ask({ id: 1, connect: {} })).error?.code).toBe(110);
    socket.close();
  });

  it.each([
    ["a fault", saying({ status: 500 })],
    ["nonsense", giving({ user: 5 })],
  ])("[Q5] [Q10] [Q13] comes back later after %s of the backend", async (_, headers) => {
    for (const path of ["/connection/websocket", "/connection/uni_websocket"]) {
      const response = await edge(path, { headers: { Upgrade: "websocket", ...headers } });
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(1);
    }
    const frame = JSON.stringify({ id: 1, connect: {} });
    for (const path of ["/connection/sse", "/connection/http_stream", "/connection/uni_sse"])
      expect((await edge(path, { method: "POST", headers, body: frame })).status).toBe(503);
    expect((await edge("/channel/news/poll", { headers })).status).toBe(503);
  });

  it("[Q10] needs a token of the upgrade with client.require_edge_token, unless it has credentials", async () => {
    const strict = { require_edge_token: true };
    const nothing = upgrading(saying({ body: {} }));
    expect((await edge("/connection/websocket", nothing, strict)).status).toBe(401);
    const response = await fetchWith(
      { config: hookConfig(strict) },
      new Request(address("/connection/websocket"), upgrading(giving({ user: "ada" }))),
    );
    expect(response.status).toBe(101);
    TestSocket.on(response).close();
  });
});

describe("a client that no backend is asked about at the upgrade", () => {
  it("[Q1] [Q10] brings a token", async () => {
    const signed = await token({ sub: "ada" });
    const socket = await TestSocket.open(newChannel("room"), `?token=${signed}`, thrownOut);
    await socket.ask({ id: 1, connect: {} });
    const stream = await TestStream.open("/connection/sse", {
      method: "POST",
      headers: thrownOut,
      body: JSON.stringify({ id: 1, connect: { token: signed } }),
    });
    expect(await stream.upTo("\n\n")).toContain('"connect"');
    await stream.cancel();
    socket.close();
    expect(await takeAsked()).toStrictEqual([]);
  });

  it("[Q1] [A6] [C1] is of a page that isn't allowed, or doesn't begin with a connect", async () => {
    const admitting = giving({ user: "ada" });
    const { status } = await edge(
      "/connection/websocket",
      upgrading({ ...admitting, Origin: "https://evil.example" }),
    );
    expect(status).toBe(403);
    const command = JSON.stringify({ id: 1, subscribe: { channel: "a" } });
    const stream = new TestStream(
      await edge("/connection/sse", { method: "POST", headers: admitting, body: command }),
    );
    expect(await stream.rest()).toContain('"disconnect":{"code":3501');
    expect(await takeAsked()).toStrictEqual([]);
  });
});

it("[Q1] [B25] [Q10] a client that opens connections too fast isn't asked about", async () => {
  const never = new AddressRate({ burst: 0, perSecond: 0 });
  const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
  app.use(configureWorker);
  app.all("/connection/websocket", webSocketHandler(regionEndpoint(), "bidirectional", never));
  const headers = {
    Upgrade: "websocket",
    "CF-Connecting-IP": "192.0.2.8",
    ...giving({ user: "ada" }),
  };
  const request = new Request(address("/connection/websocket"), { headers });
  expect((await app.fetch(request, env)).status).toBe(503);
  expect(await takeAsked()).toStrictEqual([]);
});

it("[B25] [Q10] one address can't have all the questions of an isolate", async () => {
  vi.setSystemTime(Date.now());
  const objects = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };
  const app = createApp();
  const own = { ...env, ...objects, config: hookConfig() };
  const answer = refusedBy({ ...no, code: 103 });
  const ask = async (from: string): Promise<number> => {
    const headers = { ...answer, "CF-Connecting-IP": from };
    const request = new Request(address("/channel/news/poll"), { headers });
    return (await app.fetch(request, own)).status;
  };
  const flood = Array.from({ length: limits.addressUpgradesBurst + 1 }, () => ask("192.0.2.9"));
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status === 503)).toHaveLength(1);
  expect(await ask("192.0.2.10")).toBe(403);
  expect(await takeAsked()).toHaveLength(limits.addressUpgradesBurst + 1);
  vi.useRealTimers();
});

describe("a stream whose client a backend is asked about at the upgrade", () => {
  it.each([
    ["/connection/sse", "sse"],
    ["/connection/http_stream", "http_stream"],
  ])("[Q10] [Q8] is asked with what its connect says: %s", async (path, transport) => {
    const connect = { name: "js", version: "5", data: { k: 1 }, headers: { "X-Emulated": "e" } };
    const stream = await TestStream.open(path, post(giving({ user: "ada", data: 5 }), connect));
    expect(await stream.upTo('"data":5')).toContain('"connect"');
    expect(await takeAsked()).toMatchObject([
      { transport, name: "js", version: "5", data: { k: 1 } },
    ]);
    await stream.cancel();
  });

  it.each(["/connection/uni_sse", "/channel/news/uni_http_stream"])(
    "[Q10] is admitted as a unidirectional one: %s",
    async (path) => {
      const init = { method: "POST", headers: giving({ user: "ada" }), body: "{}" };
      const stream = await TestStream.open(path, init);
      expect(await stream.upTo('"connect"')).toBeDefined();
      await stream.cancel();
    },
  );

  it("[T2] [T5] [Q10] [Q13] ends with the backend's disconnect, or has its error", async () => {
    const closing = new TestStream(await edge("/connection/sse", post(thrownOut, {})));
    expect(await closing.rest()).toContain('"disconnect":{"code":4500,"reason":"banned"}');
    const refused = new TestStream(await edge("/connection/http_stream", post(refusedBy(no), {})));
    expect(await refused.line()).toBe('{"id":1,"error":{"code":1000,"message":"no"}}');
    expect(await refused.rest()).toContain('"disconnect":{"code":3502');
  });

  it("[A12] [Q10] needs a token if there are no credentials", async () => {
    const stream = new TestStream(await edge("/connection/sse", post(saying({ body: {} }), {})));
    expect(await stream.rest()).toContain('"disconnect":{"code":3501');
  });

  it("[Q10] [B2] brings no more headers for hooks than a session can keep", async () => {
    const headers = { "X-Emulated": "x".repeat(hookLimits.hookHeadersLengthMax) };
    const stream = new TestStream(await edge("/connection/http_stream", post({}, { headers })));
    expect(await stream.line()).toContain('"error":{"code":106');
    expect(await takeAsked()).toStrictEqual([]);
    await stream.cancel();
  });

  it("[T9] [Q10] [Q13] is a long poll, with the status of the refusal", async () => {
    expect((await poll(thrownOut)).status).toBe(503);
    expect((await poll(refusedBy({ ...no, code: 103 }))).status).toBe(403);
    expect((await poll(saying({ body: {} }))).status).toBe(401);
    const channel = newChannel("");
    const path = `/channel/${channel}/poll?timeout=1`;
    const request = new Request(address(path), { headers: giving({ user: "ada" }) });
    const response = await fetchWith({ config: hookConfig() }, request);
    expect(response.status).toBe(200);
    expect(response.headers.get("Cache-Control")).toBe("private, no-store");
  });
});
