import { describe, expect, it } from "vitest";
import { CollectedAnswers, outcomeAnswer } from "../../../../src/api/answers.ts";
import type { Entry } from "../../../../src/api/command.ts";
import { type ChannelCall, planCalls, type UserCall } from "../../../../src/api/calls.ts";
import type { ChannelOperation } from "../../../../src/contract/channel-call.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../channel-config.ts";

function ask(channel: string, method: "presence" | "history_remove" = "presence"): Entry {
  return { outcome: "call", channel, command: { method } };
}

function nameOf(call: ChannelCall | UserCall): string {
  return "channel" in call ? call.channel : call.user;
}

/** The collected answers to some entries, and the entries' calls by channel. */
function open(entries: readonly Entry[]) {
  const plan = planCalls(entries);
  if (plan.outcome === "refused") throw new Error(plan.detail);
  const calls = new Map(
    plan.calls.map((call) => ["question" in call ? call.question.method : nameOf(call), call]),
  );
  const callTo = (channel: string) => {
    const call = calls.get(channel);
    if (call === undefined) throw new Error(`no call to ${channel}`);
    return call;
  };
  return { collected: new CollectedAnswers(entries), callTo };
}

const results = (...texts: string[]) => ({
  outcome: "answers" as const,
  answers: texts.map((text) => ({ result: json(text) })),
});

describe("the collected answers of a request", () => {
  it("[W3] puts answers in the order of the request, in whatever order calls end", () => {
    const refused: Entry = { outcome: "refused", error: errorCodes.badRequest, detail: "why" };
    const { collected, callTo } = open([ask("a"), ask("b"), refused, ask("a")]);
    collected.record(callTo("b"), results("2"));
    collected.record(callTo("a"), {
      outcome: "answers",
      answers: [{ result: json("1") }, { error: errorCodes.notAvailable }],
    });
    expect(collected.inOrder()).toMatchObject([
      { result: "1" },
      { result: "2" },
      { error: errorCodes.badRequest, detail: "why" },
      { error: errorCodes.notAvailable },
    ]);
    expect(collected.retry()).toBeUndefined();
  });

  it("[B28] answers entries of a failed call one by one", () => {
    const { collected, callTo } = open([ask("a"), ask("b"), ask("c"), ask("d")]);
    collected.record(callTo("a"), results("1"));
    collected.record(callTo("b"), { outcome: "overloaded", retryAfterSeconds: 3 });
    collected.record(callTo("c"), { outcome: "timeout", retryAfterSeconds: 4 });
    collected.record(callTo("d"), { outcome: "failed" });
    expect(collected.inOrder()).toMatchObject([
      { result: "1" },
      { error: { code: 111 } },
      { error: { code: 100 } },
      { error: { code: 100 } },
    ]);
    expect(collected.retry()).toBeUndefined();
  });

  it("[B28] says when to come again if no call was answered, and that nothing was done if that is known", () => {
    const { collected, callTo } = open([ask("a"), ask("b"), ask("c")]);
    expect(collected.retry()).toBeUndefined();
    collected.record(callTo("a"), { outcome: "overloaded", retryAfterSeconds: 3 });
    collected.record(callTo("b"), { outcome: "not-begun", retryAfterSeconds: 7 });
    expect(collected.retry()).toStrictEqual({ seconds: 7, nothingDone: true });
    collected.record(callTo("c"), { outcome: "timeout", retryAfterSeconds: 5 });
    expect(collected.retry()).toStrictEqual({ seconds: 7, nothingDone: false });
  });

  it.each([{ outcome: "failed" } as const, results("1")])(
    "[B28] does not say to come again after a call with the outcome $outcome",
    (outcome) => {
      const { collected, callTo } = open([ask("a"), ask("b")]);
      collected.record(callTo("a"), { outcome: "timeout", retryAfterSeconds: 5 });
      collected.record(callTo("b"), outcome);
      expect(collected.retry()).toBeUndefined();
    },
  );

  it("[W3] answers a command without an object's answer with an internal error", () => {
    const { collected, callTo } = open([ask("a"), ask("a")]);
    collected.record(callTo("a"), results("1"));
    expect(collected.inOrder()).toStrictEqual([{ result: "1" }, { error: errorCodes.internal }]);
  });

  it("[B1] keeps no more text of reading commands than one answer may have", () => {
    const large = JSON.stringify("x".repeat(limits.answerBytesMax / 2 - 2));
    const { collected, callTo } = open([ask("a"), ask("b"), ask("c"), ask("d", "history_remove")]);
    collected.record(callTo("a"), results(large));
    collected.record(callTo("b"), results(large));
    collected.record(callTo("c"), results("{}"));
    collected.record(callTo("d"), results("{}"));
    expect(
      collected.inOrder().map((answer) => ("result" in answer ? "kept" : answer.error.code)),
    ).toStrictEqual(["kept", "kept", 106, "kept"]);
  });

  it("[B1] always keeps the result of a publish", () => {
    const command: ChannelOperation = {
      method: "publish",
      request: {
        data: json("1"),
        skipHistory: false,
        idempotencyKey: "",
        version: 0n,
        versionEpoch: "",
        delta: false,
      },
    };
    const { collected, callTo } = open([ask("a"), { outcome: "call", channel: "b", command }]);
    collected.record(callTo("a"), results(JSON.stringify("x".repeat(limits.answerBytesMax - 2))));
    collected.record(callTo("b"), results(`{"offset":1}`));
    expect(collected.inOrder()[1]).toStrictEqual({ result: `{"offset":1}` });
  });
});

describe("the answer to a command of a call", () => {
  it("[B28] says after a timeout that the outcome is unknown", () => {
    expect(outcomeAnswer({ outcome: "timeout", retryAfterSeconds: 5 }, 0)).toStrictEqual({
      error: errorCodes.internal,
      detail:
        "the channel did not answer in time; the outcome is unknown, retry with the same idempotency_key",
    });
  });

  it("[B28] says of a call that was not begun, in its code too, that nothing was done", () => {
    expect(outcomeAnswer({ outcome: "not-begun", retryAfterSeconds: 5 }, 0)).toStrictEqual({
      error: errorCodes.tooManyRequests,
      detail: "the request timed out before the channel was called; nothing was done, retry later",
    });
  });

  it("[A7] says nothing about why a call failed", () => {
    expect(outcomeAnswer({ outcome: "failed" }, 0)).toStrictEqual({ error: errorCodes.internal });
    const detail = "the disk is full";
    const full = outcomeAnswer({ outcome: "failed", detail }, 0);
    expect(full).toStrictEqual({ error: errorCodes.internal, detail });
  });
});
