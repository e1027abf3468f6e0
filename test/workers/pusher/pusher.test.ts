import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { channelText } from "../../../src/features/pusher/signed-text.ts";
import { patience } from "../../support/patience.ts";
import { configure } from "../support/configure.ts";
import { app, connect, request, secret, sign } from "./app-client.ts";

configure({
  channel: { namespaces: [{ name: "shop", presence: true }] },
  client: { users: { enabled: true } },
  pusher: { apps: [app, { ...app, id: "other", key: "other-key", secret: "PUSHER_SECRET_OTHER" }] },
});
Object.assign(env, {
  PUSHER_SECRET_SHOP: secret,
  PUSHER_SECRET_OTHER: `${secret} either`,
});

const event = JSON.stringify({ name: "order", channel: "orders", data: "{}" });

describe("the signed HTTP API", () => {
  it("[PU10] answers a request that is signed in this time with its body", async () => {
    const response = await request(event);
    expect([response.status, await response.text()]).toEqual([200, "{}"]);
  });

  it.each([
    ["another key", { auth_key: "other-key" }],
    ["an old time", { auth_timestamp: "1353088179" }],
    ["no time", { auth_timestamp: "" }],
    ["another version", { auth_version: "2.0" }],
    ["the hash of another body", { body_md5: "ec365a775a4cd0599faeb73354201b6f" }],
    ["a wrong signature", { auth_signature: "ab".repeat(32) }],
    ["a signature that is none", { auth_signature: "x" }],
  ])("[PU10] refuses %s with 401", async (_, changes) => {
    expect((await request(event, changes)).status).toBe(401);
  });

  it.each([
    ["no JSON", "{"],
    ["no name", JSON.stringify({ channel: "a", data: "" })],
    ["no data", JSON.stringify({ name: "a", channel: "a" })],
    ["a name of the protocol's own", JSON.stringify({ name: "pusher:x", channel: "a", data: "" })],
    ["a channel's name that none has", JSON.stringify({ name: "a", channel: "a b", data: "" })],
    [
      "too many channels",
      JSON.stringify({
        name: "a",
        channels: Array.from({ length: 101 }, (_, at) => `c${at}`),
        data: "",
      }),
    ],
    [
      "a socket_id that is none",
      JSON.stringify({ name: "a", channel: "a", data: "", socket_id: "x" }),
    ],
  ])("[PU11] refuses %s with 400", async (_, body) => {
    expect((await request(body)).status).toBe(400);
  });

  it("[PU11] refuses data over the limit with 413", async () => {
    const body = JSON.stringify({ name: "a", channel: "a", data: "x".repeat(1_048_577) });
    expect((await request(body)).status).toBe(413);
  });
});

describe("a client", () => {
  it.each([
    ["nobody", "?protocol=7", 4001],
    [app.key, "", 4008],
    [app.key, "?protocol=x", 4006],
    [app.key, "?protocol=9", 4007],
  ])("[PU1] with the key %s and %j is told why it is closed with %d", async (key, query, code) => {
    const { socket, first } = await connect(key, query);
    expect(first).toContain(`{"event":"pusher:error","data":{"code":${code}`);
    expect(await socket.closed).toMatchObject({ code });
  });

  it.each(["awake", "evicted"])(
    "[PU4] subscribes with a token for its socket and channel alone, its gateway %s",
    async (state) => {
      const { socket, socketId } = await connect();
      if (state === "evicted")
        await evictDurableObject(env.GATEWAYS.getByName("pusher~any/0"), {
          webSockets: "hibernate",
        });
      const right = await sign(channelText(socketId, "private-a", undefined));
      const others = [
        await sign(channelText("1.2", "private-a", undefined)),
        await sign(channelText(socketId, "private-b", undefined)),
        await sign(channelText(socketId, "private-a", undefined), `${secret} either`),
      ].map((signature) => `${app.key}:${signature}`);
      for (const auth of ["", right, `other-key:${right}`, ...others]) {
        socket.send({ event: "pusher:subscribe", data: { channel: "private-a", auth } });
        expect(await socket.frame()).toContain(`"channel":"private-a","data":{"type":"AuthError"`);
      }
      const auth = `${app.key}:${right}`;
      socket.send({ event: "pusher:subscribe", data: { channel: "private-a", auth } });
      expect(await socket.frame()).toContain("subscription_succeeded");
      socket.close();
    },
  );

  it("[K3] [PU1] is answered its ping without waking the object", async () => {
    const { socket } = await connect();
    const gateway = env.GATEWAYS.getByName("pusher~any/0");
    await evictDurableObject(gateway, { webSockets: "hibernate" });
    socket.sendFrame('{"event":"pusher:ping","data":{}}');
    expect(await socket.frame()).toBe('{"event":"pusher:pong","data":{}}');
    // Other bytes reach the object, which gives the same answer.
    socket.sendFrame('{"event": "pusher:ping"}');
    expect(await socket.frame()).toBe('{"event":"pusher:pong","data":{}}');
    await vi.waitFor(
      () =>
        runInDurableObject(gateway, async (_, { storage }) =>
          expect(await storage.getAlarm()).toBeNull(),
        ),
      patience,
    );
    socket.close();
  });

  it("[PU9] is closed for text that is no frame", async () => {
    const { socket } = await connect();
    socket.sendFrame("no JSON");
    expect(await socket.frame()).toContain("pusher:error");
    expect((await socket.closed).code).toBe(4009);
  });
});
