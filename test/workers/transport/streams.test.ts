import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { gatewayName } from "../../../src/contract/object-names.ts";
import { address, call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { TestSocket } from "../support/test-socket.ts";
import { emulate, TestStream } from "../support/test-stream.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";

configure(openConfig);

/** One of the two kinds of endpoints. */
interface Endpoint {
  readonly name: string;
  /** The path before a transport's name. */
  readonly base: (channel: string) => string;
  /** The object that holds the streams' sockets. */
  readonly holder: (channel: string) => Parameters<typeof evictDurableObject>[0];
}

const endpoints: readonly Endpoint[] = [
  {
    name: "/channel/<name>",
    base: (channel) => `/channel/${encodeURIComponent(channel)}`,
    holder: (channel) => env.CHANNELS.getByName(channel),
  },
  {
    name: "/connection",
    base: () => "/connection",
    holder: () => env.GATEWAYS.getByName(gatewayName({ kind: "pool", region: "any", index: 0 })),
  },
];

/** The frame with which a client connects and subscribes at once. */
async function frameOf(channel: string, user = "ada"): Promise<string> {
  const connect = { id: 1, connect: { token: await token({ sub: user }) } };
  return [connect, { id: 2, subscribe: { channel } }].map((one) => JSON.stringify(one)).join("\n");
}

/** No client is present any more. */
async function freed(channel: string): Promise<void> {
  await expect
    .poll(async () => (await call("presence_stats", { channel })).body)
    .toBe(`{"result":{"num_clients":0,"num_users":0}}`);
}

describe.each(endpoints)("at $name", ({ base, holder }) => {
  it.each(["GET", "POST"])(
    "[T1] sse carries replies and pushes, each in an event of its own: %s",
    async (method) => {
      const channel = newChannel("room");
      const frame = await frameOf(channel);
      // A GET carries out nothing but the connect (rule A22).
      const [first = "", second = ""] = frame.split("\n");
      const stream = await (method === "GET"
        ? TestStream.open(`${base(channel)}/sse?cf_connect=${encodeURIComponent(first)}`)
        : TestStream.open(`${base(channel)}/sse`, { method, body: frame }));
      const { headers } = stream.response;
      expect(headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
      expect(headers.get("Cache-Control")).toBe(
        "private, no-cache, no-store, must-revalidate, max-age=0",
      );
      expect(headers.get("X-Accel-Buffering")).toBe("no");
      expect(await stream.upTo("\r\n")).toBe("\r\n");
      const { connect } = JSON.parse(await stream.event());
      expect(connect).toMatchObject({ ping: 25 });
      expect(connect).toHaveProperty("pong", true);
      if (method === "GET") await emulate(connect.session, connect.node, second);
      expect(JSON.parse(await stream.event())).toMatchObject({ id: 2, subscribe: {} });
      expect(JSON.parse(await stream.event())).toMatchObject({ push: { join: {} } });
      await publish(channel, { text: "a\nb" });
      expect(await stream.event()).toMatch(/"pub":\{"data":\{"text":"a\\nb"\}/);
      const { session, node } = connect;
      const asked = `{"id":3,"presence_stats":{"channel":"${channel}"}}`;
      expect((await emulate(session, node, asked)).status).toBe(204);
      expect(await stream.event()).toBe(
        `{"id":3,"presence_stats":{"num_clients":1,"num_users":1}}`,
      );
      await stream.cancel();
      await freed(channel);
    },
  );

  it("[T1] http_stream carries them on lines, with the token of a header", async () => {
    const channel = newChannel("room");
    const stream = await TestStream.open(`${base(channel)}/http_stream`, {
      method: "POST",
      headers: { Authorization: `Bearer ${await token({ sub: "ada" })}` },
      body: `{"id":1,"connect":{}}\n{"id":2,"subscribe":{"channel":"${channel}"}}`,
    });
    expect(stream.response.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(JSON.parse(await stream.line())).toMatchObject({ id: 1, connect: {} });
    expect(JSON.parse(await stream.line())).toMatchObject({ id: 2, subscribe: {} });
    expect(JSON.parse(await stream.line())).toMatchObject({ push: { join: {} } });
    const all = Array.from({ length: 5 }, (_, number) => publish(channel, { number }));
    await Promise.all(all);
    for (const _ of all) expect(JSON.parse(await stream.line())).toHaveProperty("push.pub");
    await stream.cancel();
    await freed(channel);
  });

  it("[T1][T4] http_stream carries Protobuf, each message after its length", async () => {
    const channel = newChannel("plain");
    const stream = await TestStream.open(`${base(channel)}/http_stream`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: framed(field(1, 1), field(4, field(1, await token({ sub: "ada" })))),
    });
    expect(stream.response.headers.get("Content-Type")).toBe("application/octet-stream");
    const reply = await message(stream);
    expect(reply.slice(0, 3)).toStrictEqual(new Uint8Array([0x08, 1, 0x2a]));
    const text = new TextDecoder().decode(reply);
    const session = textField(reply, 9);
    const node = textField(reply, 10);
    expect(text).toContain(node);
    const data = framed(field(1, 2), field(5, field(1, channel)));
    const body = joined(field(2, session), field(1, node), field(3, data));
    const posted = await TestStream.post("/emulation", body, "application/octet-stream");
    expect(posted.status).toBe(204);
    expect((await message(stream)).slice(0, 3)).toStrictEqual(new Uint8Array([0x08, 2, 0x32]));
    await stream.cancel();
    await freed(channel);
  });

  it.each(["GET", "POST"])("[T8] uni_sse carries pushes without a wrapper: %s", async (method) => {
    const channel = newChannel("plain");
    const request = { token: await token({ sub: "ada" }), subs: { [channel]: {} } };
    const stream = await (method === "GET"
      ? TestStream.open(
          `${base(channel)}/uni_sse?cf_connect=${encodeURIComponent(JSON.stringify(request))}`,
        )
      : TestStream.open(`${base(channel)}/uni_sse`, {
          method,
          body: JSON.stringify(request, undefined, 2),
        }));
    expect(await stream.upTo("\r\n")).toBe("\r\n");
    const { connect } = JSON.parse(await stream.event());
    expect(connect).toMatchObject({ subs: { [channel]: {} }, ping: 25 });
    expect(connect).not.toHaveProperty("pong");
    await publish(channel, 1);
    expect(await stream.event()).toBe(`{"channel":"${channel}","pub":{"data":1}}`);
    await stream.cancel();
    await freed(channel);
  });

  it("[T8] uni_websocket carries them in frames, and is closed like any socket", async () => {
    const channel = newChannel("plain");
    const to = address(`${base(channel)}/uni_websocket`);
    const socket = TestSocket.on(
      await exports.default.fetch(to, { headers: { Upgrade: "websocket" } }),
    );
    socket.send({ token: await token({ sub: "ada" }), subs: { [channel]: {} } });
    expect(JSON.parse(await socket.line())).toHaveProperty(["connect", "subs", channel]);
    await publish(channel, 1);
    expect(await socket.line()).toBe(`{"channel":"${channel}","pub":{"data":1}}`);
    socket.close();
    await freed(channel);
  });

  it("[T8] uni_websocket connects at once by the request in its address", async () => {
    const channel = newChannel("plain");
    const opened = async (request: object): Promise<TestSocket> => {
      const query = `?cf_connect=${encodeURIComponent(JSON.stringify(request))}`;
      const to = address(`${base(channel)}/uni_websocket${query}`);
      const headers = { Upgrade: "websocket" };
      return TestSocket.on(await exports.default.fetch(to, { headers }));
    };
    const request = { token: await token({ sub: "ada" }), subs: { [channel]: {} }, name: "ä🌍" };
    const socket = await opened(request);
    expect(JSON.parse(await socket.line())).toHaveProperty(["connect", "subs", channel]);
    await publish(channel, 1);
    expect(await socket.line()).toBe(`{"channel":"${channel}","pub":{"data":1}}`);
    socket.send({ token: "nothing" }); // What comes after the request is ignored.
    await publish(channel, 2);
    expect(await socket.line()).toBe(`{"channel":"${channel}","pub":{"data":2}}`);
    socket.close();
    await freed(channel);
    const refused = await opened({ token: "nothing" });
    expect(await refused.closed).toStrictEqual({ code: 3500, reason: "invalid token" });
    const name = "x".repeat(limits.hookHandoverLengthMax);
    await expect(opened({ ...request, name })).rejects.toThrow(/413/);
  });

  it.each(["ada", ""])(
    "[T10] uni_websocket is told its session, by which a backend may name it, and the disconnect: user %j",
    async (user) => {
      const channel = newChannel("plain");
      // Nobody anonymous may subscribe to the channel, which the address of one asks for.
      const place = user === "" ? "/connection" : base(channel);
      const to = address(`${place}/uni_websocket`);
      const open = async () =>
        TestSocket.on(await exports.default.fetch(to, { headers: { Upgrade: "websocket" } }));
      const [socket, other] = [await open(), await open()];
      socket.send({ token: await token({ sub: user }) });
      other.send({ token: await token({ sub: user }) });
      await other.line();
      const { connect } = JSON.parse(await socket.line());
      expect(connect.session).toBe(connect.client);
      const disconnect = { code: 4123, reason: "bye" };
      await call("disconnect", { user, session: connect.session, disconnect });
      expect(await socket.line()).toBe('{"disconnect":{"code":4123,"reason":"bye"}}');
      expect(await socket.closed).toMatchObject(disconnect);
      other.close();
      await freed(channel);
    },
  );

  it("[T8] uni_http_stream needs no body where the token is in the query", async () => {
    const channel = newChannel("plain");
    const subs = { subs: { [channel]: {} } };
    const stream = await TestStream.open(
      `${base(channel)}/uni_http_stream?token=${await token({ sub: "ada" })}`,
      { method: "POST", ...(base(channel) === "/connection" && { body: JSON.stringify(subs) }) },
    );
    expect(stream.response.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(JSON.parse(await stream.line())).toHaveProperty(["connect", "subs", channel]);
    await publish(channel, [1, { "a b": "c" }]);
    expect(await stream.line()).toBe(`{"channel":"${channel}","pub":{"data":[1,{"a b":"c"}]}}`);
    await stream.cancel();
    await freed(channel);
  });

  // Each of these waits for a second or two.
  it.concurrent.each<[string, () => Promise<string>, string]>([
    [
      "sse",
      async () => `{"id":1,"connect":{"token":"nothing"}}`,
      `{"push":{"disconnect":{"code":3500,"reason":"invalid token"}}}`,
    ],
    [
      "sse",
      async () => `{"id":1,"ping":{}}`,
      `{"push":{"disconnect":{"code":3501,"reason":"bad request"}}}`,
    ],
    [
      "uni_sse",
      async () => `{"token":"nothing"}`,
      `{"disconnect":{"code":3500,"reason":"invalid token"}}`,
    ],
    [
      "uni_sse",
      async () => `{"token":"${await token({ sub: "ada", exp: secondsFromNow(-1) })}"}`,
      `{"disconnect":{"code":3005,"reason":"connection expired"}}`,
    ],
    ["uni_sse", async () => "[", `{"disconnect":{"code":3501,"reason":"bad request"}}`],
  ])(
    "[T5][T8] a connect that fails ends the stream, but not at once: %s %#",
    async (transport, frame, push) => {
      const startedAtMs = Date.now();
      const stream = await TestStream.open(`${base(newChannel("room"))}/${transport}`, {
        method: "POST",
        body: await frame(),
      });
      expect(await stream.rest()).toBe(`\r\ndata: ${push}\n\n`);
      const passedMs = Date.now() - startedAtMs;
      expect(passedMs).toBeGreaterThanOrEqual(limits.refusedStreamDelayMs - 1);
    },
  );

  it.concurrent("[T5] an error in answer to connect isn't told at once either", async () => {
    const startedAtMs = Date.now();
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    const stream = await TestStream.open(`${base(newChannel("room"))}/http_stream`, {
      method: "POST",
      body: `{"id":1,"connect":{"token":"${expired}"}}`,
    });
    expect(await stream.line()).toBe(`{"id":1,"error":{"code":109,"message":"token expired"}}`);
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(limits.refusedStreamDelayMs - 1);
    await stream.cancel();
  });

  it("[T2] an end that the object has a word for is told by a push, at once", async () => {
    const channel = newChannel("room");
    const stream = await TestStream.open(`${base(channel)}/http_stream`, {
      method: "POST",
      body: await frameOf(channel),
    });
    const { connect } = JSON.parse(await stream.line());
    await stream.line();
    await stream.line();
    expect((await emulate(connect.session, connect.node, "{")).status).toBe(204);
    expect(await stream.rest()).toBe(
      `{"push":{"disconnect":{"code":3501,"reason":"bad request"}}}\n`,
    );
    await freed(channel);
    expect((await emulate(connect.session, connect.node, "{}")).status).toBe(204);
  });

  it("[T2] a stream whose object is gone just ends, so that its client reconnects", async () => {
    const channel = newChannel("room");
    const stream = await TestStream.open(`${base(channel)}/http_stream`, {
      method: "POST",
      body: await frameOf(channel),
    });
    for (let line = 0; line < 3; line++) await stream.line();
    await evictDurableObject(holder(channel), { webSockets: "close" });
    expect(await stream.rest()).toBe("");
  });

  it("[T4] what is posted for a session that there isn't is taken and forgotten", async () => {
    const channel = newChannel("room");
    const stream = await TestStream.open(`${base(channel)}/http_stream`, {
      method: "POST",
      body: await frameOf(channel),
    });
    const { node } = JSON.parse(await stream.line()).connect;
    for (const session of ["", "x", crypto.randomUUID(), "x".repeat(10_000)]) {
      expect((await emulate(session, node, `{"id":3,"unsubscribe":{}}`)).status).toBe(204);
    }
    await stream.cancel();
  });
});

/** A message with its length before it. */
function framed(...fields: readonly Uint8Array[]): Uint8Array {
  const bytes = joined(...fields);
  return joined(varint(bytes.byteLength), bytes);
}

/** One Protobuf field. */
function field(number: number, value: number | string | Uint8Array): Uint8Array {
  if (typeof value === "number") return joined(varint(number << 3), varint(value));
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return joined(varint((number << 3) | 2), varint(bytes.byteLength), bytes);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return new Uint8Array([...bytes, rest]);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.byteLength;
  }
  return bytes;
}

/** The next message of a Protobuf stream, without its length. */
async function message(stream: TestStream): Promise<Uint8Array> {
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const [byte = 0] = await stream.take(1);
    length |= (byte & 0x7f) << shift;
    if (byte <= 0x7f) return stream.take(length);
  }
}

/** A text field in the result of a reply, which its tag and length precede. */
function textField(reply: Uint8Array, number: number): string {
  const tag = (number << 3) | 2;
  for (let place = reply.length - 2; place > 0; place--) {
    const length = reply[place + 1] ?? 0;
    const text = new TextDecoder().decode(reply.slice(place + 2, place + 2 + length));
    if (reply[place] === tag && /^[-\w:/]{5,}$/.test(text)) return text;
  }
  throw new Error("no such field");
}
