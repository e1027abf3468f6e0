import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { address, call, fetchWith, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";
import { logInWith, own, post } from "./console-post.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
configure({ ...testConfig, console: { enabled: true } });

const logIn = () => logInWith(password);

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
    expect(text).not.toContain(password);
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
