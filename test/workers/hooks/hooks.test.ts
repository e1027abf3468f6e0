import { runDurableObjectAlarm } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { address, call, publish } from "../support/api-request.ts";
import { rewriteAttachments } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";
import { TestStream } from "../support/test-stream.ts";
import { variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

const secret = "hook-signing-secret-of-worker-tests";
const endpoint = "service:BACKEND";
const header = { http_headers: ["X-Answer"] };
const hook = { endpoint, timeout: "20s" };
configure({
  ...openConfig,
  client: {
    ...testConfig.client,
    proxy: {
      connect: { enabled: true, ...hook, ...header, http: { static_headers: { "X-Key": "k" } } },
      message: { enabled: true, ...hook },
    },
  },
  channel: {
    ...testConfig.channel,
    proxy: { subscribe: hook, publish: hook },
    namespaces: [
      {
        name: "asked",
        subscribe_proxy_enabled: true,
        publish_proxy_enabled: true,
        history_size: 10,
        history_ttl: "5m",
        force_recovery: true,
        presence: true,
        join_leave: true,
      },
      {
        name: "named",
        subscribe_proxy_enabled: true,
        history_size: 10,
        history_ttl: "5m",
        cursors: { enabled: true, audience: "named" },
      },
      {
        name: "hasty",
        publish_proxy_enabled: true,
        publish_proxy_name: "hasty",
        history_size: 1,
        history_ttl: "5m",
      },
    ],
  },
  proxies: [{ name: "hasty", endpoint, timeout: "200ms" }],
  rpc: { proxy: { ...hook, ...header }, without_namespace: { proxy_enabled: true } },
});
Object.assign(env, { HOOK_SIGNING_SECRET: secret });

/** A question that the backend was asked. */
interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What the backend was asked since the last call. */
async function takeAsked(): Promise<readonly Asked[]> {
  const response = await env.BACKEND.fetch("https://backend/asked");
  return await response.json<Asked[]>();
}

/** Waits until the backend holds a question. */
async function untilAsked(): Promise<readonly Asked[]> {
  return vi.waitFor(async () => {
    const asked = await takeAsked();
    expect(asked).not.toHaveLength(0);
    return asked;
  }, patience);
}

/** Whether a signature of Standard Webhooks is that of a text, with the test's secret. */
async function isSigned(signature: string, text: string): Promise<boolean> {
  const bytes = Uint8Array.from(atob(signature.replace("v1,", "")), (one) => one.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const encoder = new TextEncoder();
  const raw = encoder.encode(secret);
  const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, bytes, encoder.encode(text));
}

const saying = (answer: object) => ({ "X-Answer": JSON.stringify(answer) });
const admitted = (user: string) => saying({ body: { result: { user } } });
const internal = (id: number) =>
  `{"id":${id},"error":{"code":100,"message":"internal server error","temporary":true}}`;

/** The answer about a channel's audience. A gateway tells the channel's object a little later. */
const audienceOf = async (channel: string) => (await call("audience", { channel })).body;
const membersText = (users: readonly string[]) =>
  JSON.stringify({ result: { users, members: users.length } });

beforeEach(async () => {
  await takeAsked();
});

describe.each(variants)("with hooks, on $name", (variant) => {
  /** A connection that a backend has admitted. */
  async function connected(channel: string, user = "ada"): Promise<TestSocket> {
    const socket = await variant.open(channel, "", admitted(user));
    await variant.betweenSteps(channel);
    await socket.ask({ id: 1, connect: { name: "js" } });
    return socket;
  }

  it("[Q2] a backend admits a client, its subscribe, and changes what it publishes", async () => {
    const channel = newChannel("asked");
    const socket = await connected(channel);
    const [asked] = await takeAsked();
    expect(asked?.path).toBe("/connect");
    expect(JSON.parse(asked?.text ?? "")).toMatchObject({ transport: "websocket", name: "js" });
    await variant.betweenSteps(channel);
    const terms = { override: { presence: { value: true } }, info: { by: "backend" } };
    socket.send({ id: 2, subscribe: { channel, data: { answer: { body: { result: terms } } } } });
    expect(await socket.line()).toContain('"id":2,"subscribe":{"recoverable":true');
    await variant.betweenSteps(channel);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"by":"backend"}');
    const result = { data: { by: "backend" }, tags: { t: "v" } };
    socket.send({ id: 3, publish: { channel, data: { answer: { body: { result } } } } });
    expect(await socket.line()).toContain('"pub":{"data":{"by":"backend"}');
    expect(await socket.line()).toBe('{"id":3,"publish":{}}');
    await variant.betweenSteps(channel);
    const { body } = await call("history", { channel, limit: -1 });
    expect(body).toContain('"tags":{"t":"v"}');
    expect(body).toContain('"user":"ada"');
    expect((await takeAsked()).map(({ path }) => path)).toStrictEqual(["/subscribe", "/publish"]);
  });

  it("[CU29] a backend names members of an audience as it allows a subscribe", async () => {
    const channel = newChannel("named");
    const socket = await connected(channel);
    const answer = { body: { result: { members: ["joe"] } } };
    await socket.ask({ id: 2, subscribe: { channel, data: { answer } } });
    await variant.betweenSteps(channel);
    await expect.poll(() => audienceOf(channel)).toBe(membersText(["joe"]));
  });

  it("[Q2] a backend answers calls, and takes messages", async () => {
    const channel = newChannel("asked");
    const socket = await connected(channel);
    await takeAsked();
    await variant.betweenSteps(channel);
    const answer = { body: { result: { data: [1.5] } } };
    socket.send({ send: { data: { n: 1 } } }, { id: 2, rpc: { method: "m", data: { answer } } });
    // The header of the handshake goes with the call, and is the backend's answer here.
    expect(await socket.line()).toBe('{"id":2,"rpc":{}}');
    const asked = await untilAsked();
    const paths = [...asked, ...(asked.length < 2 ? await untilAsked() : [])].map(
      (one) => one.path,
    );
    expect(paths.toSorted()).toStrictEqual(["/message", "/rpc"]);
  });

  it("[Q5] a backend that says nothing within its time has refused", async () => {
    const channel = newChannel("hasty");
    const socket = await connected(channel);
    socket.send({ id: 2, publish: { channel, data: { answer: { wait: 1_000 } } } });
    expect(await socket.line()).toBe(internal(2));
    await variant.betweenSteps(channel);
    expect((await call("history", { channel, limit: -1 })).body).toContain('"publications":[]');
  });

  it("[Q4] a client is told when its object has lost what it asked about", async () => {
    const channel = newChannel("asked");
    const socket = await connected(channel);
    const holder = variant.place.holder(channel);
    await rewriteAttachments(holder, (attachment) => ({ ...attachment, asking: true }));
    await runDurableObjectAlarm(holder);
    expect(await socket.closed).toStrictEqual({ code: 3004, reason: "internal server error" });
  });

  it("[Q3] a later publish to the channel doesn't overtake one that is asked about", async () => {
    const channel = newChannel("asked");
    const socket = await connected(channel);
    await takeAsked();
    socket.send(
      {
        id: 2,
        publish: { channel, data: { answer: { wait: 100, body: { result: { data: 1 } } } } },
      },
      { id: 3, publish: { channel, data: { answer: { body: { result: { data: 2 } } } } } },
    );
    expect(await socket.line()).toBe('{"id":2,"publish":{}}');
    expect(await socket.line()).toBe('{"id":3,"publish":{}}');
    const { body } = await call("history", { channel, limit: -1 });
    expect([...body.matchAll(/"data":(\d)/g)].map(([, data]) => data)).toStrictEqual(["1", "2"]);
  });
});

describe("a question to a backend", () => {
  it("[Q8] sends the headers of the configuration, and a signature", async () => {
    const channel = newChannel("asked");
    const answer = { ...admitted("ada"), Cookie: "secret=1", "X-Key": "forged" };
    const socket = await TestSocket.open(channel, "", answer);
    await socket.ask({ id: 1, connect: {} });
    const [asked] = await takeAsked();
    const headers = asked?.headers ?? {};
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "dormouse-hook": "connect",
      "x-key": "k",
      "x-answer": answer["X-Answer"],
    });
    expect(headers["cookie"]).toBeUndefined();
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${asked?.text}`;
    expect(await isSigned(headers["webhook-signature"] ?? "", signed)).toBe(true);
    expect(await isSigned(headers["webhook-signature"] ?? "", `${signed} `)).toBe(false);
    expect(Math.abs(Date.now() / 1_000 - Number(headers["webhook-timestamp"]))).toBeLessThan(30);
  });

  it("[Q8] says of streams which transport they are", async () => {
    const stream = await TestStream.open("/connection/sse", {
      method: "POST",
      headers: admitted("ada"),
      body: JSON.stringify({ id: 1, connect: {} }),
    });
    expect(await stream.upTo("\n\n")).toContain('"connect"');
    const [asked] = await takeAsked();
    expect(JSON.parse(asked?.text ?? "")).toMatchObject({ transport: "sse", protocol: "json" });
  });

  it("[Q5] is answered within a number of bytes", async () => {
    const socket = await TestSocket.open(newChannel("asked"));
    const admit = { answer: { body: { result: { user: "ada" } } } };
    await socket.ask({ id: 1, connect: { data: admit } });
    const { byteLength } = new TextEncoder().encode('{"result":{"data":""}}');
    const most = limits.hookAnswerBytesMax - byteLength;
    // The client can't be sent so much at once, but the answer was read.
    expect((await socket.ask(sized(2, most))).error?.code).toBe(106);
    expect((await socket.ask(sized(3, most + 1))).error?.code).toBe(100);
  });

  it("[Q2] admits a poll, whose response no cache keeps", async () => {
    const channel = newChannel("");
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    const path = `/channel/${channel}/poll?offset=1&epoch=${epoch}`;
    const poll = (headers: HeadersInit) => exports.default.fetch(address(path), { headers });
    const response = await poll(admitted("ada"));
    expect(await response.text()).toContain('"data":2');
    expect(response.headers.get("Cache-Control")).toBe("private, no-store");
    const refused = saying({ body: { error: { code: 1_000, message: "no" } } });
    expect((await poll(refused)).status).toBe(503);
  });
});

/** A call whose answer has data of so many characters. */
function sized(id: number, size: number) {
  return { id, rpc: { method: "m", data: { answer: { size } } } };
}
