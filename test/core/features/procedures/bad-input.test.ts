import { expect, test } from "vitest";
import { testChannel, TestRejection } from "../../../../package/test/test-channel.ts";
import { channel } from "../../../../src/features/procedures/definition.ts";
import { ChannelFixture } from "../../session/channel-fixture.ts";

const code = channel({
  procedures: {
    count(ctx) {
      const count = (ctx.get<number>("count") ?? 0) + 1;
      ctx.set("count", count);
      return count;
    },
    /** Never ends but by the bound of a call. */
    flood(ctx) {
      ctx.set("flooded", true);
      for (;;) ctx.publish("x");
    },
    again: (ctx) => {
      ctx.set("rung", (ctx.get<number>("rung") ?? 0) + 1);
      ctx.at("again", ctx.nowMs, "again");
    },
  },
});

test("[PC1] [PC2] of 10,000 calls of one client each is answered in its turn, some of them that nothing was done", () => {
  const fixture = new ChannelFixture({ code, options: { allow_call_for_client: true } });
  const caller = fixture.connected();
  const answers: string[] = [];
  for (let frame = 0; frame < 200; frame++) {
    const commands = Array.from({ length: 50 }, (_, index) => {
      const data = { channel: "room", procedure: "count" };
      return JSON.stringify({ id: 2 + frame * 50 + index, rpc: { method: "dormouse.call", data } });
    });
    answers.push(...fixture.ask(caller, commands.join("\n")).flatMap((sent) => sent.split("\n")));
  }
  // Who never ceases is disconnected.
  expect(answers.pop()).toBe("close 3013 too many requests");
  const made = answers.filter((line) => line.includes('"rpc"'));
  const error = '"error":{"code":111,"message":"too many requests","temporary":true}';
  expect(answers.length).toBe(9_999);
  expect(made.length).toBeGreaterThan(1_000);
  // Whatever was made was made once, and nothing of what was refused.
  expect(answers).toEqual(
    answers.map((_, index) =>
      index < made.length
        ? `{"id":${index + 2},"rpc":{"data":${index + 1}}}`
        : `{"id":${index + 2},${error}}`,
    ),
  );
});

test("[PC9] [PC2] a procedure that publishes without an end has published nothing, and others go on", () => {
  const room = testChannel(code);
  expect(() => room.call("flood")).toThrow(TestRejection);
  expect([room.keys, room.published]).toEqual([{}, []]);
  expect(room.call("count")).toBe(1);
});

test("[PC7] a timer that sets itself anew at once calls once before each call, and not without an end", () => {
  const room = testChannel(code);
  room.call("again");
  for (let call = 1; call <= 3; call++) expect(room.call("count")).toBe(call);
  expect(room.keys["rung"]).toBe(4);
});
