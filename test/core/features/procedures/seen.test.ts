import { expect, it } from "vitest";
import type { ChannelOperation } from "../../../../src/contract/channel-call.ts";
import { withChannelCode } from "../../../../src/features/procedures/config.ts";
import { channel } from "../../../../src/features/procedures/definition.ts";
import { encodeInspectedChannel } from "../../../../src/features/why/inspect-answer.ts";
import type { ObjectState } from "../../../../src/features/why/object-state.ts";
import { ObjectTrail } from "../../../../src/features/why/object-trail.ts";
import { ChannelHost } from "../../../../src/object/channel-host.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { ScriptedPlatform } from "../../object/scripted-platform.ts";
import { configured } from "../../../support/configured.ts";

const history = { history_size: 10, history_ttl: "5m" };
const auction = channel({
  procedures: {
    bid(ctx, { amount }: { amount: number }) {
      if (amount < 5) ctx.reject(1001, "too little");
      ctx.set("best", amount);
      ctx.set("long", "x".repeat(2_000));
      ctx.at("end", 1_030_000_000_000, "close");
    },
    close: (ctx) => ctx.remove("best"),
  },
});

/** The object of a channel with code, in which everything is counted. */
function auctionObject() {
  const platform = new ScriptedPlatform("auction:7");
  const { config } = withChannelCode(
    configured({
      prometheus: { enabled: true },
      channel: { namespaces: [{ name: "auction", ...history }] },
    }),
    { auction },
  );
  const host = new ChannelHost(platform, config);
  const bid = (amount: number, idempotencyKey = ""): object | undefined => {
    const data = trustedJsonText(JSON.stringify({ amount }));
    const call: ChannelOperation = {
      method: "call",
      request: { procedure: "bid", data, idempotencyKey },
    };
    let answer: object | undefined;
    host.execute([call], true, (answers) => (answer = answers));
    platform.pass(0);
    return answer;
  };
  return { platform, host, bid };
}

it("[Y10] inspect tells what the code of a channel has stored, and what became of its calls", () => {
  const { platform, host, bid } = auctionObject();
  bid(5);
  bid(4);
  let state: ObjectState | undefined;
  host.part(ObjectTrail)?.inspect({ refusals: 0 }, (inspected) => (state = inspected));
  platform.pass(0);
  if (state === undefined) throw new Error("the object hasn't answered");
  const none = { done: 0, repeated: 0, rejected: 0, refused: 0, threw: 0, slow: 0 };
  const atMs = platform.nowMs();
  expect(JSON.parse(encodeInspectedChannel(state, []))).toMatchObject({
    channel: {
      code: {
        keys: 2,
        bytes: expect.any(Number),
        // A long value isn't shown.
        first_keys: [{ key: "best", value: 5 }, { key: "long" }],
        timers: [{ name: "end", at_ms: 1_030_000_000_000, procedure: "close", tries: 0 }],
        procedures: { bid: { ...none, done: 1, rejected: 1 }, close: none },
        last_calls: [
          {
            procedure: "bid",
            by: "backend",
            outcome: "rejected",
            code: 1001,
            message: "too little",
            at_ms: atMs,
          },
          { procedure: "bid", by: "backend", outcome: "done", at_ms: atMs },
        ],
      },
    },
  });
  expect(JSON.stringify(state)).not.toContain("amount");
});

it("[J1] calls are counted by procedure and outcome, each once", () => {
  const { platform, bid } = auctionObject();
  const series = 'channel_namespace=\\"auction\\"}","added":';
  const named = (outcome: string) =>
    `dormouse_procedure_calls_total{outcome=\\"${outcome}\\",procedure=\\"bid\\",${series}1`;
  expect(JSON.stringify(bid(5, "k"))).toContain(named("done"));
  platform.pass(1_000);
  const second = JSON.stringify([bid(5, "k"), bid(4)]);
  expect(second).toContain(named("repeated"));
  expect(second).toContain(named("rejected"));
  expect(second).not.toContain('outcome=\\"done\\"');
});
