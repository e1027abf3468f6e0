import { testSecrets } from "../support/test-config.ts";
import { describe, expect, it, vi } from "vitest";
import { call, keptData, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";

const notAvailable = { status: 200, body: '{"error":{"code":108,"message":"not available"}}' };
const badRequest = { status: 200, body: '{"error":{"code":107,"message":"bad request"}}' };
const unknownChannel = { status: 200, body: '{"error":{"code":102,"message":"unknown channel"}}' };

describe("every method", () => {
  it.each(["publish", "history", "history_remove", "presence", "presence_stats"])(
    "[W1] answers 102 to a namespace that isn't configured and 107 to a bad name: %s",
    async (method) => {
      const data = 1;
      expect(await call(method, { channel: "no-such:a", data })).toStrictEqual(unknownChannel);
      expect(await call(method, { channel: "", data })).toStrictEqual(badRequest);
      expect(await call(method, { data })).toStrictEqual(badRequest);
      expect(await call(method, { channel: "é", data })).toStrictEqual(badRequest);
      expect(await call(method, { channel: "a".repeat(256), data })).toStrictEqual(badRequest);
      expect(await call(method, { channel: "\ud800", data })).toStrictEqual(badRequest);
    },
  );

  it("[W1] ignores fields that it doesn't know", async () => {
    const channel = newChannel("ring");
    const more = { channel, label_filter: {}, all_users: true, data: 1 };
    expect((await call("publish", more)).body).toContain('"offset":1');
    expect((await call("history", more)).body).toContain('"offset":1');
  });
});

describe("publish", () => {
  it("[O1] numbers publications from 1, without a hole, and tells the epoch", async () => {
    const channel = newChannel("ring");
    const { status, body } = await call("publish", { channel, data: {} });
    expect(status).toBe(200);
    expect(body).toMatch(/^\{"result":\{"offset":1,"epoch":"[A-Za-z]{8}"\}\}$/);
    expect((await call("publish", { channel, data: {} })).body).toBe(body.replace(":1,", ":2,"));
    expect((await call("publish", { channel, data: {} })).body).toBe(body.replace(":1,", ":3,"));
  });

  it("[W1] tells no position where there is no history", async () => {
    expect(await call("publish", { channel: newChannel("plain"), data: {} })).toStrictEqual({
      status: 200,
      body: '{"result":{}}',
    });
  });
});

describe("history", () => {
  it("[W1] answers the position alone when no limit is given, also before the first publication", async () => {
    const channel = newChannel("ring");
    const empty = await call("history", { channel });
    expect(empty.status).toBe(200);
    expect(empty.body).toMatch(
      /^\{"result":\{"publications":\[\],"epoch":"[A-Za-z]{8}","offset":0\}\}$/,
    );
    const { epoch } = await publish(channel, 1);
    expect((await call("history", { channel, limit: 0 })).body).toBe(
      `{"result":{"publications":[],"epoch":"${epoch}","offset":1}}`,
    );
  });

  it("[H2][H3] reads what the ring keeps, from either end, exclusive of since, to the byte", async () => {
    const channel = newChannel("ring");
    for (const data of [1, 2, 3, 4]) await publish(channel, data, { tags: { n: String(data) } });
    const { epoch } = await publish(channel, 5);
    const read = async (more: object) => (await call("history", { channel, ...more })).body;
    const listed = (...offsets: number[]) =>
      `{"result":{"publications":[${offsets.map(keptEntry).join(",")}],"epoch":"${epoch}","offset":5}}`;
    expect(await read({ limit: -1 })).toBe(listed(3, 4, 5));
    expect(await read({ limit: -1, reverse: true })).toBe(listed(5, 4, 3));
    expect(await read({ limit: 2 })).toBe(listed(3, 4));
    expect(await read({ limit: 1, reverse: true })).toBe(listed(5));
    expect(await read({ limit: -1, since: { offset: 3, epoch } })).toBe(listed(4, 5));
    expect(await read({ limit: -1, since: { offset: 5, epoch }, reverse: true })).toBe(
      listed(4, 3),
    );
    expect(await read({ limit: -1, since: { offset: 5, epoch } })).toBe(listed());
    expect(await read({ limit: -1, since: { offset: 4 } })).toBe(listed(5));
  });

  it("[R1] answers 112 to another epoch", async () => {
    const channel = newChannel("ring");
    await publish(channel, 1);
    expect(await call("history", { channel, since: { offset: 1, epoch: "other" } })).toStrictEqual({
      status: 200,
      body: '{"error":{"code":112,"message":"unrecoverable position"}}',
    });
  });

  it("[W1] answers 107 to a question that can't be meant, and 108 without history", async () => {
    const channel = newChannel("ring");
    expect(await call("history", { channel, limit: -2 })).toStrictEqual(badRequest);
    expect(
      await call("history", { channel, limit: 1, since: { offset: 0 }, reverse: true }),
    ).toStrictEqual(badRequest);
    expect(await call("history", { channel: newChannel("plain") })).toStrictEqual(notAvailable);
  });
});

describe("history_remove", () => {
  it("[H10] deletes the publications and keeps epoch, top offset and version", async () => {
    const channel = newChannel("ring");
    const { epoch } = await publish(channel, 1, { version: 7 });
    expect(await call("history_remove", { channel })).toStrictEqual({
      status: 200,
      body: '{"result":{}}',
    });
    expect((await call("history", { channel, limit: -1 })).body).toBe(
      `{"result":{"publications":[],"epoch":"${epoch}","offset":1}}`,
    );
    expect(await publish(channel, 2, { version: 7 })).toStrictEqual({ offset: 1, epoch });
    expect(await publish(channel, 3, { version: 8 })).toStrictEqual({ offset: 2, epoch });
    expect(await keptData(channel)).toStrictEqual(["3"]);
  });

  it("[W1] answers 108 without history, and nothing to a channel that has none yet", async () => {
    const plain = newChannel("plain");
    expect(await call("history_remove", { channel: plain })).toStrictEqual(notAvailable);
    expect((await call("history_remove", { channel: newChannel("ring") })).body).toBe(
      '{"result":{}}',
    );
  });
});

describe("presence and presence_stats", () => {
  it("[P1] tell who is subscribed, by connection, to the byte", async () => {
    const channel = newChannel("plain");
    expect((await call("presence", { channel })).body).toBe('{"result":{"presence":{}}}');
    expect((await call("presence_stats", { channel })).body).toBe(
      '{"result":{"num_clients":0,"num_users":0}}',
    );
    const first = await TestSocket.subscribe(channel, "ada", { info: { name: "Ada" } });
    const second = await TestSocket.subscribe(channel, "ada");
    await TestSocket.connect(channel, "not-subscribed");
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${first.client}":{"user":"ada","client":"${first.client}",` +
        `"conn_info":{"name":"Ada"}},"${second.client}":{"user":"ada","client":"${second.client}"}}}}`,
    );
    expect((await call("presence_stats", { channel })).body).toBe(
      '{"result":{"num_clients":2,"num_users":1}}',
    );
  });

  it("[W1] answer 108 where the namespace keeps no presence", async () => {
    const channel = newChannel("ring");
    expect(await call("presence", { channel })).toStrictEqual(notAvailable);
    expect(await call("presence_stats", { channel })).toStrictEqual(notAvailable);
  });
});

describe("the logs", () => {
  it("[A7] have no key and no payload, whatever was asked", async () => {
    const written = (["log", "info", "warn", "error", "debug"] as const).map((level) =>
      vi.spyOn(console, level),
    );
    const channel = newChannel("ring");
    await call("publish", { channel, data: "s3cr3t" });
    await call("publish", '{"channel":"s3cr3t');
    await call("publish", { channel: "no-such:room", data: "s3cr3t" });
    const lines = written.flatMap((spy) => spy.mock.calls).join("\n");
    expect(lines.split("\n")).toHaveLength(2);
    expect(lines).not.toContain("s3cr3t");
    // A name is no payload (rule W12).
    expect(lines).toContain('"channel":"no-such:room"');
    expect(lines).not.toContain(testSecrets.API_KEY);
    vi.restoreAllMocks();
  });
});

/** A publication as the test above made it, in the words of the wire. */
function keptEntry(offset: number): string {
  const tags = offset === 5 ? "" : `,"tags":{"n":"${offset}"}`;
  return `{"data":${offset},"offset":${offset}${tags}}`;
}
