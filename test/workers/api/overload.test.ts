import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ChannelAnswers } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { answerOf, call, fetchWith, keptData, post, postWith } from "../support/api-request.ts";
import { HeldTurns } from "../support/held-turns.ts";
import { newChannel } from "../support/new-channel.ts";
import { OwnTimers } from "../support/own-timers.ts";
import { upgrade, TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { overloadedError, watchedChannels } from "../support/watched-channels.ts";
import { watchedUpgrades } from "../support/watched-upgrades.ts";

const tooMany = '{"error":{"code":111,"message":"too many requests"}}';
const internal = '{"error":{"code":100,"message":"internal server error"}}';

/** A namespace in which the platform fails for some channels, and works for the others. */
function failing(channels: readonly string[], fail: () => Promise<ChannelAnswers>) {
  return watchedChannels(({ channel, proceed }) =>
    channels.includes(channel) ? fail() : proceed(),
  );
}

const overloaded = () => Promise.reject<ChannelAnswers>(overloadedError());

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("an object that the platform calls overloaded", () => {
  it.each<[string, (channel: string) => object]>([
    ["publish", (channel) => ({ channel, data: 1 })],
    ["history", (channel) => ({ channel })],
    ["broadcast", (channel) => ({ channels: [channel], data: 1 })],
    ["batch", (channel) => ({ commands: [{ publish: { channel, data: 1 } }] })],
  ])("[B1] is told as 503, with a time to come again: %s", async (method, make) => {
    const channel = newChannel("ring");
    const CHANNELS = failing([channel], overloaded);
    const body = JSON.stringify(make(channel));
    const response = await postWith({ CHANNELS }, `/api/${method}`, body);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("nothing was done");
    expect(await answerOf(response)).toStrictEqual({ status: 503, body: tooMany });
    const mode = { "X-Centrifugo-Error-Mode": "transport" };
    const transport = await postWith({ CHANNELS }, `/api/${method}`, body, mode);
    expect(await answerOf(transport)).toStrictEqual({
      status: 503,
      body: '{"code":111,"message":"too many requests"}',
    });
  });

  it("[B1] is status 503 in the legacy form too, in its own lines", async () => {
    const channel = newChannel("ring");
    const line = JSON.stringify({ id: 3, method: "publish", params: { channel, data: 1 } });
    const response = await postWith({ CHANNELS: failing([channel], overloaded) }, "/api", line);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(await answerOf(response)).toStrictEqual({
      status: 503,
      body: `{"id":3,${tooMany.slice(1)}\n`,
    });
  });
});

describe("an object that doesn't answer", () => {
  it("[B4] has 10 seconds, and then the status is 503", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const channel = newChannel("ring");
    const asked = Promise.withResolvers<void>();
    const CHANNELS = failing([channel], () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const body = JSON.stringify({ channel, data: 1 });
    let answered = false;
    const pending = postWith({ CHANNELS }, "/api/publish", body).then((response) => {
      answered = true;
      return response;
    });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(limits.objectAnswerMs - 1);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await pending;
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("the outcome is unknown");
    expect(await answerOf(response)).toStrictEqual({ status: 503, body: internal });
  });

  it("[B4] leaves no timer behind when it does answer", async () => {
    const timers = new OwnTimers();
    const body = JSON.stringify({ channel: newChannel("ring"), data: 1 });
    expect((await timers.of(() => postWith({}, "/api/publish", body))).status).toBe(200);
    expect(timers.waiting).toBe(0);
  });
});

describe("an object that fails", () => {
  it("[A7] is told as error 100, and logged without anything of the request", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const channel = newChannel("ring");
    const CHANNELS = failing([channel], () => Promise.reject(new TypeError(`s3cr3t ${channel}`)));
    const body = JSON.stringify({ channel, data: "s3cr3t" });
    const response = await postWith({ CHANNELS }, "/api/publish", body);
    expect(await answerOf(response)).toStrictEqual({ status: 200, body: internal });
    expect(log.mock.calls).toStrictEqual([
      [
        `call to a channel failed: method=publish error=TypeError object=${env.CHANNELS.idFromName(channel).toString()}`,
      ],
    ]);
  });
});

describe("an upgrade to an overloaded object", () => {
  it("[B1] is answered 503 with a time to come again, when the channel's gateways are overloaded too", async () => {
    const CHANNELS = watchedUpgrades(env.CHANNELS, () => Promise.reject(overloadedError()));
    const GATEWAYS = watchedUpgrades(env.GATEWAYS, () => Promise.reject(overloadedError()));
    const response = await fetchWith({ CHANNELS, GATEWAYS }, upgradeRequest());
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toMatch(/^(?:[2-9]|10)$/);
  });

  it("[B4] that is silent is answered 503 after 10 seconds", async () => {
    const timers = new OwnTimers();
    const asked = Promise.withResolvers<void>();
    const silent = () => {
      asked.resolve();
      return new Promise<Response>(() => {});
    };
    const CHANNELS = new Proxy(env.CHANNELS, { get: () => () => ({ fetch: silent }) });
    let answered = false;
    const upgrading = timers.of(() => fetchWith({ CHANNELS }, upgradeRequest()));
    const pending = upgrading.then((response) => {
      answered = true;
      return response;
    });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(limits.objectAnswerMs - 1);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await pending;
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(timers.waiting).toBe(0);
  });
});

function upgradeRequest(): Request {
  return new Request("https://dormouse.example.com/channel/a/websocket", {
    headers: { Upgrade: "websocket" },
  });
}

describe("an object with a backlog of 64 MiB", () => {
  it("[B3] refuses publishing, to backend and client, and nothing else; and takes up again", async () => {
    const channel = newChannel("room");
    const publisher = await TestSocket.subscribe(channel, "publisher");
    const { readers } = await silentReaders(channel, 132);
    // The clock stands still, or readers that don't read would be cut.
    vi.useFakeTimers({ toFake: ["Date"] });
    // Each reader is within its own queue.
    const data = "x".repeat(limits.publicationBytesMax / 2);
    const turns = new HeldTurns();
    expect((await call("publish", { channel, data })).status).toBe(200);
    // Until all have been sent it. The answer may be there before the first of them.
    await turns.until(publisher.lineWith(data));
    while (turns.waiting > 0) await turns.next();
    turns.release();
    const response = await post("/api/publish", JSON.stringify({ channel, data: "refused" }));
    expect(response.headers.get("Retry-After")).toBe("1");
    expect(await answerOf(response)).toStrictEqual({ status: 503, body: tooMany });
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":133');
    expect(await publisher.ask({ id: 3, publish: { channel, data: "refused" } })).toStrictEqual({
      id: 3,
      error: { code: 111, message: "too many requests", temporary: true },
    });
    // Nor is a client sent a large reply; a small one it is.
    publisher.send({ id: 4, history: { channel, limit: 1 } }, { id: 5, history: { channel } });
    expect(await publisher.next()).toMatchObject({ id: 4, error: { code: 111 } });
    expect(await publisher.next()).toMatchObject({ id: 5, history: { offset: 1 } });
    expect(await keptData(channel)).toHaveLength(1);
    await Promise.all(readers.map(takeOne));
    expect((await call("publish", { channel, data: "taken" })).status).toBe(200);
    vi.useRealTimers();
  });

  it("[B27] cuts those that don't read after a quarter of a second, and goes on", async () => {
    const channel = newChannel("room");
    const reader = await TestSocket.subscribe(channel, "reader");
    const { readers } = await silentReaders(channel, 132);
    vi.useFakeTimers({ toFake: ["Date"] });
    const turns = new HeldTurns();
    const data = "x".repeat(limits.publicationBytesMax / 2);
    expect((await call("publish", { channel, data })).status).toBe(200);
    await turns.until(reader.lineWith(data));
    while (turns.waiting > 0) await turns.next();
    turns.release();
    expect((await call("publish", { channel, data: "refused" })).status).toBe(503);
    vi.setSystemTime(Date.now() + limits.stalledMs);
    expect((await call("publish", { channel, data: "told" })).status).toBe(200);
    vi.useRealTimers();
    expect(await reader.lineWith('"told"')).toContain('"pub"');
    const closed = readers.map(codeOf);
    const codes = await Promise.race(closed);
    expect(codes).toBe(3008);
  });
});

/** Accepts a socket and waits for its close. */
function codeOf(reader: WebSocket): Promise<number> {
  const closed = new Promise<number>((resolve) => {
    reader.addEventListener("close", ({ code }) => resolve(code), { once: true });
  });
  reader.accept();
  return closed;
}

/** Accepts a socket and waits for its first frame. */
async function takeOne(reader: WebSocket): Promise<void> {
  const taken = new Promise<void>((resolve) => {
    reader.addEventListener("message", () => resolve(), { once: true });
  });
  reader.accept();
  await taken;
}

/** Subscribers whose end takes nothing: sockets that the test never accepted, with a session put into their attachment. */
async function silentReaders(channel: string, count: number) {
  const readers: WebSocket[] = [];
  for (let index = 0; index < count; index++) {
    const { webSocket } = await upgrade(channel, `?token=${await token({ sub: "reader" })}`);
    if (webSocket !== null) readers.push(webSocket);
  }
  const stub = env.CHANNELS.getByName(channel);
  await runInDurableObject(stub, (_, state) => {
    for (const socket of state.getWebSockets()) {
      const attachment = socket.deserializeAttachment();
      if (attachment.phase !== "new") continue;
      const subscription = { channel, expireAtSeconds: 0, present: true };
      socket.serializeAttachment({ ...attachment, phase: "connected", subscription });
    }
  });
  await evictDurableObject(stub, { webSockets: "hibernate" });
  return { readers };
}
