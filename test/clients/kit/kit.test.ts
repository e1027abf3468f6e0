import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { ControlServer } from "../../../package/test/control-server.ts";
import { testLimits } from "../../../package/test/test-limits.ts";
import { kitConfig } from "./kit-config.ts";

/** The answer of the publish hook. */
const said = ({ data }: { readonly data?: unknown }) => ({ result: { data: { said: data } } });

let rt: TestDormouse;
beforeAll(async () => {
  rt = await startDormouse({ config: kitConfig, hooks: { onPublish: said } });
});
beforeEach(() => rt.reset());
afterAll(() => rt.stop());

const order = (number: number) => rt.publish("orders:ann", number);

/** How often a channel's object has started. */
async function startsOf(channel: string): Promise<number> {
  const objects = await rt.objects();
  return objects.find(({ kind, name }) => kind === "CHANNELS" && name === channel)?.starts ?? 0;
}

/** How often the gateways have started, all together. */
async function startsOfGateways(): Promise<number> {
  const gateways = (await rt.objects()).filter(({ kind }) => kind === "GATEWAYS");
  return gateways.reduce((sum, { starts }) => sum + starts, 0);
}

/** The publications that a channel keeps. */
async function kept(channel: string): Promise<unknown> {
  return (await rt.api("history", { channel, limit: 10 }))["publications"];
}

describe.each(["awake", "evicted"] as const)("a channel whose object is %s", (state) => {
  it("[TK2] [TK3] [TK4] loses nothing for a customer whose connection is cut", async () => {
    const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
    await order(1);
    await rt.cut(ann);
    await order(2);
    const before = await startsOf("orders:ann");
    if (state === "evicted") await rt.evict("orders:ann");
    await order(3);
    await expect(ann.received("orders:ann", 3)).resolves.toEqual([1, 2, 3]);
    expect(await startsOf("orders:ann")).toBe(state === "evicted" ? before + 1 : before);
    expect(await rt.published("orders:ann")).toEqual([1, 2, 3]);
  });
});

describe("the network", () => {
  it("[TK3] is cut for all clients, if none is named", async () => {
    const clients = await Promise.all(["ann", "bob"].map((user) => rt.client({ user })));
    const lost = clients.map(({ sdk }) => new Promise((lose) => sdk.once("connecting", lose)));
    await rt.cut();
    await Promise.all(lost);
    await Promise.all(clients.map(({ sdk }) => sdk.ready()));
    expect(clients.map(({ sdk }) => sdk.state)).toEqual(["connected", "connected"]);
  });

  it("[TK6] loses as many frames as it is told, also of a client that subscribes later", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "plain:1" });
    rt.lose(2, ann);
    for (const number of [1, 2, 3]) await rt.publish("plain:1", number);
    expect(await ann.received("plain:1", 1)).toEqual([3]);
  });

  it("[TK6] is late for one client, and keeps the order when it isn't any more", async () => {
    const [ann, bob] = [
      await rt.client({ user: "ann", subscribe: "plain:1" }),
      await rt.client({ user: "bob", subscribe: "plain:1" }),
    ];
    rt.late("1h", ann);
    await rt.publish("plain:1", 1);
    await bob.received("plain:1", 1);
    expect(await ann.received("plain:1")).toEqual([]);
    await expect(ann.received("plain:1", 1, 1)).rejects.toThrow(
      '0 of 1 publications of "plain:1" for ann have come, and 1 ms are over: []',
    );
    rt.late(50);
    await rt.cut(ann);
    const carol = await rt.client({ user: "carol", subscribe: "plain:1" });
    expect(carol.network.lateMs).toBe(50);
    rt.late(0, carol);
    rt.late(300, bob);
    await rt.publish("plain:1", 2);
    await carol.received("plain:1", 1);
    rt.late(0, bob);
    await rt.publish("plain:1", 3);
    expect(await carol.received("plain:1", 2)).toEqual([2, 3]);
    expect(await bob.received("plain:1", 3)).toEqual([1, 2, 3]);
  });
});

it("[TK5] a deploy keeps what is stored, and clients come back", async () => {
  const { url } = rt;
  const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
  await order(1);
  await rt.publish("orders:bob", 1);
  await rt.deploy();
  // Nothing has woken this object since; it is known nevertheless.
  await rt.evict("orders:bob");
  await order(2);
  expect(await ann.received("orders:ann", 2)).toEqual([1, 2]);
  expect(rt.url).toBe(url);
});

/** A socket whose messages leave so late that the clock could be ahead of them. */
class SlowSocket extends WebSocket {
  static noteOpen: () => void = () => {};

  constructor(url: string, protocols?: string) {
    super(url, protocols);
    this.addEventListener("open", () => SlowSocket.noteOpen());
  }

  override send(data: string): void {
    setTimeout(() => super.send(data), 50);
  }
}

describe("time", () => {
  it("[TK7] ends a history, also one that is advanced in parts and across a deploy", async () => {
    await order(1);
    const token = rt.token("bob", { expiresInSeconds: 60 });
    await rt.advance("2m");
    await rt.deploy();
    await expect(rt.client({ options: { token } })).rejects.toThrow("was disconnected");
    await rt.advance(120_000);
    expect(await kept("orders:ann")).toHaveLength(1);
    await rt.advance("2m");
    expect(await kept("orders:ann")).toEqual([]);
  });

  it("[TK7] lets clients connect and answer their pings meanwhile", async () => {
    const options = { websocket: SlowSocket };
    // Others may see the client in that channel, so that the server drops it if it doesn't answer.
    const claims = { subs: { "plain:2": { override: { presence: { value: true } } } } };
    const ann = await rt.client({ user: "ann", subscribe: "plain:1", token: { claims }, options });
    const connecting: number[] = [];
    ann.sdk.on("connecting", ({ code }) => connecting.push(code));
    await rt.advance("2m");
    await rt.publish("plain:1", 1);
    expect(await ann.received("plain:1", 1)).toEqual([1]);
    expect(connecting).toEqual([]);
    const opened = new Promise<void>((open) => (SlowSocket.noteOpen = open));
    await rt.cut(ann);
    await opened;
    await rt.advance("2m");
    await ann.sdk.ready();
    expect(connecting).toHaveLength(1);
  });

  it("[TK7] isn't advanced by more alarms than the bound says", async () => {
    // A thousand would take seconds.
    const limits: { advanceSteps: number } = testLimits;
    const bound = vi.spyOn(limits, "advanceSteps", "get").mockReturnValue(3);
    await rt.client({ user: "ann", subscribe: "plain:1" });
    await expect(rt.advance("10m")).rejects.toThrow(
      /^advance: alarms have rung 3 times, and \d+ ms remain/,
    );
    bound.mockRestore();
  });

  it("[TK7] ends a connection whose token has ended, and the client brings a new one", async () => {
    const token = { expiresInSeconds: 60 };
    const ann = await rt.client({ user: "ann", subscribe: "plain:1", token });
    const lost = new Promise((lose) => ann.sdk.once("connecting", lose));
    // The new token, which may come while the clock is being moved, lasts longer than that.
    await rt.advance("90s");
    expect(await lost).toMatchObject({ code: 3005 });
    await ann.sdk.ready();
  });
});

describe("sockets", () => {
  it("[TK4] stay open when their object is evicted, also after a deploy", async () => {
    const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
    const left: number[] = [];
    ann.sdk.on("connecting", ({ code }) => left.push(code));
    await order(1);
    const before = await startsOfGateways();
    await rt.evict("orders:ann");
    await order(2);
    expect(await ann.received("orders:ann", 2)).toEqual([1, 2]);
    expect(await startsOfGateways()).toBe(before + 1);
    expect(left).toEqual([]);
    await rt.deploy();
    await ann.sdk.ready();
    await order(3);
    const leftBefore = left.length;
    await rt.evict("orders:ann");
    await order(4);
    expect(await ann.received("orders:ann", 4)).toEqual([1, 2, 3, 4]);
    expect(left).toHaveLength(leftBefore);
  });
});

const done = (result: object = {}) => ({ status: 200, result });

describe("control calls", () => {
  let control: ControlServer;
  beforeAll(async () => {
    control = await ControlServer.start(rt);
  });
  afterAll(() => control.close());

  async function call(name: string, fields: object | string = {}, request: RequestInit = {}) {
    const body = typeof fields === "string" ? fields : JSON.stringify(fields);
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${control.address}/${name}`, {
      method: "POST",
      headers,
      body,
      ...request,
    });
    const { result, error }: { result?: object; error?: string } = await response.json();
    return { status: response.status, ...(result && { result }), ...(error && { error }) };
  }
  it("[TK11] do what the methods of their names do", async () => {
    const channel = "orders:ann";
    expect(await call("client", { user: "ann", subscribe: channel })).toEqual(
      done({ client: "client-1" }),
    );
    const client = "client-1";
    expect(await call("publish", { channel, data: 1 })).toMatchObject(done({ offset: 1 }));
    expect(await call("cut", { client })).toEqual(done());
    expect(await call("evict", { channel })).toEqual(done());
    expect(await call("late", { client, duration: 1 })).toEqual(done());
    expect(await call("lose", { client, frames: 0 })).toEqual(done());
    expect(await call("publish", { channel, data: 2 })).toMatchObject(done({ offset: 2 }));
    expect(await call("received", { client, channel, count: 2 })).toEqual(done({ data: [1, 2] }));
    expect(await call("published", { channel })).toEqual(done({ data: [1, 2] }));
    expect(await call("deploy")).toEqual(done());
    expect(await call("advance", { duration: "10m" })).toEqual(done());
    expect(await call("api", { method: "history", params: { channel, limit: 1 } })).toMatchObject(
      done({ publications: [] }),
    );
    for (const [name, fields] of [
      ["token", { user: "ann", expires_in_seconds: 60, claims: { info: 1 } }],
      ["subscription_token", { user: "ann", channel: "closed:1" }],
    ] as const)
      expect(await call(name, fields)).toMatchObject(done({ token: expect.stringMatching(/^ey/) }));
    const { result } = await call("subscription_token", { user: "ann", channel: "closed:1" });
    expect(await call("subscribe", { client, channel: "closed:1", ...result })).toEqual(done());
    expect(await call("hook", { hook: "onPublish", answer: { result: {} } })).toEqual(done());
    expect(await call("asked", { hook: "publish" })).toEqual(done({ questions: [] }));
    expect(await call("objects")).toMatchObject(done({ objects: expect.arrayContaining([]) }));
    rt.hooks.onPublish = said;
    expect(await call("reset")).toEqual(done());
    expect(await call("cut", { client })).toMatchObject({ status: 400 });
  });

  it.each<readonly [string, object | string, RequestInit, number, string]>([
    ["nothing", {}, {}, 404, "there is no call; the calls are publish, api, client"],
    ["publish", {}, { method: "PUT" }, 405, "publish: calls are made with POST"],
    ["publish", {}, { headers: { "Content-Type": "text/plain" } }, 415, "must be application/json"],
    [
      "publish",
      " ".repeat((8 << 20) + 1),
      {},
      413,
      "publish: the body has more than 8388608 bytes",
    ],
    ["publish", "{", {}, 400, "publish: the body is no JSON"],
    ["publish", [], {}, 400, "publish: the body must be a JSON object"],
    ["publish", { data: 1 }, {}, 400, "publish: channel is missing"],
    ["publish", { channel: 1, data: 1 }, {}, 400, "publish: channel must be a text"],
    ["publish", { channel: "a", data: 1, dat: 1 }, {}, 400, "dat"],
    ["received", { client: "nobody", channel: "a" }, {}, 400, 'there is no client "nobody"'],
    ["advance", { duration: true }, {}, 400, "duration must be a number of ms, or a text"],
    ["late", { duration: "1000h" }, {}, 400, "late: the duration must be at most 2147483647 ms"],
    [
      "advance",
      { duration: 1e12 },
      {},
      400,
      "advance: the duration must be at most 630720000000 ms",
    ],
    ["late", { duration: 2_147_483_648 }, {}, 400, "late: the duration must be at most"],
    ["hook", { hook: "onRpc", answer: {} }, {}, 400, "start the server with --hook onRpc"],
    ["hook", { hook: "onNothing", answer: {} }, {}, 400, "onNothing is no hook"],
  ])("[TK11] name what is wrong: %s", async (name, fields, request, status, error) => {
    expect(await call(name, fields, request)).toEqual({
      status,
      error: expect.stringContaining(error),
    });
  });

  it.each([
    [{ host: "attacker.example:80" }, "Host"],
    [{ host: "127.0.0.1.attacker.example" }, "Host"],
    [{ host: "localhost:1" }, "Host"],
    [{ origin: "https://attacker.example" }, "Origin"],
    [{ origin: "null" }, "Origin"],
  ])("[TK11] aren't taken from a page that has another name: %o", async (headers, name) => {
    const { port } = new URL(control.address);
    const sent = { host: `localhost:${port}`, "content-type": "application/json", ...headers };
    const request = httpRequest(`${control.address}/published`, { method: "POST", headers: sent });
    const answered: Promise<IncomingMessage[]> = once(request, "response");
    request.end('{"channel":"orders:ann"}');
    const [response] = await answered;
    expect(response?.statusCode).toBe(403);
    const text = Buffer.concat((await response?.toArray()) ?? []).toString();
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining(`the header ${name}`) });
  });

  it("[TK12] the call stop ends the server", async () => {
    expect(await call("stop")).toEqual(done());
    await control.stopped;
  });
});

describe("hooks", () => {
  it("[TK8] are answered by functions, which a test may exchange, and recorded", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "chat:1" });
    await ann.sdk.publish("chat:1", "hello");
    expect(await ann.received("chat:1", 1)).toEqual([{ said: "hello" }]);
    expect(rt.asked("publish")).toMatchObject([{ question: { user: "ann", data: "hello" } }]);
    expect(await rt.published("chat:1")).toEqual([{ said: "hello" }]);

    const before = rt.hooks.onPublish;
    rt.hooks.onPublish = () => ({ error: { code: 1000, message: "too long" } });
    await expect(ann.sdk.publish("chat:1", "hello")).rejects.toMatchObject({ code: 1000 });
    rt.hooks.onPublish = () => {
      throw new Error("out of order");
    };
    await expect(ann.sdk.publish("chat:1", "hello")).rejects.toMatchObject({ code: 100 });
    if (before !== undefined) rt.hooks.onPublish = before;
    expect(rt.asked()).toHaveLength(3);
  });
});

it("[TK9] after a reset nothing of the test before is left", async () => {
  const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
  await order(1);
  rt.late("1h");
  await rt.reset();
  expect(ann.sdk.state).toBe("disconnected");
  expect(await rt.published("orders:ann")).toEqual([]);
  expect(await kept("orders:ann")).toEqual([]);
  expect(rt.asked()).toEqual([]);
  await rt.client({ user: "ann" });
  await expect(rt.cut(ann)).rejects.toThrow("cut: this is no client of the server, or no longer");
});

describe("[TK10] what can't be done is named", () => {
  it("by a client", async () => {
    await expect(rt.client({ user: "ann", subscribe: "closed:1" })).rejects.toThrow(
      'ann can\'t subscribe to "closed:1": 103 permission denied',
    );
    const channel = "closed:1";
    const token = rt.subscriptionToken("ann", channel);
    const ann = await rt.client({ user: "ann", subscribe: { channel, token } });
    await expect(ann.received("orders:bob", 1)).rejects.toThrow(
      'ann isn\'t subscribed to "orders:bob"; its channels: closed:1',
    );
    await expect(ann.received(channel, 1.5)).rejects.toThrow("received: the number must be");
  });

  it("by the server", async () => {
    await order(1);
    await expect(rt.evict("orders:bob")).rejects.toThrow(
      'evict: nobody has used the channel "orders:bob"; those with an object: orders:ann',
    );
    await expect(rt.advance("soon")).rejects.toThrow("advance: the duration must be");
    await expect(rt.advance(-1)).rejects.toThrow("advance: the duration must be");
    expect(() => rt.late("yesterday")).toThrow("late: the duration must be");
    expect(() => rt.lose(-1)).toThrow("lose: the number must be");
    await expect(rt.publish("absent:1", 1)).rejects.toThrow("publish: 102 unknown channel");
  });
});
