import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ownChannel } from "../../src/contract/own-channel.ts";
import { limits } from "../../src/limits.ts";
import type { MetricsObject } from "../../workers/objects/metrics-object.ts";
import { address, apiKeyHeader, call, publish } from "./api-request.ts";
import { configure } from "./configure.ts";
import { crashObject } from "./crash-object.ts";
import { token } from "./sign-token.ts";
import { newChannel } from "./new-channel.ts";
import { testConfig } from "./test-config.ts";
import { TestSocket } from "./test-socket.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
configure({ ...testConfig, console: { enabled: true } });
// The same in shorter times: test/core/metrics holds the reports and the lease to their real ones.
Object.assign(limits, {
  metricsReportMs: 300,
  metricsCollectMs: 100,
  metricsStoreMs: 300,
  liveTellMs: 100,
  liveReportMs: 100,
  liveCollectMs: 50,
  livePingMs: 200,
  liveLeaseMs: 1_000,
});

const { liveSilentMs } = limits;
const operator = { Origin: "https://dormouse.example.com" };

async function logIn(): Promise<{ readonly Cookie: string }> {
  const response = await exports.default.fetch(address("/console/login"), {
    method: "POST",
    body: JSON.stringify({ password }),
    headers: operator,
  });
  const [cookie = ""] = (response.headers.get("Set-Cookie") ?? "").split(";");
  return { Cookie: cookie };
}

async function live(headers: Record<string, string>): Promise<Response> {
  return exports.default.fetch(address("/console/live"), {
    headers: { ...operator, Upgrade: "websocket", ...headers },
  });
}

interface Refused {
  readonly object: string;
  readonly refused: string;
  readonly rule: string;
  readonly reason: string;
  readonly key?: string;
}

/** The data of a publication of the server's own channel. */
interface Told {
  readonly all?: { readonly counters: Readonly<Record<string, number>> };
  readonly changed?: { readonly counters: Readonly<Record<string, number>> };
  readonly refusals?: readonly Refused[];
}

/** An operator's page, which answers pings unless it is told not to. */
class Page {
  readonly #socket: TestSocket;
  answersPings = true;
  readonly told: Told[] = [];

  static async open(): Promise<Page> {
    const page = new Page(TestSocket.on(await live(await logIn())));
    const { connect } = await page.#socket.ask({ id: 1, connect: {} });
    if (connect?.subs === undefined) throw new Error("the connect was refused");
    void page.#listen();
    onTestFinished(() => page.close());
    return page;
  }

  constructor(socket: TestSocket) {
    this.#socket = socket;
  }

  get closed() {
    return this.#socket.closed;
  }

  close(): void {
    this.#socket.close();
  }

  /** Waits until the page was told something of which this is true. */
  async hears(isSo: (told: Told) => boolean): Promise<Told> {
    let found: Told | undefined;
    await vi.waitUntil(() => (found = this.told.find(isSo)) !== undefined, { timeout: 20_000 });
    return found ?? {};
  }

  async #listen(): Promise<void> {
    try {
      for (;;) {
        const message: Message = JSON.parse(await this.#socket.line());
        const data = message.push?.pub?.data;
        if (data !== undefined) this.told.push(data);
        else if (this.answersPings) this.#socket.send({});
      }
    } catch {
      // The socket was closed.
    }
  }
}

interface Message {
  readonly push?: { readonly pub?: { readonly data: Told } };
}

const collectors = Array.from({ length: limits.metricsCollectors }, (_, number) => String(number));

/** Something of each collecting object. */
function ofCollectors<Value>(read: (collector: MetricsObject) => Value): Promise<Value[]> {
  return Promise.all(
    collectors.map((name) => runInDurableObject(env.METRICS.getByName(name), read)),
  );
}

/** Waits until the collecting objects have nothing to do. @returns the calls that they have made to each other until then */
async function callsUntilIdle(): Promise<number> {
  await vi.waitUntil(async () => (await ofCollectors(({ isIdle }) => isIdle)).every(Boolean), {
    timeout: 20_000,
  });
  const all = await ofCollectors(({ callsMade }) => callsMade);
  return all.reduce((sum, calls) => sum + calls, 0);
}

/** The publications that were reported to the collecting objects. */
async function counted(): Promise<number> {
  return (await Promise.all(collectors.map((name) => env.METRICS.getByName(name).collected())))
    .flatMap(({ counters }) => counters)
    .filter(({ series }) => series === sent)
    .reduce((sum, { added }) => sum + added, 0);
}

/** Publishes, and waits until that was reported to a collecting object. */
async function publishAndReport(): Promise<void> {
  const before = await counted();
  await publish(newChannel("room"), 1);
  await vi.waitUntil(async () => (await counted()) > before, { timeout: 20_000 });
}

const sent = 'centrifugo_node_messages_sent_count{type="publication",channel_namespace="room"}';

function publications({ counters = {} }: { readonly counters?: Readonly<Record<string, number>> }) {
  return counters[sent] ?? 0;
}

/** Whether a publication tells a refusal of an object. */
function hasOf({ refusals = [] }: Told, object: string): boolean {
  return refusals.some((one) => one.object === object);
}

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

describe("the server's own channel", () => {
  it("[N7] tells a page everything once, and then what has changed, also after the others' sleep", async () => {
    await publish(newChannel("room"), 1);
    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    for (const sleeps of [false, true]) {
      if (sleeps)
        for (const name of collectors.slice(1))
          await evictDurableObject(env.METRICS.getByName(name));
      page.told.length = 0;
      for (let count = 0; count < 10; count++) await publish(newChannel("room"), count);
      await page.hears(({ changed = {} }) => publications(changed) > 0);
      expect(page.told.filter(({ all }) => all !== undefined)).toStrictEqual([]);
    }
  });

  it("[N7] tells everything again after the crash of the object that holds the pages", async () => {
    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    await crashObject(env.METRICS.getByName("0"));
    await page.closed;
    const next = await Page.open();
    await next.hears(({ all }) => all !== undefined);
    await publish(newChannel("room"), 1);
    const told = await next.hears(({ changed = {} }) => publications(changed) > 0);
    expect(told).toHaveProperty("changed");
  });

  it("[N7] tells refusals of objects and of the edge as they happen, and no secret", async () => {
    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    const channel = newChannel("closed");
    const client = await TestSocket.connect(channel, "ada");
    client.send({ id: 2, subscribe: { channel } });
    await page.hears((told) => hasOf(told, `channel:${channel}`));
    const key = { "X-API-Key": "a-wrong-key-of-32-characters-----" };
    await exports.default.fetch(address("/api/info"), { method: "POST", body: "{}", headers: key });
    const told = await page.hears((one) => hasOf(one, "edge"));
    expect(told.refusals).toContainEqual(
      expect.objectContaining({ object: "edge", refused: "api info", rule: "A7", code: 401 }),
    );
    expect(JSON.stringify(page.told)).not.toContain("a-wrong-key");
    client.close();
  });

  it("[N7] costs no call and no publication when nobody looks, and ends with the last page", async () => {
    await publishAndReport();
    const before = await callsUntilIdle();
    await publishAndReport();
    expect(await callsUntilIdle()).toBe(before);

    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    page.close();
    await page.closed;
    // The lease of the other objects ends by itself.
    const after = await callsUntilIdle();
    expect(after).toBeGreaterThan(before);
    await publishAndReport();
    expect(await callsUntilIdle()).toBe(after);
  });

  it("[N7] asks objects to report more often only while somebody looks", async () => {
    const collector = env.METRICS.getByName("1");
    const report = { node: "", counters: [], histograms: [], gauges: [] };
    await callsUntilIdle();
    expect(await collector.report(report)).toStrictEqual({});
    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    expect(await collector.report(report)).toStrictEqual({ nextInMs: limits.liveReportMs });
    page.close();
    await callsUntilIdle();
    expect(await collector.report(report)).toStrictEqual({});
  });

  it("[N7] leaves a page that doesn't answer its pings", async () => {
    onTestFinished(() => void Object.assign(limits, { liveSilentMs }));
    Object.assign(limits, { liveSilentMs: 1_000 });
    const page = await Page.open();
    page.answersPings = false;
    expect(await page.closed).toMatchObject({ code: 3012 });
  });

  it("[N7] leaves a page when its login ends", async () => {
    const stub = env.METRICS.getByName("0");
    const headers = { Upgrade: "websocket", "Dormouse-Login-Ends": String(Date.now() / 1_000 + 1) };
    const socket = TestSocket.on(await stub.fetch("https://object/live", { headers }));
    expect(await socket.closed).toMatchObject({ code: 3005 });
  });

  it("[N7] takes as many pages as are bounded, and no command but the connect", async () => {
    const headers = await logIn();
    const sockets = [];
    for (let opened = 0; opened < limits.livePagesMax; opened++)
      sockets.push(TestSocket.on(await live(headers)));
    expect((await live(headers)).status).toBe(503);
    const [first, second] = sockets;
    await first?.ask({ id: 1, connect: {} });
    expect(await first?.ask({ id: 2, publish: { channel: ownChannel, data: 1 } })).toMatchObject({
      error: { code: 103 },
    });
    first?.send({ id: 3, connect: {} });
    expect(await first?.closed).toMatchObject({ code: 3501 });
    second?.send({ id: 1, subscribe: { channel: ownChannel } });
    expect(await second?.closed).toMatchObject({ code: 3501 });
    for (const socket of sockets) socket.close();
  });

  it("[N2] [N3] [N7] hears nothing without a login, nor from another site's page", async () => {
    expect((await live({})).status).toBe(401);
    const other = { ...(await logIn()), Origin: "https://evil.example.com" };
    expect((await live(other)).status).toBe(403);
    expect((await live({ ...apiKeyHeader })).status).toBe(401);
  });
});

describe("whoever is no operator", () => {
  it("[N7] can't subscribe to the server's own channel, by a command, a token or the address", async () => {
    const all = { allow: ["sub", "pub", "prs", "hst"], match: "wildcard", channels: ["*"] };
    const claims = { sub: "eve", caps: [all], subs: { [ownChannel]: {} }, channels: [ownChannel] };
    const signed = await token(claims);
    const upgraded = await exports.default.fetch(address("/connection/websocket"), {
      headers: { Upgrade: "websocket" },
    });
    const socket = TestSocket.on(upgraded);
    // A token with a channel that can't exist doesn't admit at all.
    expect(await socket.ask({ id: 1, connect: { token: signed } })).toHaveProperty("error");
    socket.close();

    const client = TestSocket.on(
      await exports.default.fetch(address("/connection/websocket"), {
        headers: { Upgrade: "websocket" },
      }),
    );
    await client.ask({ id: 1, connect: { token: await token({ sub: "eve", caps: [all] }) } });
    const forChannel = await token({ sub: "eve", channel: ownChannel });
    const commands = [
      { id: 2, subscribe: { channel: ownChannel } },
      { id: 3, subscribe: { channel: ownChannel, token: forChannel } },
      { id: 4, publish: { channel: ownChannel, data: 1 } },
      { id: 5, history: { channel: ownChannel } },
      { id: 6, presence: { channel: ownChannel } },
      { id: 7, presence_stats: { channel: ownChannel } },
    ];
    for (const command of commands)
      expect({ command, ...(await client.ask(command)) }).toHaveProperty("error");
    client.close();
    const headers = { Upgrade: "websocket" };
    const path = `/channel/${encodeURIComponent(ownChannel)}/websocket`;
    expect((await exports.default.fetch(address(path), { headers })).status).toBe(400);
    const tail = `/console/live?channel=${encodeURIComponent(ownChannel)}`;
    const asked = { ...operator, ...(await logIn()), ...headers };
    expect((await exports.default.fetch(address(tail), { headers: asked })).status).toBe(400);
  });

  it("[N7] can't reach it by the API, and no pattern lists it", async () => {
    const page = await Page.open();
    await page.hears(({ all }) => all !== undefined);
    page.told.length = 0;
    const forged = { all: { counters: {} }, forged: true };
    const requests: readonly (readonly [string, object])[] = [
      ["publish", { channel: ownChannel, data: forged }],
      ["broadcast", { channels: [ownChannel], data: forged }],
      ["history", { channel: ownChannel }],
      ["history_remove", { channel: ownChannel }],
      ["presence", { channel: ownChannel }],
      ["presence_stats", { channel: ownChannel }],
      ["subscribe", { channel: ownChannel, user: "eve" }],
      ["unsubscribe", { channel: ownChannel, user: "eve" }],
      ["why", { channel: ownChannel, offset: 1, user: "eve" }],
      ["inspect", { channel: ownChannel }],
      ["inspect", { object: `channel:${ownChannel}` }],
      ["inspect", { object: "metrics:0" }],
    ];
    const made = vi.spyOn(env.CHANNELS, "getByName");
    for (const [method, request] of requests)
      expect(`${method}: ${(await call(method, request)).body}`).toContain('"error"');
    expect(made.mock.calls.flat()).not.toContain(ownChannel);
    made.mockRestore();
    for (const pattern of ["", "*", "\u0000*", "?live"])
      expect((await call("channels", { pattern })).body).not.toContain("live");
    expect(JSON.stringify(page.told)).not.toContain("forged");
  });
});
