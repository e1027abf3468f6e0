import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import type { BoundEnv, Realtime, RealtimeOptions } from "../../../workers/embedded/dormouse.ts";
import { TestSocket } from "../support/test-socket.ts";
import { testSecrets } from "../support/test-config.ts";

// The objects run the same modules, and a Worker of one's own has no such variable.
Reflect.deleteProperty(env, "config");

const page = "https://shop.example.com";
const password = "the-password-of-the-embedded-console";
const files = [
  {
    "/console/console.js": "export {};",
    "/console/console.css": "main {}",
    "/console/icon.svg": "<svg/>",
    "/console/rules.json": "{}",
  },
  { "/openapi.json": '{"servers":[{"url": "/"}]}', "/swagger.html": "<p>", "/swagger.css": "p {}" },
];

/** A Worker's assets, which have something else at every address. */
const foreign = { fetch: async () => new Response("the project's own page") };

/** Reports come seconds after a request, when another file of the runtime looks into the collectors of the same names. */
const collectors = { getByName: (name: string) => env.METRICS.getByName(`embedded ${name}`) };

/** What a Worker of one's own binds: the objects, and no secret but those that are given. */
function bound(secrets: object = {}): BoundEnv["Bindings"] {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !(name in testSecrets)));
  return Object.assign({}, own, { ASSETS: foreign, METRICS: collectors }, secrets, {
    CHANNELS: env.CHANNELS,
    GATEWAYS: env.GATEWAYS,
    USERS: env.USERS,
  });
}

type Options = Partial<RealtimeOptions<BoundEnv>>;

/** A Worker with the app below a prefix, and what asks it. */
async function workerWith(
  options: Options,
  secrets?: object,
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  // A Worker has one configuration, so each has modules of its own.
  vi.resetModules();
  const { dormouse } = await import("../../../workers/embedded/dormouse.ts");
  const { prefix = "/realtime" } = options;
  const realtime: Realtime<BoundEnv> = dormouse({ user: () => "ann", ...options, prefix });
  const app = new Hono<BoundEnv>();
  app.route(prefix, realtime.app);
  app.get("/", (context) => context.text("the shop"));
  const given = bound(secrets);
  return async (path, init) =>
    app.fetch(new Request(new URL(path, page), init), given, createExecutionContext());
}

const own = { Origin: page };
const settings = { method: "POST", body: "{}", headers: own };

/** The status of an answer, and its text. */
async function answerTo(asked: Promise<Response>): Promise<readonly [number, string]> {
  const answer = await asked;
  return [answer.status, await answer.text()];
}

/** Resolves with anything, and rejects with an error: code in JavaScript has no types. */
function give(given: unknown): Promise<never> {
  return new Promise((resolve, reject) =>
    Reflect.apply(given instanceof Error ? reject : resolve, undefined, [given]),
  );
}

const paths = ["/console", "/console/", "/console/console.js", "/console/console.css"];

describe("the console of a Worker of one's own", () => {
  it("[OW6] [OW15] is closed unless the code or the configuration opens it, and needs no secret", async () => {
    const ask = await workerWith({ files });
    expect(await answerTo(ask("/realtime/health"))).toEqual([200, "{}"]);
    for (const path of paths) expect((await ask(`/realtime${path}`)).status).toBe(404);
    expect((await ask("/realtime/console/api/settings", settings)).status).toBe(404);
    const keyless = { method: "POST", body: '{"channel":"news","data":1}' };
    expect((await ask("/realtime/api/publish", keyless)).status).toBe(401);
    // What is below the prefix is the app's, and all else is the Worker's own.
    for (const path of ["/realtime", "/realtime/", "/realtime/console.js", "/realtime/swagger"])
      expect((await ask(path)).status).toBe(404);
    expect(await answerTo(ask("/"))).toEqual([200, "the shop"]);
  });

  it("[OW15] is open to whom the Worker's own code knows, and to nobody else", async () => {
    let given: unknown;
    const asked: string[] = [];
    const ask = await workerWith({
      files,
      console: ({ req }) => {
        asked.push(new URL(req.url).pathname);
        return give(given);
      },
    });
    const statuses = () =>
      Promise.all([
        ...paths.map(async (path) => (await ask(`/realtime${path}`)).status),
        ask("/realtime/console/api/settings", settings).then(({ status }) => status),
      ]);
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (const no of [false, undefined, null]) {
      given = no;
      expect(await statuses()).toEqual([403, 403, 403, 403, 401]);
    }
    expect(logged).not.toHaveBeenCalled();
    // The whole user isn't an answer, and neither is a code that fails.
    for (const wrong of ["yes", 1, {}, new Error("no session")]) {
      given = wrong;
      expect(await statuses()).toEqual([500, 500, 500, 500, 500]);
      expect(logged.mock.calls.flat().map(String).join()).toContain("may see the console isn't");
      logged.mockClear();
    }
    logged.mockRestore();
    given = true;
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    expect(asked).toContain("/realtime/console/api/settings");
    // There is no password to be guessed, and other sites' pages get nothing.
    const login = { ...settings, body: JSON.stringify({ password }) };
    expect((await ask("/realtime/console/login", login)).status).toBe(404);
    const foreignPage = { ...settings, headers: { Origin: "https://evil.example.com" } };
    expect((await ask("/realtime/console/api/settings", foreignPage)).status).toBe(403);
    const said = await ask("/realtime/console/api/settings", settings);
    expect(await said.json()).toMatchObject({ login: "worker" });
  });

  it("[OW15] has the addresses of its prefix, and its files are the package's", async () => {
    const ask = await workerWith({
      prefix: "/v1/real-time",
      files,
      console: () => true,
      config: { swagger: { enabled: true } },
    });
    for (const path of ["/console", "/console/?from=mail"]) {
      const [, html] = await answerTo(ask(`/v1/real-time${path}`));
      expect(html).toContain('src="/v1/real-time/console/console.js"');
      expect(html).toContain('href="/v1/real-time/console/console.css"');
      expect(html).toContain('data-login="worker"');
    }
    const script = await ask("/v1/real-time/console/console.js");
    expect(script.headers.get("Content-Type")).toBe("text/javascript; charset=utf-8");
    expect(script.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
    expect(await script.text()).toBe("export {};");
    const described = await ask("/v1/real-time/openapi.json");
    expect(await described.json()).toEqual({ servers: [{ url: "/v1/real-time" }] });
    expect((await ask("/v1/real-time/swagger")).headers.get("Content-Type")).toContain("text/html");
    // This one wasn't imported, and the project's own assets aren't asked for it.
    expect(await answerTo(ask("/v1/real-time/keepalive-websocket.js"))).toEqual([
      404,
      expect.stringContaining(
        'files: [clientFiles] to dormouse(), with import { clientFiles } from "dormouse-realtime/files"',
      ),
    ]);
  });

  it("[OW15] [N2] logs in with the password where the configuration opens it, by a cookie of its prefix", async () => {
    const config = { console: { enabled: true } };
    const without = await workerWith({ files, config });
    expect(await answerTo(without("/realtime/health"))).toEqual([
      503,
      expect.stringContaining("secret CONSOLE_PASSWORD is missing"),
    ]);
    const ask = await workerWith({ config }, { CONSOLE_PASSWORD: password });
    expect(await answerTo(ask("/realtime/console/"))).toEqual([
      404,
      expect.stringContaining("files: [consoleFiles] to dormouse()"),
    ]);
    expect((await ask("/realtime/console/api/settings", settings)).status).toBe(401);
    const login = { ...settings, body: JSON.stringify({ password }) };
    const loggedIn = await ask("/realtime/console/login", login);
    const [cookie = "", ...more] = loggedIn.headers.getSetCookie().map((one) => one.split(";"));
    for (const parts of [cookie, ...more]) expect(parts).toContain(" Path=/realtime/console");
    const headers = { ...own, Cookie: cookie[0] ?? "" };
    expect((await ask("/realtime/console/api/settings", { ...settings, headers })).status).toBe(
      200,
    );
  });

  it("[OW15] has one way in, and stays off where the configuration says so", async () => {
    const access = {
      access_team_domain: "a.cloudflareaccess.com",
      access_audience: "0".repeat(64),
    };
    const both = { console: () => true, config: { console: { enabled: true, ...access } } };
    await expect(workerWith(both)).rejects.toThrow("both name operators");
    const off = { files, console: () => true, config: { console: { enabled: false } } };
    const ask = await workerWith(off);
    expect((await ask("/realtime/console/")).status).toBe(404);
  });

  // The last one: an object that is awake doesn't survive new modules.
  it("[OW15] opens a socket for five minutes, whose answer isn't asked for again before", async () => {
    let isOperator = true;
    const ask = await workerWith({ files, console: () => isOperator });
    const upgrade = { headers: { ...own, Upgrade: "websocket" } };
    const live = "/realtime/console/live?channel=news";
    const socket = TestSocket.on(await ask(live, upgrade));
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(connect?.subs).toHaveProperty(["news"]);
    expect(connect).toMatchObject({ expires: true, ttl: expect.closeTo(300, -1) });
    isOperator = false;
    expect((await ask(live, upgrade)).status).toBe(401);
    socket.close();
  });
});
