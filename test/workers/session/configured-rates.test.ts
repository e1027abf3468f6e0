import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import { emulate, TestStream } from "../support/test-stream.ts";
import { variants } from "../support/variant.ts";

/** So many commands in 10 seconds. */
const per10s = (rate: number) => ({ enabled: true, buckets: [{ interval: "10s", rate }] });
const plain = { namespace_name: "plain", ...per10s(2) };
const client_command = {
  enabled: true,
  publish: { enabled: true, namespace_overrides: [plain] },
  presence_stats: per10s(3),
};
const user_command = { enabled: true, history: per10s(2) };
configure({
  ...openConfig,
  client: { ...openConfig.client, rate_limit: { client_command, user_command } },
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const tooMany = (id: number) =>
  `{"id":${id},"error":{"code":111,"message":"too many requests","temporary":true}}`;

describe.each(variants)("a configured rate on $name", (variant) => {
  it("[B7] [B22] [S2] refuses with 111 what is more, and forgets it when it may", async () => {
    const [channel, other] = [newChannel("plain"), newChannel("room")];
    const socket = await variant.subscribe(channel, "ada");
    for (let turn = 0; turn < 2; turn++) {
      await variant.betweenSteps(channel);
      for (const id of [3, 4]) {
        socket.send({ id, publish: { channel, data: id } });
        expect(await socket.line()).toContain(`"pub":{"data":${id}`);
        expect(await socket.line()).toBe(`{"id":${id},"publish":{}}`);
      }
      socket.send({ id: 5, publish: { channel, data: 5 } });
      expect(await socket.line()).toBe(tooMany(5));
      // Each command has a rate of its own.
      for (const id of [6, 7, 8]) {
        socket.send({ id, presence_stats: { channel } });
        expect(await socket.line()).toContain('"num_clients":1');
      }
      socket.send({ id: 9, presence_stats: { channel } });
      expect(await socket.line()).toBe(tooMany(9));
      // In another namespace, or at an address where the channel doesn't exist, it isn't the rate that refuses.
      socket.send({ id: 10, publish: { channel: other, data: 1 } });
      expect(await socket.line()).toMatch(/^\{"id":10,"error":\{"code":10[23],/u);
      vi.setSystemTime(Date.now() + limits.rateIntervalMsMax);
    }
    await variant.betweenSteps(channel);
  });
});

describe("a configured rate", () => {
  it("[B7] [T4] counts commands that are posted", async () => {
    const channel = newChannel("plain");
    const connect = JSON.stringify({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    const stream = await TestStream.open("/connection/http_stream", {
      method: "POST",
      body: connect,
    });
    const reply: { connect: { session: string; node: string } } = JSON.parse(await stream.line());
    const { session, node } = reply.connect;
    const commands = [2, 3, 4].map((id) => JSON.stringify({ id, publish: { channel, data: id } }));
    await emulate(session, node, commands.join("\n"));
    // A refusal doesn't wait for the channel's object.
    const answers = [await stream.line(), await stream.line(), await stream.line()];
    expect(answers.toSorted()).toStrictEqual([
      '{"id":2,"publish":{}}',
      '{"id":3,"publish":{}}',
      tooMany(4),
    ]);
    await stream.cancel();
  });
});
