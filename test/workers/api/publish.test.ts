import { env, evictDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { call, keptData, post, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";

const badRequest = { status: 200, body: '{"error":{"code":107,"message":"bad request"}}' };

async function detailOf(request: object): Promise<string | null> {
  const response = await post("/api/publish", JSON.stringify(request));
  expect(await response.text()).toBe(badRequest.body);
  return response.headers.get("X-Dormouse-Error-Detail");
}

describe("the data of a publication", () => {
  const untouched = [
    '{"b":1.50,"a":9007199254740993,"b":2,"é":"\\u00e9😀","x":"<&>","c":[ ]}',
    "  0.1e+1",
    '"a\\n\\/b"',
    "null",
    "true",
    "[]",
    "-0",
  ];

  it.each(untouched)("[W2] goes through untouched: %s", async (data) => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.frame(); // its own join
    const { epoch } = await publishText(channel, data);
    const push = `{"push":{"channel":"${channel}","pub":{"data":${data.trim()},"offset":1,"epoch":"${epoch}"}}}`;
    expect(await socket.line()).toBe(push);
    expect(await keptData(channel)).toStrictEqual([data.trim()]);
  });

  it("[W4] may be any bytes, which clients and backends that speak JSON have as base64", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.frame(); // its own join
    const kept: string[] = [];
    for (const bytes of ["no json", "\u00ff\u0000\n", "1 2"]) {
      const b64data = btoa(bytes);
      const { offset } = await publish(channel, null, { b64data });
      expect(await socket.line()).toContain(`"pub":{"data":"${b64data}","offset":${offset}`);
      kept.push(JSON.stringify(b64data));
    }
    expect(await keptData(channel)).toStrictEqual(kept);
  });

  it("[W11] may be absent where the namespace takes bytes, also of a map, and is kept", async () => {
    const channel = newChannel("bytes");
    const socket = await TestSocket.subscribe(channel, "ada");
    await call("publish", { channel });
    expect(await socket.line()).toContain(`"pub":{"data":"","offset":1`);
    socket.send({ id: 3, publish: { channel } });
    expect(await socket.line()).toContain(`"pub":{"data":"","info":`);
    expect(await socket.line()).toBe('{"id":3,"publish":{}}');
    const others = { channels: [channel, newChannel("room")] };
    expect((await call("broadcast", others)).body).toContain('"error":{"code":107');
    await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
    const kept = (await keptData(channel)).map((data) => data.slice(0, 2));
    expect(kept).toStrictEqual(['""', '""', '""']);
    const map = newChannel("bytemap");
    await call("map_publish", { channel: map, key: "k" });
    await evictDurableObject(env.CHANNELS.getByName(map), { webSockets: "hibernate" });
    expect((await call("map_read_state", { channel: map, limit: -1 })).body).toContain(
      '{"key":"k","data":"","offset":1',
    );
  });
});

describe("at the limits", () => {
  it.each<[string, number, (bytes: number) => object]>([
    ["data", limits.publicationBytesMax, (bytes) => ({ data: filler(bytes - 2) })],
    ["tags", limits.tagsBytesMax, (bytes) => ({ data: 1, tags: { t: filler(bytes - 8) } })],
    [
      "idempotency_key",
      limits.idempotencyKeyBytesMax,
      (bytes) => ({ data: 1, idempotency_key: filler(bytes) }),
    ],
    [
      "version_epoch",
      limits.versionEpochBytesMax,
      (bytes) => ({ data: 1, version: 1, version_epoch: filler(bytes) }),
    ],
  ])(
    "[B1][B2] %s of %d bytes is taken, and one byte more refused whole",
    async (name, max, make) => {
      const channel = newChannel("ring");
      expect((await call("publish", { channel, ...make(max) })).body).toContain('"offset":1');
      expect(await detailOf({ channel, ...make(max + 1) })).toBe(`${name} exceeds ${max} bytes`);
      expect((await call("history", { channel })).body).toContain('"offset":1');
    },
  );

  it("[B1] an answer that would be over the limit is error 106", async () => {
    const channel = newChannel("");
    const data = filler(limits.publicationBytesMax - 2);
    for (let count = 0; count < 9; count++) await publish(channel, data);
    expect((await call("history", { channel, limit: -1 })).body).toBe(
      '{"error":{"code":106,"message":"limit exceeded"}}',
    );
    expect((await call("history", { channel, limit: 1 })).body).toContain(data);
  });
});

describe("an idempotency key", () => {
  it("[I1] gives the first result again and publishes nothing", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.frame(); // its own join
    const first = await publish(channel, "first", { idempotency_key: "k" });
    expect(await publish(channel, "again", { idempotency_key: "k" })).toStrictEqual(first);
    expect((await publish(channel, "other", { idempotency_key: "K" })).offset).toBe(2);
    expect(await publish(channel, "again", { idempotency_key: "k" })).toStrictEqual(first);
    expect(await keptData(channel)).toStrictEqual(['"first"', '"other"']);
    expect(await socket.unread()).toStrictEqual([
      expect.stringContaining('"first"'),
      expect.stringContaining('"other"'),
    ]);
  });
});

describe("skip_history and tags", () => {
  it("[H8] deliver without keeping, and with the tags as they came", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.frame(); // its own join
    const tags = { constructor: "c", b: "é", a: "<&>" };
    expect((await call("publish", { channel, data: 1, skip_history: true, tags })).body).toBe(
      '{"result":{}}',
    );
    expect(await socket.line()).toBe(
      `{"push":{"channel":"${channel}","pub":{"data":1,"tags":{"constructor":"c","b":"é","a":"<&>"}}}}`,
    );
    await publish(channel, 2, { tags });
    expect(await socket.line()).toContain('"tags":{"constructor":"c","b":"é","a":"<&>"}');
    expect(await keptData(channel)).toStrictEqual(["2"]);
  });
});

/** Publishes data in the test's own bytes. */
async function publishText(channel: string, data: string): Promise<{ readonly epoch: string }> {
  const { body } = await call("publish", `{"channel":"${channel}","data":${data}}`);
  const [, epoch = ""] = /"epoch":"(\w+)"/.exec(body) ?? [];
  expect(body).toBe(`{"result":{"offset":1,"epoch":"${epoch}"}}`);
  return { epoch };
}

function filler(bytes: number): string {
  return "x".repeat(bytes);
}
