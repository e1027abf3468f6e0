import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { address, call, fetchWith, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";
import {
  app,
  get as askSigned,
  request as sendSigned,
  secret,
  subscribe,
} from "../pusher/app-client.ts";
import { logInWith, own, post } from "./console-post.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
const { namespaces } = testConfig.channel;
const shop = { name: "shop", presence: true, history_size: 10, history_ttl: "5m" };
configure({
  ...testConfig,
  console: { enabled: true },
  channel: { ...testConfig.channel, namespaces: [...namespaces, shop] },
  pusher: { apps: [{ ...app, enable_client_messages: true, enable_subscription_count: true }] },
});
Object.assign(env, { [app.secret]: secret });

const logIn = () => logInWith(password);

/** The socket of an operator who looks on. */
async function lookOn(query: string, login?: object): Promise<TestSocket> {
  const headers = { ...own, ...(login ?? (await logIn())), Upgrade: "websocket" };
  return TestSocket.on(
    await exports.default.fetch(address(`/console/connect?${query}`), { headers }),
  );
}

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

describe("the console", () => {
  it("[N1] doesn't exist where it is off", async () => {
    const off = { config: JSON.stringify({ ...testConfig, console: { enabled: false } }) };
    const paths = [
      "/console",
      "/console/",
      "/console/console.js",
      "/console/api/info",
      "/console/login",
      "/console/live",
    ];
    for (const path of paths)
      for (const method of ["GET", "POST"]) {
        const request = new Request(address(path), { method, headers: own });
        expect(await statusOf(fetchWith(off, request))).toBe(404);
      }
  });

  it("[N2] lets in whoever knows the password, with a cookie that only its own pages send", async () => {
    for (const body of [{ password: "wrong" }, { password: "" }, {}, { password: 1 }])
      expect(await statusOf(post("/console/login", body))).toBe(401);
    const response = await post("/console/login", { password });
    const cookie = response.headers.get("Set-Cookie") ?? "";
    for (const part of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/console", "Max-Age=43200"])
      expect(cookie).toContain(part);
    expect(cookie).not.toContain(password);
    const loggedIn = await logIn();
    expect(await statusOf(post("/console/api/settings", {}, loggedIn))).toBe(200);
    const out = await post("/console/logout", {}, loggedIn);
    expect(out.headers.get("Set-Cookie")).toContain("Max-Age=0");
  });

  it("[N2] answers nothing without a login", async () => {
    const wrong = [{}, { Cookie: "dormouse-console=" }, { Cookie: "dormouse-console=a.b.c" }];
    for (const headers of wrong)
      for (const method of ["settings", "metrics", "publish", "info", "erase", "nothing"]) {
        const response = post(`/console/api/${method}`, { channel: "room:x", data: 1 }, headers);
        expect(await statusOf(response)).toBe(401);
      }
    const key = { "X-API-Key": "api-key-of-worker-tests" };
    expect(await statusOf(post("/console/api/info", {}, key))).toBe(401);
  });

  it("[N2] bounds the logins of an address", async () => {
    const from = { "CF-Connecting-IP": "192.0.2.7" };
    for (let attempt = 0; attempt < consoleLimits.consoleLoginsBurst; attempt++)
      expect(await statusOf(post("/console/login", { password: "wrong" }, from))).toBe(401);
    expect(await statusOf(post("/console/login", { password }, from))).toBe(503);
    const other = { "CF-Connecting-IP": "192.0.2.8" };
    expect(await statusOf(post("/console/login", { password }, other))).toBe(204);
  });

  it("[N3] takes no request from another site's page, whose browser sends the cookie", async () => {
    const loggedIn = await logIn();
    const others = [
      { Origin: "https://evil.example.com" },
      { Origin: "null" },
      { Origin: "https://dormouse.example.com.evil.example.com" },
      { ...own, "Sec-Fetch-Site": "same-site" },
    ];
    for (const headers of others) {
      const all = { ...loggedIn, ...headers };
      expect(await statusOf(post("/console/api/info", {}, all))).toBe(403);
      expect(await statusOf(post("/console/login", { password }, all))).toBe(403);
      const upgrade = { headers: { ...all, Upgrade: "websocket" } };
      const live = exports.default.fetch(address("/console/live?channel=room:x"), upgrade);
      expect(await statusOf(live)).toBe(403);
    }
    const without = { method: "POST", body: "{}", headers: loggedIn };
    expect(await statusOf(exports.default.fetch(address("/console/api/info"), without))).toBe(403);
    // Nor may a link or an image do anything.
    const get = { headers: { ...loggedIn, ...own } };
    expect(await statusOf(exports.default.fetch(address("/console/api/info"), get))).toBe(405);
  });

  it("[N4] calls the methods of the API, and the log says who did", async () => {
    const loggedIn = await logIn();
    const channel = newChannel("room");
    const published = await post("/console/api/publish", { channel, data: { n: 1 } }, loggedIn);
    expect(await published.json()).toMatchObject({ result: { offset: 1 } });
    const history = { channel, limit: 10 };
    const read = await post("/console/api/history", history, loggedIn);
    expect(await read.text()).toBe((await call("history", history)).body);
    expect(await statusOf(post("/console/api/revoke_token", { uid: "1" }, loggedIn))).toBe(200);
    // None has this name, and events aren't a command.
    for (const name of ["publis", "events"])
      expect(await statusOf(post(`/console/api/${name}`, {}, loggedIn))).toBe(404);
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    await post("/console/api/publish", { channel: "nowhere:1", data: 1 }, loggedIn);
    const lines = warn.mock.calls.flat().join("\n");
    warn.mockRestore();
    expect(lines).toContain('"refused":"api publish"');
    expect(lines).toContain('"key":"console"');
  });

  it("[N4] says what the pages need to know, and no secret", async () => {
    const response = await post("/console/api/settings", {}, await logIn());
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      login: "password",
      report_ms: 10_000,
      private_prefix: "$",
    });
    for (const one of [password, secret, app.secret]) expect(text).not.toContain(one);
    const metrics = await post("/console/api/metrics", {}, await logIn());
    expect(await metrics.json()).toMatchObject({ counters: {}, gauges: {}, hour: {} });
  });

  it("[N6] hears a channel without being present there, awake and after the gateway's sleep", async () => {
    const channel = newChannel("room");
    const headers = { ...(await logIn()), ...own, Upgrade: "websocket" };
    const path = `/console/live?channel=${encodeURIComponent(channel)}`;
    const socket = TestSocket.on(await exports.default.fetch(address(path), { headers }));
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(connect?.subs).toHaveProperty([channel]);
    for (const sleeps of [false, true]) {
      if (sleeps) await hibernate(env.GATEWAYS.getByName("any/0"));
      await publish(channel, { sleeps });
      expect(await socket.next()).toMatchObject({ push: { channel, pub: { data: { sleeps } } } });
    }
    expect((await call("presence", { channel })).body).toContain('"presence":{}');
    socket.close();
  });

  it.each(["awake", "evicted"])(
    "[N32] [N26] looks on as a client of the Pusher protocol, without a trace, %s",
    async (state) => {
      const settle = async (name: string) => {
        if (state === "awake") return;
        await hibernate(env.GATEWAYS.getByName("pusher~any/0"));
        await hibernate(env.CHANNELS.getByName(`shop:${name}`));
      };
      const members = `presence-${state}`;
      const ada = await subscribe(members, "ada");
      const onlooker = await lookOn("app=shop");
      expect(await onlooker.frame()).toContain("pusher:connection_established");
      const enter = async (channel: string) => {
        onlooker.send({ event: "pusher:subscribe", data: { channel } });
        return onlooker.frame();
      };
      const listed = await enter(members);
      expect(listed).toContain("subscription_succeeded");
      expect(JSON.parse(JSON.parse(listed).data)).toEqual({
        presence: { count: 1, ids: ["ada"], hash: { ada: null } },
      });
      // No signature is asked of an operator, and none is made: the page has no secret.
      expect(await enter(`private-${state}`)).toContain("subscription_succeeded");
      expect(await enter("#server-to-user-carl")).toContain("subscription_error");
      await settle(members);
      const bob = await subscribe(members, "bob");
      expect(JSON.parse(JSON.parse(bob.succeeded).data)).toMatchObject({
        presence: { count: 2, ids: ["ada", "bob"] },
      });
      expect(await onlooker.frame()).toContain("member_added");
      expect(
        await askSigned(`/channels/${members}`, { info: "user_count,subscription_count" }),
      ).toEqual({
        occupied: true,
        user_count: 2,
        subscription_count: 2,
      });
      expect(await askSigned(`/channels/private-${state}`)).toMatchObject({ occupied: false });
      const event = { name: "sold", data: "a lamp", channels: [members, `private-${state}`] };
      expect((await sendSigned(JSON.stringify(event))).status).toBe(200);
      for (const channel of event.channels)
        expect(JSON.parse(await onlooker.frame())).toMatchObject({ event: "sold", channel });
      // It sends nothing to others.
      onlooker.send({ event: "client-typing", channel: members, data: {} });
      expect(await onlooker.frame()).toContain("pusher:error");
      bob.socket.close();
      expect(await onlooker.frame()).toContain("member_removed");
      onlooker.close();
      ada.socket.send({ event: "pusher:ping", data: {} });
      const heard: string[] = [];
      while (heard.at(-1) !== "pusher:pong") heard.push(JSON.parse(await ada.socket.frame()).event);
      expect(heard).toEqual([
        "pusher_internal:member_added",
        "sold",
        "pusher_internal:member_removed",
        "pusher:pong",
      ]);
    },
  );

  it("[N32] looks on as a user whom an application knows, and as no other application's client", async () => {
    const carl = await lookOn("app=shop&user=carl");
    expect(await carl.frame()).toContain("pusher:connection_established");
    const data = { channel: "#server-to-user-carl" };
    carl.send({ event: "pusher:subscribe", data });
    expect(await carl.frame()).toContain("subscription_succeeded");
    const event = { name: "hi", data: "carl", channel: data.channel };
    expect((await sendSigned(JSON.stringify(event))).status).toBe(200);
    expect(await carl.frame()).toContain('"hi"');
    await expect(lookOn("app=other&user=carl")).rejects.toThrow("400");
    await expect(lookOn("app=shop", {})).rejects.toThrow("401");
    // It ends with its login, as every onlooker (rule N27).
    const login = await logIn();
    const ended = await lookOn("app=shop", login);
    await ended.frame();
    expect(await statusOf(post("/console/logout", {}, login))).toBe(204);
    expect(await ended.closed).toMatchObject({ code: 4_009 });
    carl.send({ event: "pusher:ping", data: {} });
    expect(await carl.frame()).toContain("pusher:pong");
    carl.close();
  });

  it("[N6] hears nothing without a login, nor of a channel that can't exist", async () => {
    const ask = (query: string, headers: object) =>
      statusOf(
        exports.default.fetch(address(`/console/live${query}`), {
          headers: { ...own, Upgrade: "websocket", ...headers },
        }),
      );
    const loggedIn = await logIn();
    expect(await ask("?channel=room:x", {})).toBe(401);
    expect(await ask("?channel=nowhere:x", loggedIn)).toBe(400);
    expect(await ask("?channel=", loggedIn)).toBe(400);
    expect(
      await statusOf(exports.default.fetch(address("/console/live"), { headers: loggedIn })),
    ).toBe(426);
  });
});
