import { describe, expect, it } from "vitest";
import type { HookAnswered } from "./history-event.ts";
import { HistoryBuilder } from "./history-builder.ts";

const client = "id-s1";

/** A backend decides on what the client `s1` wants. */
function decide(
  history: HistoryBuilder,
  hook: HookAnswered["hook"],
  type: "ok" | "fail",
  about: Partial<HookAnswered> = {},
): HistoryBuilder {
  const what = { process: "hooks", f: "hook", answer: "right", client } as const;
  return history.add({ ...what, type, hook, ...about });
}

/** The client is subscribed, as a backend has allowed. */
function subscribed(): HistoryBuilder {
  const history = new HistoryBuilder();
  const { channel } = history;
  return decide(history, "subscribe", "ok", { channel }).subscribe("s1", { asks: true });
}

/** The client publishes what a backend has to allow. */
function publishing(value: string): HistoryBuilder {
  const history = subscribed();
  const { channel } = history;
  return history.add({
    process: "s1",
    type: "invoke",
    f: "publish",
    channel,
    value,
    asks: true,
  });
}

/** The backend decides on that publish. */
function decided(type: "ok" | "fail", result?: string): HistoryBuilder {
  const history = publishing("v");
  const { channel } = history;
  const changed = result === undefined ? {} : { result };
  return decide(history, "publish", type, { channel, value: "v", ...changed });
}

/** The backend has answered a call. */
const answered = (): HistoryBuilder =>
  decide(new HistoryBuilder(), "rpc", "ok", { value: "c", result: "r" });

const violationsOf = (history: HistoryBuilder): readonly string[] =>
  history.check().violations.map(({ kind, process }) => `${kind} ${process}`);

describe("a history of what backends were asked", () => {
  it.each<[string, HistoryBuilder]>([
    ["a publish as it is", decided("ok").deliver("s1", 1, "v").acknowledgeUnplaced("v", "s1")],
    [
      "a publish with other data",
      decided("ok", "w").deliver("s1", 1, "w").acknowledgeUnplaced("v", "s1"),
    ],
    ["nothing of a refused publish", decided("fail").leaveOpen("v")],
    ["nothing of a publish about which nobody was asked", publishing("v").leaveOpen("v")],
    [
      "a subscription for each answer that allows one",
      decide(subscribed().detach("s1"), "subscribe", "ok", { channel: "stream:a" }).recover(
        "s1",
        0,
        { asks: true },
      ),
    ],
    ["a subscription without a question", new HistoryBuilder().subscribe("s1")],
  ])("[Q2] keeps the guarantees with %s", (_, history) => {
    expect(violationsOf(history)).toEqual([]);
  });

  it.each<[string, HistoryBuilder, readonly string[]]>([
    [
      "a refused publication that arrives",
      decided("fail").deliver("s1", 1, "v"),
      ["resurrected s1"],
    ],
    [
      "a refused publish that is acknowledged",
      decided("fail").acknowledgeUnplaced("v", "s1"),
      // Nor did the client get what it was told to have published.
      ["unapproved s1", "late s1"],
    ],
    [
      "a publication about which nobody was asked",
      publishing("v").deliver("s1", 1, "v"),
      ["unapproved s1"],
    ],
    [
      "the client's data where the backend gave other data",
      decided("ok", "w").deliver("s1", 1, "v"),
      ["invented s1"],
    ],
    [
      "a subscription without an answer that allows it",
      new HistoryBuilder().subscribe("s1", { asks: true }),
      ["unapproved s1"],
    ],
    [
      "a refused subscription",
      decide(new HistoryBuilder(), "subscribe", "fail", { channel: "stream:a" }).subscribe("s1", {
        asks: true,
      }),
      ["unapproved s1"],
    ],
    [
      "a second subscription by the same answer",
      subscribed().detach("s1").recover("s1", 0, { asks: true }),
      ["unapproved s1"],
    ],
    [
      "a subscription by the answer for another channel",
      decide(new HistoryBuilder(), "subscribe", "ok", { channel: "other" }).subscribe("s1", {
        asks: true,
      }),
      ["unapproved s1"],
    ],
  ])("[Q2] [Q5] is violated by %s", (_, history, violations) => {
    expect(violationsOf(history)).toEqual(violations);
  });

  it("[Q2] is violated by a client that no backend let in", () => {
    const accepted = { process: "s1", type: "ok", f: "connect", user: "ada", asks: true } as const;
    const allowed = decide(new HistoryBuilder(), "connect", "ok").add({ ...accepted, client });
    expect(violationsOf(allowed)).toEqual([]);
    const other = allowed.add({ ...accepted, client: "another" });
    expect(violationsOf(other)).toEqual(["unapproved s1"]);
  });

  it("[Q2] is violated by a reply to a call that the backend didn't give", () => {
    const call = { process: "s1", type: "ok", f: "call", value: "c" } as const;
    expect(violationsOf(answered().add({ ...call, result: "r" }))).toEqual([]);
    expect(violationsOf(answered().add({ ...call, result: "" }))).toEqual(["unapproved s1"]);
    expect(violationsOf(new HistoryBuilder().add({ ...call, result: "r" }))).toEqual([
      "unapproved s1",
    ]);
  });

  it("counts the answers of backends by hook and kind", () => {
    const history = decide(decided("fail"), "rpc", "fail", { answer: "late", value: "c" });
    expect(history.check().hookAnswers).toEqual(
      new Map([
        ["subscribe right", 1],
        ["publish right", 1],
        ["rpc late", 1],
      ]),
    );
  });
});
