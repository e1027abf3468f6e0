import type { TransportEndpoint } from "centrifuge";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import {
  type HookAnswer,
  type HookRequest,
  HookServer,
} from "../../support/servers/hook-server.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const secret = "hook-signing-secret-of-tests";

let backend: HookServer;
let server: TestServer;
let client: SdkClient;

/** A backend that admits everybody as Ada. */
function admitting({ hook, body }: HookRequest): HookAnswer {
  switch (hook) {
    case "connect":
      return { result: { user: "ada", info: { name: "Ada" }, data: { hello: body["data"] } } };
    case "publish":
      return body["data"] === "bad"
        ? { error: { code: 1_000, message: "mind your words" } }
        : { result: { data: { text: body["data"], by: body["user"] } } };
    case "subscribe":
      return body["channel"] === "asked:secret"
        ? { error: { code: 403, message: "not you" } }
        : { result: { data: { welcome: true } } };
    case "rpc":
      return { result: { data: { method: body["method"], data: body["data"] } } };
    default:
      return {};
  }
}

beforeAll(async () => {
  backend = await HookServer.start(secret, admitting);
  const hook = (name: string) => ({ endpoint: backend.url(name), timeout: "20s" });
  server = await TestServer.start({
    secrets: { ...testSecrets, HOOK_SIGNING_SECRET: secret },
    config: {
      client: {
        proxy: {
          connect: { enabled: true, ...hook("connect") },
          refresh: { enabled: true, ...hook("refresh") },
          message: { enabled: true, ...hook("message") },
        },
      },
      channel: {
        proxy: { subscribe: hook("subscribe"), publish: hook("publish") },
        namespaces: [{ name: "asked", subscribe_proxy_enabled: true, publish_proxy_enabled: true }],
      },
      rpc: { proxy: hook("rpc"), without_namespace: { proxy_enabled: true } },
    },
  });
});
beforeEach(() => {
  backend.answer = admitting;
});
afterEach(() => client.close());
afterAll(async () => {
  await server.close();
  await backend.close();
});

describe.each(endpoints)("with a backend, at the endpoint of a $name", (endpoint) => {
  it("[Q2] a client is admitted, subscribes, publishes and calls by its leave", async () => {
    client = new SdkClient(endpoint.address(server, "asked:room"), { data: { n: 1 } });
    expect(await client.connected.next()).toMatchObject({ data: { hello: { n: 1 } } });
    const room = await client.subscribed("asked:room");
    expect(room.subscribed.all).toMatchObject([{ data: { welcome: true } }]);
    await room.subscription.publish("hello");
    expect(room.publications.all).toMatchObject([
      { data: { text: "hello", by: "ada" }, info: { user: "ada", connInfo: { name: "Ada" } } },
    ]);
    await expect(room.subscription.publish("bad")).rejects.toMatchObject({
      code: 1_000,
      message: "mind your words",
    });
    const reply = { data: { method: "sum", data: [1, 2] } };
    await expect(client.client.rpc("sum", [1, 2])).resolves.toEqual(reply);
    await client.client.send({ from: endpoint.name });
    const message = await backend.requests.first(
      ({ body }) => JSON.stringify(body["data"]) === JSON.stringify({ from: endpoint.name }),
    );
    expect(message).toMatchObject({ hook: "message", body: { user: "ada" } });
    expect(backend.unsigned).toBe(0);
    expect(client.reconnects).toBe(0);
  });

  it("[Q5] a backend that is away lets nobody in, and a client gets in when it is back", async () => {
    backend.answer = () => 500;
    client = new SdkClient(endpoint.address(server, "asked:room"), {});
    await client.errors.count(2);
    expect(client.connected.all).toEqual([]);
    backend.answer = admitting;
    await client.connected.count(1);
  });
});

it("[Q2] a subscribe that the backend refuses ends with its error", async () => {
  client = new SdkClient(server.gatewayAddress(), {});
  const refused = client.subscribe("asked:secret");
  expect(await refused.unsubscribed.next()).toMatchObject({ code: 403, reason: "not you" });
});

it("[Q9] the server refreshes a connection in the client's place, until the backend ends it", async () => {
  const lives = [1, 0];
  backend.answer = (request) => {
    const [life = 0] = request.hook === "refresh" ? lives.splice(0, 1) : [];
    if (request.hook !== "refresh") return admitting(request);
    const expired = life === 0;
    return { result: { expired, expire_at: Math.floor(Date.now() / 1_000) + life } };
  };
  // Long enough to connect also on a busy machine.
  const token = signToken({ sub: "ada", exp: Math.floor(Date.now() / 1_000) + 5 });
  client = new SdkClient(server.gatewayAddress(), {
    token,
    getToken: () => Promise.reject(noToken),
  });
  await client.connected.count(1);
  const { code } = await client.connecting.first((one) => one.code !== 0);
  expect(code).toBe(3005);
  expect(lives).toEqual([]);
});

const noToken = new Error("the client isn't asked for a token");

describe("a login by cookie, with the hook at the upgrade", () => {
  let atUpgrade: TestServer;

  beforeAll(async () => {
    const connect = { endpoint: backend.url("connect"), timeout: "20s", http_headers: ["Cookie"] };
    atUpgrade = await TestServer.start({
      secrets: { ...testSecrets, HOOK_SIGNING_SECRET: secret },
      config: {
        client: { proxy: { connect: { enabled: true, at: "upgrade", ...connect } } },
        channel: {
          without_namespace: {
            allow_subscribe_for_client: true,
            allow_presence_for_subscriber: true,
            presence: true,
          },
        },
        http_stream: { enabled: true },
      },
    });
  });
  beforeEach(() => {
    backend.answer = ({ headers: { cookie } }) => {
      switch (cookie ?? "") {
        case "session=ada":
          return { result: { user: "ada", data: { hello: "Ada" }, channels: ["news"] } };
        case "session=banned":
          return { disconnect: { code: 4_500, reason: "banned" } };
        case "session=old":
          return { error: { code: 1_000, message: "log in again" } };
        default:
          return {};
      }
    };
  });
  afterAll(() => atUpgrade.close());

  it("[Q10] [Q14] a client is the user of its cookie, also after its object has hibernated", async () => {
    client = withCookie(atUpgrade.gatewayAddress(), "session=ada");
    expect(await client.connected.next()).toMatchObject({ data: { hello: "Ada" } });
    expect(await client.serverSide.subscribed.next()).toMatchObject({ channel: "news" });
    await atUpgrade.evictGateway("na/0");
    const room = await client.subscribed("room");
    await atUpgrade.backend.publish("room", { n: 1 });
    await room.publications.count(1);
    const { clients } = await room.subscription.presence();
    expect(Object.values(clients)).toMatchObject([{ user: "ada" }]);
    expect(client.reconnects).toBe(0);
  });

  it.each(endpoints)(
    "[Q10] [Q13] a refused client stays away, with the backend's code: $name",
    async (endpoint) => {
      const address = endpoint.address(atUpgrade, "room");
      for (const [cookie, ending] of [
        ["session=banned", { code: 4_500, reason: "banned" }],
        ["session=old", { code: 1_000, reason: "log in again" }],
      ] as const) {
        client = withCookie(address, cookie);
        expect(await client.disconnected.next()).toMatchObject(ending);
        expect(client.reconnects).toBe(0);
      }
    },
  );

  it("[Q5] [Q10] [Q13] a client waits for a backend that is away, and gets in when it is back", async () => {
    const { answer } = backend;
    backend.answer = () => 500;
    client = withCookie(atUpgrade.gatewayAddress(), "session=ada");
    await client.errors.count(2);
    expect(client.connected.all).toEqual([]);
    backend.answer = answer;
    await client.connected.count(1);
  });

  it("[T1] [Q10] a client of an HTTP stream is admitted by what its connect says", async () => {
    backend.answer = ({ body: { data } }) =>
      JSON.stringify(data) === '{"key":"k"}' ? { result: { user: "bob" } } : { error: refused };
    const endpoint = `${atUpgrade.address}/connection/http_stream`;
    const options = { emulationEndpoint: `${atUpgrade.address}/emulation` };
    const transports: TransportEndpoint[] = [{ transport: "http_stream", endpoint }];
    client = new SdkClient(transports, { ...options, data: { key: "k" } });
    await client.connected.count(1);
    client.close();
    client = new SdkClient(transports, { ...options, data: { key: "wrong" } });
    expect(await client.disconnected.next()).toMatchObject({ code: 1_000 });
  });
});

const refused = { code: 1_000, message: "no" };

/** A client whose handshake has a cookie, as a browser's has. */
function withCookie(address: string | TransportEndpoint[], cookie: string): SdkClient {
  class BrowserSocket extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, { headers: { Cookie: cookie }, perMessageDeflate: false });
    }
  }
  return new SdkClient(address, { websocket: BrowserSocket });
}
