import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { createApp } from "../../../workers/http/app.ts";
import { fullHeader, handoverHeader, parseHandover } from "../../../src/contract/handover.ts";
import { address, answerOf, fetchWith } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { OwnTimers } from "../support/own-timers.ts";
import { testConfig } from "../support/test-config.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { overloadedError } from "../support/watched-channels.ts";
import { type AskedObject, untouchable, watchedUpgrades } from "../support/watched-upgrades.ts";

const path = "/connection/websocket";
const noObject = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };

function upgradeRequest(to: string, headers: object = {}, cf: CfProperties = {}): Request {
  return new Request(address(to), { headers: { Upgrade: "websocket", ...headers }, cf });
}

/** The answer of a full object. */
function full(): Response {
  return new Response("no room", { status: 503, headers: { [fullHeader]: "1" } });
}

/** The answer of an object that accepts the socket. */
function taken(): Response {
  return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });
}

/** One isolate of the edge with its memory; the test answers for all objects. */
function edge(answer: (asked: AskedObject) => Response | Promise<Response>) {
  const app = createApp();
  const asked: string[] = [];
  const watch = async (kind: string, object: AskedObject) => {
    asked.push(`${kind}${object.name}`);
    return answer(object);
  };
  const objects = {
    CHANNELS: watchedUpgrades(env.CHANNELS, (object) => watch("object of ", object)),
    GATEWAYS: watchedUpgrades(env.GATEWAYS, (object) => watch("", object)),
  };
  const upgrade = async (to: string, headers: object = {}, cf: CfProperties = {}) =>
    app.fetch(upgradeRequest(to, headers, cf), { ...env, ...objects });
  /** The objects that were asked since the last time. */
  const askedNow = () => asked.splice(0);
  return { upgrade, askedNow };
}

/** A gateway's place in its pool. */
function indexOf(gateway = "any/0"): number {
  return Number(gateway.slice("any/".length));
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a connection that the edge refuses, touching no object", () => {
  it.each<[string, string, object]>([
    ["no upgrade", "GET", {}],
    ["another upgrade", "GET", { Upgrade: "h2c" }],
    ["another method", "HEAD", { Upgrade: "websocket" }],
    ["yet another method", "POST", { Upgrade: "websocket" }],
  ])("[B1] %s: 426", async (_, method, headers) => {
    for (const to of [path, "/channel/news/websocket"]) {
      const request = new Request(address(to), { method, headers: { ...headers } });
      const response = await fetchWith(noObject, request);
      expect(response.status).toBe(426);
      expect(response.headers.get("Upgrade")).toBe("websocket");
    }
  });

  it.each<[string, number, string, object]>([
    ["another origin", 403, path, { Origin: "https://evil.example.com" }],
    ["an unknown format", 400, `${path}?format=xml`, {}],
    ["pings as WebSocket frames", 400, `${path}?cf_ws_frame_ping_pong=true`, {}],
    ["a token that is none", 401, `${path}?token=nothing.of.the-kind`, {}],
    ["a header that is no token", 401, path, { Authorization: "Bearer nothing" }],
    ["another path", 404, `${path}/more`, {}],
  ])("[A3][A6] %s: %i", async (_, status, to, headers) => {
    const response = await fetchWith(noObject, upgradeRequest(to, headers));
    expect(response.status).toBe(status);
    expect(response.webSocket).toBeNull();
  });

  it("[A3] an expired token: 401", async () => {
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    const response = await fetchWith(noObject, upgradeRequest(`${path}?token=${expired}`));
    expect(await answerOf(response)).toStrictEqual({ status: 401, body: "token expired" });
  });

  it("[A30] no token, where the configuration requires one: 401", async () => {
    const config = { ...testConfig, client: { ...testConfig.client, require_edge_token: true } };
    const response = await fetchWith({ ...noObject, config }, upgradeRequest(path));
    expect(await answerOf(response)).toStrictEqual({ status: 401, body: "token required" });
  });
});

describe("a connection with a token whose key can't be fetched", () => {
  it("[A9] is answered 503 with a time to come again, touching no object", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(globalThis, "fetch").mockImplementation(
      async () => new Response(null, { status: 500 }),
    );
    const keys = { jwks_public_endpoint: "https://keys.example.com/jwks" };
    const config = { ...testConfig, client: { ...testConfig.client, token: keys } };
    const unknown = [{ alg: "RS256", kid: "1" }, { sub: "ada" }].map((part) =>
      btoa(JSON.stringify(part)),
    );
    const bearer = `${unknown.join(".").replaceAll("=", "")}.c2lnbmF0dXJl`;
    for (const to of [path, "/channel/news/websocket"]) {
      const request = upgradeRequest(to, { Authorization: `Bearer ${bearer}` });
      const response = await fetchWith({ ...noObject, config }, request);
      expect(response.status).toBe(503);
      const seconds = Number(response.headers.get("Retry-After"));
      expect(seconds).toBeGreaterThanOrEqual(2);
      expect(seconds).toBeLessThanOrEqual(10);
    }
  });
});

describe("a connection for many channels", () => {
  it.each([
    [{ continent: "EU" }, "eu/0", "weur"],
    [{ continent: "AN" }, "an/0", "oc"],
    [{}, "any/0", undefined],
  ])("[G3] is sent to a gateway of its region: %j", async (cf, name, locationHint) => {
    const asked: AskedObject[] = [];
    const { upgrade } = edge((object) => {
      asked.push(object);
      return taken();
    });
    expect((await upgrade(path, {}, cf)).status).toBe(101);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ name });
    expect(asked[0]?.locationHint).toBe(locationHint);
  });

  it("[A3] is handed over with the edge's decisions, and nothing that a client can forge", async () => {
    const seen: Request[] = [];
    const { upgrade } = edge(({ request }) => {
      seen.push(request);
      return taken();
    });
    const bearer = await token({ sub: "ada", exp: secondsFromNow(100) });
    const headers = {
      [handoverHeader]: "forged",
      Authorization: `Bearer ${bearer}`,
      Cookie: "a=b",
      "Sec-WebSocket-Protocol": "centrifuge-json",
    };
    await upgrade(`${path}?keepalive=client&token=x`, headers);
    const [request] = seen;
    expect(parseHandover(request?.headers.get(handoverHeader) ?? "")).toMatchObject({
      keepalive: "client",
      claims: { user: "ada" },
    });
    expect([...(request?.headers.keys() ?? [])].sort()).toStrictEqual([
      handoverHeader.toLowerCase(),
      "sec-websocket-protocol",
      "upgrade",
    ]);
    expect(request?.url).not.toContain("token");
  });

  it("[B13] is handed over with the client's address if it brings no token", async () => {
    const seen: Request[] = [];
    const { upgrade } = edge(({ request }) => {
      seen.push(request);
      return taken();
    });
    const from = { "CF-Connecting-IP": "2001:db8:1:2:3:4:5:6" };
    await upgrade(path, from);
    await upgrade(`${path}?token=${await token({ sub: "ada" })}`, from);
    await upgrade(path);
    const handovers = seen.map(({ headers }) => parseHandover(headers.get(handoverHeader) ?? ""));
    expect(handovers.map(({ address: known }) => known)).toStrictEqual([
      "2001:db8:1:2",
      undefined,
      undefined,
    ]);
  });

  it("[B25] is answered 503 when its address opens too many without a token, calling no object", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { upgrade, askedNow } = edge(taken);
    const from = { "CF-Connecting-IP": "192.0.2.1" };
    for (let count = 0; count < limits.addressUpgradesBurst; count++) {
      const to = count % 2 === 0 ? path : "/channel/news/websocket";
      expect((await upgrade(to, from)).status).toBe(101);
    }
    askedNow();
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const refused = await upgrade(path, from);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThanOrEqual(2);
    expect(askedNow()).toStrictEqual([]);
    expect(log.mock.calls.join()).toContain(`"rule":"B25"`);
    expect((await upgrade(path, { "CF-Connecting-IP": "192.0.2.2" })).status).toBe(101);
    const bearer = await token({ sub: "ada" });
    expect((await upgrade(`${path}?token=${bearer}`, from)).status).toBe(101);
    vi.advanceTimersByTime(1_000);
    expect((await upgrade(path, from)).status).toBe(101);
  });

  it("[G3] is sent to the next gateway when one is full, and directly there afterwards", async () => {
    const { upgrade, askedNow } = edge(({ name }) => (name === "eu/0" ? full() : taken()));
    const cf = { continent: "EU" };
    expect((await upgrade(path, {}, cf)).status).toBe(101);
    expect(askedNow()).toStrictEqual(["eu/0", "eu/1"]);
    expect((await upgrade(path, {}, cf)).status).toBe(101);
    expect(askedNow()).toStrictEqual(["eu/1"]);
    // Of another region nothing was learned.
    await upgrade(path, {}, { continent: "NA" });
    expect(askedNow()).toStrictEqual(["na/0"]);
  });

  it("[G3] remembers the gateway with space for longer than the full ones", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let firstNotFull = 8;
    const { upgrade, askedNow } = edge(({ name }) =>
      indexOf(name) < firstNotFull ? full() : taken(),
    );
    await upgrade(path);
    const found = askedNow().at(-1);
    firstNotFull = indexOf(found);
    vi.advanceTimersByTime(limits.poolFullMs);
    await upgrade(path);
    const asked = askedNow();
    // The first gateway and one between come first: they may have space again.
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(found).toBe(asked.at(-1));
  });

  it("[G3] asks a full gateway again after 5 seconds", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { upgrade, askedNow } = edge(({ name }) => (name === "any/0" ? full() : taken()));
    await upgrade(path);
    askedNow();
    vi.advanceTimersByTime(limits.poolFullMs - 1);
    await upgrade(path);
    expect(askedNow()).toStrictEqual(["any/1"]);
    vi.advanceTimersByTime(1);
    await upgrade(path);
    expect(askedNow()).toStrictEqual(["any/0", "any/1"]);
  });

  it("[G3] is sent to the next gateway when one is overloaded", async () => {
    const { upgrade, askedNow } = edge(({ name }) =>
      name === "any/0" ? Promise.reject(overloadedError()) : taken(),
    );
    expect((await upgrade(path)).status).toBe(101);
    expect(askedNow()).toStrictEqual(["any/0", "any/1"]);
  });

  it("[B1] is answered 503 with a time to come again when all that were asked are full", async () => {
    const { upgrade, askedNow } = edge(full);
    const response = await upgrade(path);
    expect(response.status).toBe(503);
    expect(response.headers.get(fullHeader)).toBeNull();
    const seconds = Number(response.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThanOrEqual(2);
    expect(seconds).toBeLessThanOrEqual(10);
    const asked = askedNow();
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.length).toBeLessThanOrEqual(limits.poolAttemptsMax);
  });

  it("[B1] is given any other refusal of its gateway as it is", async () => {
    const { upgrade, askedNow } = edge(
      () => new Response("too fast", { status: 503, headers: { "Retry-After": "1" } }),
    );
    const response = await upgrade(path);
    expect(response.headers.get("Retry-After")).toBe("1");
    expect(await answerOf(response)).toStrictEqual({ status: 503, body: "too fast" });
    expect(askedNow()).toStrictEqual(["any/0"]);
  });

  it("[A7] is answered 500 when its gateway fails, without a trace in the log, and the next one is sent elsewhere", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { upgrade, askedNow } = edge(({ name }) =>
      name === "any/0" ? Promise.reject(new TypeError("s3cr3t")) : taken(),
    );
    expect(await answerOf(await upgrade(path))).toStrictEqual({
      status: 500,
      body: "Internal Server Error",
    });
    const object = env.GATEWAYS.idFromName("any/0").toString();
    expect(log.mock.calls).toStrictEqual([[`upgrade failed: error=TypeError object=${object}`]]);
    expect((await upgrade(path)).status).toBe(101);
    expect(askedNow()).toStrictEqual(["any/0", "any/1"]);
  });

  it("[B4] is answered 503 after 10 seconds in all, however many gateways were asked", async () => {
    const timers = new OwnTimers("Date");
    const silence = Promise.withResolvers<void>();
    const { upgrade } = edge(async ({ name }) => {
      if (name !== "any/0") {
        silence.resolve();
        return new Promise(() => {});
      }
      vi.setSystemTime(Date.now() + 6_000);
      return full();
    });
    let answered = false;
    const asked = timers.of(() => upgrade(path));
    const pending = asked.then((response) => {
      answered = true;
      return response;
    });
    await silence.promise;
    await vi.advanceTimersByTimeAsync(3_999);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await pending).status).toBe(503);
    expect(timers.waiting).toBe(0);
  });
});

describe("a connection after 10 seconds without an answer", () => {
  it("[B4] is asked of no other gateway", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { upgrade, askedNow } = edge(() => {
      vi.setSystemTime(Date.now() + limits.objectAnswerMs);
      return full();
    });
    expect((await upgrade(path)).status).toBe(503);
    expect(askedNow()).toStrictEqual(["any/0"]);
  });
});

describe("a connection for one channel", () => {
  it("[G4] is sent to the channel's own gateways while its object is full, and to the object again afterwards", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("room/a");
    const room = new Map([[channel, 0]]);
    const { upgrade, askedNow } = edge(({ name }) => (room.get(name) === 0 ? full() : taken()));
    const to = `/channel/${encodeURIComponent(channel)}/websocket`;
    expect((await upgrade(to)).status).toBe(101);
    expect(askedNow()).toStrictEqual([`object of ${channel}`, `channel/${channel}/0`]);
    expect((await upgrade(to)).status).toBe(101);
    expect(askedNow()).toStrictEqual([`channel/${channel}/0`]);
    room.delete(channel);
    vi.advanceTimersByTime(limits.poolFullMs);
    expect((await upgrade(to)).status).toBe(101);
    expect(askedNow()).toStrictEqual([`object of ${channel}`]);
  });

  it("[G4] is sent to a gateway when the channel's object is overloaded", async () => {
    const channel = newChannel("");
    const { upgrade, askedNow } = edge(({ name }) =>
      name === channel ? Promise.reject(overloadedError()) : taken(),
    );
    expect((await upgrade(`/channel/${channel}/websocket`)).status).toBe(101);
    expect(askedNow()).toStrictEqual([`object of ${channel}`, `channel/${channel}/0`]);
  });

  it("[G4] comes back to the channel's object when that failed", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const channel = newChannel("");
    const { upgrade, askedNow } = edge(() => Promise.reject(new Error("reset")));
    for (let count = 0; count < 2; count++) {
      expect((await upgrade(`/channel/${channel}/websocket`)).status).toBe(500);
      expect(askedNow()).toStrictEqual([`object of ${channel}`]);
    }
  });

  it("[B1] is answered 503 when all are full, and no gateway is asked that the channel couldn't serve", async () => {
    const { upgrade, askedNow } = edge(full);
    for (let count = 0; count < 100; count++) {
      const response = await upgrade("/channel/news/websocket");
      expect(response.status).toBe(503);
      expect(response.headers.get(fullHeader)).toBeNull();
      const places = askedNow().map((name) => Number(name.split("/")[2] ?? -1));
      expect(Math.max(...places)).toBeLessThan(limits.relayGatewaysMax);
    }
  });
});
