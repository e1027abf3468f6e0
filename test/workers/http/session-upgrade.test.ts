import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { encodeHandover, handoverHeader } from "../../../src/contract/handover.ts";
import { address, answerOf, call, fetchWith } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { requestUpgrade, places } from "../support/place.ts";
import { variants } from "../support/variant.ts";
import { TestSocket, upgrade } from "../support/test-socket.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { untouchable } from "../support/watched-upgrades.ts";

const noChannel = untouchable(env.CHANNELS);

function upgradeRequest(path: string, headers: object = {}): Request {
  return new Request(address(path), { headers: { Upgrade: "websocket", ...headers } });
}

describe("an upgrade that the edge refuses, touching no object", () => {
  it.each<[string, number, string, object]>([
    ["no upgrade", 426, "/channel/news/websocket", { Upgrade: "" }],
    ["another upgrade", 426, "/channel/news/websocket", { Upgrade: "h2c" }],
    ["an empty name", 400, "/channel//websocket", {}],
    ["a malformed escape", 400, "/channel/%zz/websocket", {}],
    ["a name that isn't UTF-8", 400, "/channel/%ff/websocket", {}],
    ["a name too long", 400, `/channel/${"x".repeat(256)}/websocket`, {}],
    ["a name that isn't ASCII", 400, `/channel/${encodeURIComponent("é")}/websocket`, {}],
    ["a name that its namespace refuses", 400, "/channel/digits:x/websocket", {}],
    ["an unknown format", 400, "/channel/news/websocket?format=xml", {}],
    ["an unknown protocol", 400, "/channel/news/websocket?cf_protocol=one_way", {}],
    ["pings as WebSocket frames", 400, "/channel/news/websocket?cf_ws_frame_ping_pong=true", {}],
    ["another origin", 403, "/channel/news/websocket", { Origin: "https://evil.example.com" }],
    ["another path", 404, "/channel/news/websocket/more", {}],
  ])("[A6][B1] %s", async (_, status, path, headers) => {
    const request = upgradeRequest(path, headers);
    const response = await fetchWith({ CHANNELS: noChannel }, request);
    expect(response.status).toBe(status);
    expect(response.webSocket).toBeNull();
  });

  it("[A30] no token, where the configuration requires one", async () => {
    const config = { ...testConfig, client: { ...testConfig.client, require_edge_token: true } };
    const request = upgradeRequest("/channel/news/websocket");
    const response = await fetchWith({ config, CHANNELS: noChannel }, request);
    expect(await answerOf(response)).toStrictEqual({ status: 401, body: "token required" });
  });
});

describe("an upgrade", () => {
  it.each<[string, string | undefined, string | null]>([
    ["nothing", undefined, null],
    ["centrifuge-json", "centrifuge-json", "centrifuge-json"],
    ["centrifuge-json among others", "a, centrifuge-json ,b", "centrifuge-json"],
    ["both codecs", "centrifuge-protobuf, centrifuge-json", "centrifuge-json"],
    ["centrifuge-protobuf", "centrifuge-protobuf", "centrifuge-protobuf"],
    ["centrifuge-msgpack", "x, centrifuge-msgpack", "centrifuge-msgpack"],
    ["nothing that is empty", "", null],
    ["something else", "graphql-ws", null],
  ])("[W1] echoes the subprotocol it understands: %s", async (_, offered, echoed) => {
    const headers = offered === undefined ? {} : { "Sec-WebSocket-Protocol": offered };
    const response = await upgrade(newChannel("room"), "", headers);
    expect(response.status).toBe(101);
    expect(response.headers.get("Sec-WebSocket-Protocol")).toBe(echoed);
    expect(response.headers.get(handoverHeader)).toBeNull();
  });

  it("[C6] to a namespace that isn't configured gets through, and subscribe is answered 102", async () => {
    const channel = newChannel("no-such");
    const socket = await TestSocket.open(channel, `?token=${await token({ sub: "ada" })}`);
    await socket.ask({ id: 1, connect: {} });
    expect(await socket.ask({ id: 2, subscribe: { channel } })).toMatchObject({
      error: { code: 102 },
    });
  });

  it("[A6] is open to an allowed origin and to a client without one", async () => {
    const headers = { Origin: "https://app.example.com" };
    expect((await upgrade(newChannel("room"), "", headers)).status).toBe(101);
    expect((await upgrade(newChannel("room"))).status).toBe(101);
  });
});

describe.each(places)("an object full of $name", (place) => {
  it("[B5] refuses the next one with 503, until somebody leaves", async () => {
    const channel = newChannel("room");
    const sockets: TestSocket[] = [];
    for (let count = 0; count < testConfig.client.connection_limit; count++) {
      sockets.push(TestSocket.on(await place.upgrade(channel)));
    }
    const holder = place.holder(channel);
    const refused = await requestUpgrade(holder);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("Retry-After")).toBe("5");
    const [first] = sockets;
    first?.sendFrame("{}\n");
    await first?.closed;
    // Kept in a variable: the garbage collection closes a socket without a reference.
    sockets.push(TestSocket.on(await requestUpgrade(holder)));
    expect((await requestUpgrade(holder)).status).toBe(503);
    expect(sockets).toHaveLength(testConfig.client.connection_limit + 1);
  });
});

describe.each(variants)("a token at the upgrade to $name", (variant) => {
  it("[C3] whose expire_at has passed has its connect answered 110, as in a command", async () => {
    const over = { sub: "ada", exp: secondsFromNow(100), expire_at: secondsFromNow(-1) };
    const signed = await token(over);
    for (const [query, connect] of [
      [`?token=${signed}`, {}],
      ["", { token: signed }],
    ] as const) {
      const channel = newChannel("plain");
      const socket = await variant.open(channel, query);
      await variant.betweenSteps(channel);
      expect(await socket.ask({ id: 1, connect })).toMatchObject({ error: { code: 110 } });
    }
  });

  it.each<[string, (token: string) => [string, object]]>([
    ["query", (value) => [`?token=${value}`, {}]],
    ["header", (value) => ["", { Authorization: `Bearer ${value}` }]],
    ["cookie", (value) => ["", { Cookie: `a=b; dormouse-token=${value}` }]],
  ])("[A3] makes a connect without one good, with its claims: %s", async (_, place) => {
    const channel = newChannel("plain");
    const claims = { sub: "Zoë", info: { "b\n": "é😀" }, exp: secondsFromNow(100) };
    const socket = await variant.open(channel, ...place(await token(claims)));
    await variant.betweenSteps(channel);
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(connect).toMatchObject({ expires: true });
    await variant.betweenSteps(channel);
    await socket.ask({ id: 2, subscribe: { channel } });
    const { client } = socket;
    expect(JSON.parse((await call("presence", { channel })).body)).toStrictEqual({
      result: {
        presence: { [client]: { user: "Zoë", client, conn_info: { "b\n": "é😀" } } },
      },
    });
    await variant.betweenSteps(channel);
  });

  it("[A3] can't be forged with the header that the edge itself uses", async () => {
    const channel = newChannel("plain");
    const forged = encodeHandover({
      v: 1,
      keepalive: "client",
      claims: { user: "admin", expireAtSeconds: 0 },
    });
    const headers = { [handoverHeader]: forged, [handoverHeader.toLowerCase()]: forged };
    const attacker = await variant.open(channel, "", headers);
    await variant.betweenSteps(channel);
    attacker.send({ id: 1, connect: {} });
    expect(await attacker.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    const query = `?token=${await token({ sub: "ada" })}`;
    const ada = await variant.open(channel, query, headers);
    await variant.betweenSteps(channel);
    expect((await ada.ask({ id: 1, connect: {} })).connect).toMatchObject({ pong: true });
    await ada.ask({ id: 2, subscribe: { channel } });
    expect((await call("presence", { channel })).body).toContain('"user":"ada"');
    await variant.betweenSteps(channel);
  });
});
