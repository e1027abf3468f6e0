import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { fullHeader } from "../../../src/contract/handover.ts";
import { configurationOf } from "../../../workers/platform/configuration.ts";
import { address, answerOf, fetchWith } from "../support/api-request.ts";
import { openConfig } from "../support/open-transports.ts";
import { testConfig } from "../support/test-config.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { untouchable, watchedUpgrades } from "../support/watched-upgrades.ts";

const noObject = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };
const origin = "https://app.example.com";

const transports = [
  ["sse", "GET, POST"],
  ["http_stream", "POST"],
  ["uni_sse", "GET, POST"],
  ["uni_http_stream", "POST"],
] as const;

const paths: readonly [string, string][] = [
  ...["/connection", "/channel/news"].flatMap((base) =>
    transports.map(([name, methods]): [string, string] => [`${base}/${name}`, methods]),
  ),
  ["/channel/news/poll", "GET"],
  ["/emulation", "POST"],
  ["/connection/init", "GET, POST"],
];

/** Asks an edge of its own with every transport open, none of whose objects may be touched. */
function ask(path: string, init: RequestInit = {}, config: object = openConfig) {
  return fetchWith({ ...noObject, config: { ...config } }, new Request(address(path), init));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(paths)("%s", (path, methods) => {
  it("[A6][T7] answers a preflight as Centrifugo does", async () => {
    const response = await ask(path, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Headers": "content-type,x-other" },
    });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toStrictEqual({
      "access-control-allow-credentials": "true",
      "access-control-allow-headers": "content-type,x-other",
      "access-control-allow-methods": "POST, OPTIONS",
      "access-control-allow-origin": origin,
      "access-control-max-age": "300",
      vary: "Origin",
    });
  });

  it.each(["GET", "POST", "OPTIONS"])("[A6][T7] is closed to foreign pages: %s", async (method) => {
    const response = await ask(path, { method, headers: { Origin: "https://evil.example.com" } });
    expect(response.status).toBe(403);
    expect(response.headers.get("Vary")).toBe("Origin");
    expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it.each<Record<string, string>>([
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" },
    { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" },
    { Origin: origin, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate" },
    { Accept: "text/html" },
  ])("[A6] doesn't serve a browser that says %o", async (headers) => {
    for (const method of ["GET", "POST"]) {
      const response = await ask(path, { method, headers });
      expect(await answerOf(response)).toStrictEqual({ status: 403, body: "Forbidden" });
    }
  });

  const others = ["HEAD", "PUT", "DELETE", "GET", "POST"].filter(
    (method) => !methods.split(", ").includes(method),
  );

  it.each(others)("[T7] knows no method but its own: %s", async (method) => {
    const response = await ask(path, { method, headers: { Origin: origin } });
    expect(response.status).toBe(405);
    expect(response.headers.get("Allow")).toBe(methods);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
  });
});

describe("a transport that isn't open", () => {
  it.each(["sse", "http_stream", "uni_sse", "uni_http_stream", "uni_websocket"])(
    "[A1][T1] says which setting opens it: %s",
    async (name) => {
      for (const base of ["/connection", "/channel/news"]) {
        const response = await ask(`${base}/${name}`, { headers: { Origin: origin } }, testConfig);
        expect(await answerOf(response)).toStrictEqual({
          status: 404,
          body: `${name}.enabled is not set`,
        });
      }
    },
  );

  it("[A1][T9] says which setting opens it: poll", async () => {
    const response = await ask("/channel/news/poll", {}, testConfig);
    expect(await answerOf(response)).toStrictEqual({
      status: 404,
      body: "long_poll.enabled is not set",
    });
  });
});

describe("/emulation", () => {
  it("[A1][T7] says which settings open it where no transport needs it", async () => {
    const uniOnly = { ...testConfig, uni_sse: { enabled: true } };
    for (const config of [testConfig, uniOnly]) {
      const response = await postNothing(config);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(await answerOf(response)).toStrictEqual({
        status: 404,
        body: "sse.enabled or http_stream.enabled is not set",
      });
    }
  });

  it.each(["sse", "http_stream"])("[T1] is there with %s", async (name) => {
    expect((await postNothing({ ...testConfig, [name]: { enabled: true } })).status).toBe(400);
  });
});

describe.each(["/connection", "/channel/news"])("a stream of %s that is refused", (base) => {
  it.each<[string, number, string, RequestInit]>([
    ["nothing to connect with", 400, "sse", {}],
    ["an empty body", 400, "http_stream", { method: "POST" }],
    [
      "a body that isn't UTF-8",
      400,
      "http_stream",
      { method: "POST", body: new Uint8Array([255]) },
    ],
    ["too long a body", 413, "http_stream", { method: "POST", body: tooLong() }],
    ["too long a body", 413, "uni_sse", { method: "POST", body: tooLong() }],
    ["too long a query", 413, `uni_sse?cf_connect=${tooLong()}`, {}],
    ["a bad token in the query", 401, "uni_sse?token=nothing", {}],
    ["a bad token in a header", 401, "uni_sse", { headers: { Authorization: "Bearer nothing" } }],
  ])("[T1][T7] %s: %i", async (_, status, transport, { headers, ...init }) => {
    const response = await ask(`${base}/${transport}`, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(headers)), Origin: origin },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
  });

  it("[A22] a GET with more than a connect: 400", async () => {
    const path = `${base}/sse?cf_connect=${encodeURIComponent(twoCommands)}`;
    const response = await ask(path, { headers: { Origin: origin } });
    expect(response.status).toBe(400);
  });

  // Each of these waits for a second or two.
  it.concurrent.each<[string, string, number, string, RequestInit]>([
    ["no token", "sse", 3501, "bad request", frameWith({ connect: {} })],
    ["no connect", "sse", 3501, "bad request", frameWith({ subscribe: { channel: "news" } })],
    [
      "no frame that can be read",
      "http_stream",
      3501,
      "bad request",
      { method: "POST", body: "?" },
    ],
    ["a bad token", "http_stream", 3500, "invalid token", frameWith({ connect: { token: "x" } })],
    ["no token, one way", "uni_sse", 3501, "bad request", {}],
    ["a bad token, one way", "uni_http_stream", 3500, "invalid token", bodyOf({ token: "x" })],
  ])("[A12] [T5] %s: ended by %s with %i", async (_, transport, code, reason, init) => {
    const startedAtMs = Date.now();
    const response = await ask(`${base}/${transport}`, init);
    expect(response.status).toBe(200);
    const disconnect = transport.startsWith("uni")
      ? { disconnect: { code, reason } }
      : { push: { disconnect: { code, reason } } };
    expect((await response.text()).trim()).toContain(JSON.stringify(disconnect));
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(limits.refusedStreamDelayMs - 5);
  });

  it("[A3] an expired token: 401", async () => {
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    const response = await ask(`${base}/uni_sse?token=${expired}`);
    expect(await answerOf(response)).toStrictEqual({ status: 401, body: "token expired" });
  });

  it("[B5][T7] all objects are full: 503, which a page can read", async () => {
    const full = { status: 503, headers: { [fullHeader]: "1" } };
    const answer = async () => new Response("no room", full);
    const response = await fetchWith(
      {
        config: openConfig,
        CHANNELS: watchedUpgrades(env.CHANNELS, answer),
        GATEWAYS: watchedUpgrades(env.GATEWAYS, answer),
      },
      new Request(address(`${base}/uni_sse?token=${await token({ sub: "ada" })}`), {
        headers: { Origin: origin },
      }),
    );
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("Retry-After"))).toBeGreaterThanOrEqual(2);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(response.headers.get("Vary")).toBe("Origin");
  });

  it("[B5][T7] an object refuses for good: its answer, which a page can read", async () => {
    const response = await fetchWith(
      {
        config: openConfig,
        CHANNELS: watchedUpgrades(env.CHANNELS, refuseForGood),
        GATEWAYS: watchedUpgrades(env.GATEWAYS, refuseForGood),
      },
      new Request(address(`${base}/uni_sse?token=${await token({ sub: "ada" })}`), {
        headers: { Origin: origin },
      }),
    );
    expect(response.status).toBe(413);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
  });
});

describe("a post to /emulation", () => {
  it.each<[string, BodyInit, string?]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no node", `{"session":"s","data":"{}"}`],
    ["a frame that isn't a string", `{"session":"s","node":"channel:news","data":{}}`],
    ["no UTF-8", new Uint8Array([255])],
    ["no Protobuf", new Uint8Array([10, 200]), "application/octet-stream"],
  ])("[T4] that can't be read is answered 400: %s", async (_, body, type) => {
    expect((await post(body, type)).status).toBe(400);
  });

  it.each([
    "",
    "news",
    "channel:",
    "channel:é",
    "channel:no-such:x",
    "gateway:",
    "gateway:eu",
    "gateway:eu/1000",
    "gateway:nowhere/0",
    "gateway:channel/news/512",
    "gateway:channel/no-such:x/0",
    "other:x",
  ])("[T4] for a node that there isn't is answered 404: %s", async (node) => {
    const body = JSON.stringify({ session: "s", node, data: "{}" });
    expect((await post(body)).status).toBe(404);
  });

  it("[T4] that is too large is answered 413", async () => {
    const node = "channel:news";
    const data = "x".repeat(limits.frameBytesMax + 1);
    expect((await post(JSON.stringify({ session: "s", node, data }))).status).toBe(413);
    const rest = "x".repeat(limits.emulationBytesMax);
    expect((await post(JSON.stringify({ session: rest, node, data: "" }))).status).toBe(413);
  });

  it("[A23] [T4] whose session its object didn't make is taken, and calls no object", async () => {
    const [one, other] = ["channel:news", "gateway:na/0"];
    const logged = vi.spyOn(console, "warn").mockReturnValue();
    const forged = ["", "s", "0".repeat(64), `${"0".repeat(64)}@${one}`];
    const calls = { CHANNELS: failing(env.CHANNELS), GATEWAYS: failing(env.GATEWAYS) };
    for (const node of [one, other, "gateway:channel/news/7"]) {
      for (const session of [...forged, await secretOf(node === one ? other : one)]) {
        const body = JSON.stringify({ session, node, data: "{}" });
        const request = new Request(address("/emulation"), { method: "POST", body });
        const response = await fetchWith({ ...calls, config: openConfig }, request);
        expect(response.status).toBe(204);
      }
    }
    expect(logged.mock.calls.join()).toContain('"refused":"emulation","rule":"A23"');
  });

  it("[A7][T4] that fails doesn't put the session into the log", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const CHANNELS = failing(env.CHANNELS);
    const node = "channel:news";
    const body = JSON.stringify({ session: await secretOf(node), node, data: "{}" });
    const request = new Request(address("/emulation"), { method: "POST", body });
    const response = await fetchWith({ CHANNELS, config: openConfig }, request);
    expect(response.status).toBe(500);
    expect(logged.mock.calls).toStrictEqual([
      ["emulation request failed: error=Error object=its-id"],
    ]);
  });
});

it("[T1] /connection/init is answered {}", async () => {
  for (const method of ["GET", "POST"]) {
    expect(await answerOf(await ask("/connection/init", { method }))).toStrictEqual({
      status: 200,
      body: "{}",
    });
  }
});

it("[A12] a poll without a token is answered 401 where one is required, and calls no object", async () => {
  expect(await answerOf(await ask("/channel/news/poll"))).toStrictEqual({
    status: 401,
    body: "token required",
  });
});

function frameWith(command: object): RequestInit {
  return bodyOf({ id: 1, ...command });
}

function bodyOf(message: object): RequestInit {
  return { method: "POST", body: JSON.stringify(message) };
}

/** A connect and what nobody may do by a GET (rule A22). */
const twoCommands = '{"id":1,"connect":{}}\n{"id":2,"publish":{"channel":"news","data":1}}';

function postNothing(config: object): Promise<Response> {
  return ask("/emulation", { method: "POST", headers: { Origin: origin } }, config);
}

/** Objects that fail whenever a frame is posted to them, with the session in the error. */
function failing<Objects extends object>(objects: Objects): Objects {
  return new Proxy(objects, { get: () => () => ({ id: "its-id", post: failWith }) });
}

async function failWith(session: string): Promise<void> {
  throw new Error(`no ${session}`);
}

/** The secret of a session, as the object of that node makes it. */
async function secretOf(node: string): Promise<string> {
  const configuration = configurationOf({ ...env, config: openConfig });
  if (configuration.outcome !== "configured") throw new Error("It isn't configured");
  return configuration.sessions.make(node);
}

function tooLong(): string {
  return "x".repeat(limits.frameBytesMax + 1);
}

function post(body: BodyInit, type = "application/json"): Promise<Response> {
  const headers = { "Content-Type": type, Origin: origin };
  return ask("/emulation", { method: "POST", headers, body });
}

async function refuseForGood(): Promise<Response> {
  return new Response("too much", { status: 413 });
}
