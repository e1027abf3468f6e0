import { testSecrets } from "../support/test-config.ts";
import { describe, expect, it, vi } from "vitest";
import { call, keptData, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";

describe("publish", () => {
  it("[O1] numbers publications from 1, without a hole, and tells the epoch", async () => {
    const channel = newChannel("ring");
    const { status, body } = await call("publish", { channel, data: {} });
    expect(status).toBe(200);
    expect(body).toMatch(/^\{"result":\{"offset":1,"epoch":"[A-Za-z]{8}"\}\}$/);
    expect((await call("publish", { channel, data: {} })).body).toBe(body.replace(":1,", ":2,"));
    expect((await call("publish", { channel, data: {} })).body).toBe(body.replace(":1,", ":3,"));
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
