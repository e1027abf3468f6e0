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

  it("[W2] loses only the line breaks between tokens, which a frame can't hold", async () => {
    const channel = newChannel("ring");
    await publishText(channel, '{\r\n  "a": "x\\ny",\n  "b": [1,\n 2]\n}');
    const [kept = ""] = await keptData(channel);
    expect(kept).not.toMatch(/[\r\n]/);
    expect(JSON.parse(kept)).toStrictEqual({ a: "x\ny", b: [1, 2] });
  });

  it("[W1] may come as base64, which wins", async () => {
    const channel = newChannel("ring");
    const b64data = btoa('{"n":1.0}');
    await publish(channel, { ignored: true }, { b64data });
    expect(await keptData(channel)).toStrictEqual(['{"n":1.0}']);
    expect(await detailOf({ channel, b64data: "%%%" })).toContain("b64data");
    expect(await keptData(channel)).toHaveLength(1);
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

  it("[W4] is JSON for clients and backends also where base64 has it on several lines", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.frame(); // its own join
    await publish(channel, null, { b64data: btoa('{\r\n "a": "x\\ny",\n "b": 2}\n') });
    const line = '{ "a": "x\\ny", "b": 2}';
    expect(await socket.line()).toContain(`"pub":{"data":${line},"offset":1`);
    expect(await keptData(channel)).toStrictEqual([line]);
  });

  it("[W1] is required, and null is data", async () => {
    const channel = newChannel("ring");
    expect(await detailOf({ channel })).toBe("data is required");
    await publish(channel, null);
    expect(await keptData(channel)).toStrictEqual(["null"]);
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

  it("[W1] must be an object where the namespace says so", async () => {
    const channel = newChannel("objects");
    expect(await detailOf({ channel, data: [] })).toContain("JSON object");
    expect(await call("publish", { channel, data: {} })).toStrictEqual({
      status: 200,
      body: '{"result":{}}',
    });
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

  it("[B2] counts bytes and not characters", async () => {
    const channel = newChannel("ring");
    const data = "é".repeat(limits.publicationBytesMax / 2);
    expect(await detailOf({ channel, data })).toContain("data exceeds");
    expect((await publish(channel, data.slice(1))).offset).toBe(1);
  });

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

  it("[I1] holds without history too", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.subscribe(channel, "ada");
    await publish(channel, "first", { idempotency_key: "k" });
    expect((await call("publish", { channel, data: 2, idempotency_key: "k" })).body).toBe(
      '{"result":{}}',
    );
    expect(await socket.unread()).toStrictEqual([
      `{"push":{"channel":"${channel}","pub":{"data":"first"}}}`,
    ]);
  });

  it("[I1] belongs to its channel", async () => {
    const [one, other] = [newChannel("ring"), newChannel("ring")];
    await publish(one, 1, { idempotency_key: "k" });
    await publish(other, 2, { idempotency_key: "k" });
    expect(await keptData(other)).toStrictEqual(["2"]);
  });
});

describe("a version", () => {
  it("[H9] that isn't newer publishes nothing and gives the top position", async () => {
    const channel = newChannel("ring");
    await publish(channel, "five", { version: 5 });
    const top = await publish(channel, "unversioned");
    expect(await publish(channel, "same", { version: 5 })).toStrictEqual(top);
    expect(await publish(channel, "older", { version: 4 })).toStrictEqual(top);
    expect((await publish(channel, "newer", { version: 6 })).offset).toBe(3);
    expect(await keptData(channel)).toStrictEqual(['"five"', '"unversioned"', '"newer"']);
  });

  it("[H9] counts within its version epoch only", async () => {
    const channel = newChannel("ring");
    await publish(channel, 1, { version: 5, version_epoch: "a" });
    expect((await publish(channel, 2, { version: 1, version_epoch: "b" })).offset).toBe(2);
    expect((await publish(channel, 3, { version: 1, version_epoch: "b" })).offset).toBe(2);
  });

  it("[H9] is compared in all its 64 bits", async () => {
    const channel = newChannel("ring");
    const versioned = (version: string) =>
      call("publish", `{"channel":"${channel}","data":1,"version":${version}}`);
    expect((await versioned("18446744073709551614")).body).toContain('"offset":1');
    expect((await versioned("18446744073709551613")).body).toContain('"offset":1');
    expect((await versioned("18446744073709551615")).body).toContain('"offset":2');
    expect((await versioned("18446744073709551616")).status).toBe(400);
    expect((await versioned("1.0")).status).toBe(400);
    expect((await versioned("-1")).status).toBe(400);
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

  it("[W4] with a tag that isn't text do nothing", async () => {
    const channel = newChannel("ring");
    expect(await detailOf({ channel, data: 1, tags: { a: 1 } })).toContain("tags");
    expect(await keptData(channel)).toStrictEqual([]);
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
