import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { call, keptData } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { variants } from "../support/variant.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";

const badRequest = { code: 3501, reason: "bad request" };
const tooLarge = { code: 1009, reason: "message size limit exceeded" };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A command of so many bytes that is answered with an empty object. */
function paddedCommand(bytes: number): string {
  const [head, tail] = ['{"id":7,"unsubscribe":{"channel":"nothing-here","x":"', '"}}'];
  return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

describe.each(variants)("a frame on $name", (variant) => {
  it("[O6][O4] carries its commands out in order, the first ones being connect and subscribe", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    socket.send(
      { id: 1, connect: { token: await token({ sub: "ada" }) } },
      { id: 2, subscribe: { channel } },
      { id: 3, publish: { channel, data: "a" } },
      { id: 4, publish: { channel, data: "b" } },
    );
    const lines: string[] = [];
    for (let count = 0; count < 7; count++) lines.push(await socket.line());
    const order = (...parts: string[]) =>
      parts.map((part) => lines.findIndex((line) => line.includes(part)));
    const commands = order('"id":1,', '"id":2,', '"join"', '"id":3,', '"id":4,');
    expect(commands).toStrictEqual(commands.toSorted((one, other) => one - other));
    for (const [data, id] of [
      ["a", 3],
      ["b", 4],
    ] as const) {
      const [publication = -1, reply] = order(`"data":"${data}"`, `"id":${id},`);
      expect(publication).toBeGreaterThan(0);
      expect(publication).toBeLessThan(reply ?? 0);
    }
    const kept = await keptData(channel);
    expect(kept.map((data) => data.slice(0, 3))).toStrictEqual(['"a"', '"b"']);
    await variant.betweenSteps(channel);
  });

  it("[O6] waits for the one before it, though a token takes time to verify", async () => {
    const channel = newChannel("closed");
    const claims = { sub: "ada", channel };
    const [connection, subscription] = [await token({ sub: "ada" }), await token(claims)];
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { token: connection } });
    socket.send({ id: 2, subscribe: { channel, token: subscription } });
    socket.send({ id: 3, unsubscribe: { channel } });
    socket.send({ id: 4, subscribe: { channel, token: subscription } });
    for (const id of [1, 2, 3, 4]) {
      expect(await socket.next()).toStrictEqual(
        expect.objectContaining({
          id,
          ...(id > 1 && { [id === 3 ? "unsubscribe" : "subscribe"]: {} }),
        }),
      );
    }
    await variant.betweenSteps(channel);
  });

  it("[W1] may be binary, and may end with a line break", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    const connect = { id: 1, connect: { token: await token({ sub: "ada" }) } };
    socket.sendFrame(bytesOf(`${JSON.stringify(connect)}\n`));
    expect((await socket.next()).id).toBe(1);
    await variant.betweenSteps(channel);
    socket.sendFrame(
      bytesOf(
        `{"id":2,"subscribe":{"channel":"${channel}"}}\n{"id":3,"publish":{"channel":"${channel}","data":"é"}}`,
      ),
    );
    expect((await socket.next()).id).toBe(2);
    await socket.line(); // its own join
    expect(await socket.line()).toContain('"data":"é"');
    await variant.betweenSteps(channel);
  });

  it.each<[string, string | Uint8Array]>([
    ["empty", ""],
    ["a line break", "\n"],
    ["no JSON", "no command"],
    ["no object", "[]"],
    [
      "binary that is not UTF-8",
      bytesOf('{"id":3,"rpc":{"data":"~"}}').map((byte) => (byte === 0x7e ? 0xff : byte)),
    ],
    ["without a method", '{"id":3}'],
    ["without an id", '{"unsubscribe":{"channel":"a"}}'],
    ["with two methods", '{"id":3,"ping":{},"rpc":{}}'],
    ["with a field of another type", '{"id":3,"unsubscribe":{"channel":1}}'],
  ])("[C8] that is malformed closes 3501: %s", async (_, frame) => {
    const channel = newChannel("room");
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.sendFrame(frame);
    expect(await socket.closed).toStrictEqual(badRequest);
    expect(await socket.rest()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it.each(['{"id":', "", '{"id":0,"rpc":{}}'])(
    "[C8] is carried out up to its fault: %j",
    async (fault) => {
      const channel = newChannel("room");
      const socket = await variant.subscribe(channel, "ada");
      await socket.line(); // its own join
      await variant.betweenSteps(channel);
      const publish = (id: number, data: string) =>
        `{"id":${id},"publish":{"channel":"${channel}","data":"${data}"}}`;
      const answered = '{"id":3,"unsubscribe":{"channel":"nothing-here"}}';
      socket.sendFrame([answered, publish(4, "before"), fault, publish(5, "after")].join("\n"));
      expect(await socket.closed).toStrictEqual(badRequest);
      // A command that takes time, such as a publish on a gateway, is carried out, but not answered any more.
      expect((await socket.rest())[0]).toBe('{"id":3,"unsubscribe":{}}');
      await watchedRelay.settled();
      expect(await keptData(channel)).toStrictEqual([expect.stringContaining('"before"')]);
      expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
      await variant.betweenSteps(channel);
    },
  );

  it("[C8][B1] may have 64 KiB exactly, as text and as binary, and not one byte more", async () => {
    const channel = newChannel("room");
    const fitting = paddedCommand(limits.frameBytesMax);
    for (const make of [(text: string) => text, bytesOf]) {
      const socket = await variant.connect(channel, "ada");
      await variant.betweenSteps(channel);
      socket.sendFrame(make(fitting));
      expect(await socket.line()).toBe('{"id":7,"unsubscribe":{}}');
      await variant.betweenSteps(channel);
      socket.sendFrame(make(paddedCommand(limits.frameBytesMax + 1)));
      expect(await socket.closed).toStrictEqual(tooLarge);
      expect(await socket.rest()).toStrictEqual([]);
      await variant.betweenSteps(channel);
    }
  });

  it("[F2] carries the publications of one call together", async () => {
    const channel = newChannel("plain");
    const socket = await variant.subscribe(channel, "ada");
    await variant.betweenSteps(channel);
    const commands = [1, 2, 3].map((data) => ({ publish: { channel, data } }));
    await call("batch", { commands });
    expect(await socket.frame()).toBe(
      [1, 2, 3]
        .map((data) => `{"push":{"channel":"${channel}","pub":{"data":${data}}}}`)
        .join("\n"),
    );
    await variant.betweenSteps(channel);
  });
});

describe("a frame on a channel's socket", () => {
  it("[O6] carries its commands out in order, the first ones being connect and subscribe", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    socket.send(
      { id: 1, connect: { token: await token({ sub: "ada" }) } },
      { id: 2, subscribe: { channel } },
      { id: 3, publish: { channel, data: "a" } },
      { id: 4, presence_stats: { channel } },
      { id: 5, unsubscribe: { channel } },
      { id: 6, publish: { channel, data: "b" } },
    );
    const kinds = [];
    for (let count = 0; count < 8; count++) {
      const { id, error, push } = await socket.next();
      kinds.push(push === undefined ? [id, error?.code ?? "ok"] : Object.keys(push)[1]);
    }
    const [one, two, three, four] = [1, 2, 3, 4].map((id) => [id, "ok"]);
    // Who is present is told in a later turn.
    expect(kinds).toStrictEqual([one, two, "join", "pub", three, [5, "ok"], [6, 103], four]);
    expect(await keptData(channel)).toHaveLength(1);
  });
});
