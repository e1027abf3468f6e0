import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "./history-builder.ts";

const overdueMicroseconds = 30_000_000;

/** Two subscribers, one of which received one of three publications; then half a minute without events. */
function begun(recovery: "stream" | "cache" = "stream"): HistoryBuilder {
  return new HistoryBuilder(recovery, 10)
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .deliver("s2", 1, "a", "b", "c")
    .deliver("s1", 1, "a")
    .pass(31);
}

/** The same without offsets, for so many seconds. */
function unpositioned(seconds = 31): HistoryBuilder {
  return new HistoryBuilder("none")
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .deliver("s2", undefined, "a", "b", "c")
    .deliver("s1", undefined, "a")
    .pass(seconds);
}

/** No publication is delivered. */
function withoutDeliveries(): HistoryBuilder {
  return new HistoryBuilder().subscribe("s1").publish("a", "b").pass(31);
}

describe("a subscriber with overdue publications", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    ["until it was cut", () => begun().detach("s1"), ["lost s1 last"]],
    ["until it left", () => begun().detach("s1", true), ["lost s1 last"]],
    ["until its signal", () => begun().signal("s1"), ["lost s1 last"]],
    [
      "until it subscribed again",
      () => begun().recover("s1", 1).deliver("s1", 2, "b", "c"),
      ["lost s1 last"],
    ],
    ["to the end", () => begun().fault("cut"), ["lost s1 last"]],
    ["to the end, with cache recovery", () => begun("cache").fault("cut"), ["lost s1 last"]],
    ["from the beginning", () => withoutDeliveries().detach("s1"), ["lost s1 first"]],
    [
      "in its second subscription",
      () =>
        new HistoryBuilder()
          .subscribe("s1")
          .publish("a", "b")
          .deliver("s1", 1, "a")
          .detach("s1")
          .recover("s1", 1)
          .pass(31)
          .detach("s1"),
      ["lost s1 first"],
    ],
    [
      "to another epoch",
      () =>
        begun()
          .deliver("s1", 2, "b", "c")
          .detach("s2")
          .forget("stream", "e2")
          .publish("d")
          .pass(31)
          .detach("s1"),
      ["lost s1 last"],
    ],
    [
      "before there was another epoch",
      () => begun().detach("s2").forget("stream", "e2").publish("d").pass(1).detach("s1"),
      ["lost s1 last"],
    ],
    ["without offsets", () => unpositioned().detach("s1"), ["lost s1 last", "lost s1 last"]],
    [
      "without offsets to the end",
      () => unpositioned().fault("cut"),
      ["lost s1 last", "lost s1 last"],
    ],
    [
      "without offsets until it subscribed again",
      () => unpositioned().subscribe("s1"),
      ["lost s1 last", "lost s1 last"],
    ],
    [
      "without offsets from the beginning",
      () => new HistoryBuilder("none").subscribe("s1").publish("a").pass(31).signal("s1"),
      ["lost s1 first"],
    ],
    [
      "without offsets, long before a crash",
      () => unpositioned().crash().detach("s1"),
      ["lost s1 last", "lost s1 last"],
    ],
  ])("is found: %s", (_, history, wrong) => {
    expect(history().violationLines(overdueMicroseconds)).toEqual(wrong);
    // The history has no other violation.
    expect(history().violationLines()).toEqual([]);
  });

  it("is reported once, with all its missing publications counted", () => {
    const { violations, violationCounts, lossCounts } = begun()
      .detach("s1")
      .check(overdueMicroseconds);
    expect(violations.map(({ text }) => text)).toEqual([
      "s1 was subscribed for 31 s and never received e1:2 to 3, the first of which is b",
    ]);
    expect(violationCounts).toEqual(new Map([["lost", 2]]));
    expect(lossCounts).toEqual(new Map([["last", 2]]));
  });

  it("is reported once when everything has settled", () => {
    const { lossCounts } = begun().settle().check(overdueMicroseconds);
    expect(lossCounts).toEqual(new Map([["last", 2]]));
    expect(unpositioned().settle().violationLines(overdueMicroseconds)).toEqual([
      "lost s1 last",
      "lost s1 last",
    ]);
  });
});

describe("a subscriber without overdue publications", () => {
  it.each<[string, () => HistoryBuilder]>([
    [
      "what came just before its end",
      () => withoutDeliveries().deliver("s1", 1, "a", "b").publish("c").detach("s1"),
    ],
    ["late deliveries", () => begun().deliver("s1", 2, "b", "c").detach("s1")],
    [
      "what came before a subscription that was short",
      () =>
        begun()
          .deliver("s1", 2, "b", "c")
          .detach("s1")
          .publish("d")
          .deliver("s2", 4, "d")
          .pass(60)
          .recover("s1", 3)
          .pass(20)
          .detach("s1"),
    ],
    [
      "what came before it was subscribed anew",
      () => begun().subscribe("s3").pass(60).detach("s3").deliver("s1", 2, "b", "c"),
    ],
    [
      "another epoch that is new",
      () =>
        begun()
          .deliver("s1", 2, "b", "c")
          .detach("s2")
          .forget("stream", "e2")
          .publish("d")
          .pass(20)
          .detach("s1"),
    ],
    ["what is recent, without offsets", () => unpositioned(20).detach("s1")],
    [
      "what is recent, without offsets and long after it was subscribed",
      () => new HistoryBuilder("none").subscribe("s1").pass(40).publish("a").pass(20).detach("s1"),
    ],
    [
      "what came before it was subscribed, without offsets",
      () => unpositioned().deliver("s1", undefined, "b", "c").subscribe("s3").pass(31).detach("s3"),
    ],
    [
      "what a crash kept from it, without offsets",
      () => new HistoryBuilder("none").subscribe("s1").publish("a").crash().pass(31).detach("s1"),
    ],
  ])("may have missed %s", (_, history) => {
    expect(history().violationLines(overdueMicroseconds)).toEqual([]);
  });
});
