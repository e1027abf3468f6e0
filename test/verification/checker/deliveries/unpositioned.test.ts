import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "../history-builder.ts";

/** Three subscribers, and three publications that two of them received. */
function begun(): HistoryBuilder {
  return new HistoryBuilder("none")
    .subscribe("s1")
    .subscribe("s2")
    .subscribe("s3")
    .publish("a", "b", "c")
    .deliver("s2", undefined, "a", "b", "c")
    .deliver("s3", undefined, "a", "b", "c");
}

/** The same, with publishes under way at the same time. */
function atOnce(): HistoryBuilder {
  const builder = new HistoryBuilder("none").subscribe("s1").subscribe("s2").subscribe("s3");
  builder.invoke("a").invoke("b").invoke("c").acknowledge("a").acknowledge("b").acknowledge("c");
  return builder.deliver("s2", undefined, "a", "b", "c").deliver("s3", undefined, "a", "b", "c");
}

describe("a correct history without offsets", () => {
  it.each<[string, () => HistoryBuilder]>([
    [
      "what another gateway, a little behind, tells again",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .detach("s1")
          .subscribe("s1")
          .deliver("s1", undefined, "b", "c"),
    ],
    ["everything delivered", () => begun().deliver("s1", undefined, "a", "b", "c")],
    [
      "what was missed while away",
      () =>
        begun()
          .deliver("s1", undefined, "a")
          .detach("s1")
          .subscribe("s1")
          .publish("d")
          .deliver("s1", undefined, "d")
          .deliver("s2", undefined, "d")
          .deliver("s3", undefined, "d"),
    ],
    [
      "different parts delivered, the later ones first",
      () =>
        new HistoryBuilder("none")
          .subscribe("s1")
          .invoke("a")
          .invoke("b")
          .invoke("c")
          .deliver("s1", undefined, "a")
          .detach("s1")
          .subscribe("s1")
          .deliver("s1", undefined, "c")
          .subscribe("s2")
          .deliver("s2", undefined, "a", "b", "c"),
    ],
    ["a loss just after a signal", () => begun().signal("s1").subscribe("s1")],
    [
      "a loss by a crash before the delivery",
      () => begun().crash().deliver("s1", undefined, "b", "c"),
    ],
    [
      "a loss by a crash at the end",
      () => begun().deliver("s1", undefined, "a", "b").pass(9).crash(),
    ],
    [
      "an unknown outcome without a delivery",
      () => begun().deliver("s1", undefined, "a", "b", "c").invoke("d").leaveOpen("d"),
    ],
    [
      "an unknown outcome with one delivery",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .invoke("d")
          .leaveOpen("d")
          .deliver("s1", undefined, "d"),
    ],
    [
      "an order that isn't that of the acknowledgements",
      () => {
        const reported = new HistoryBuilder("none")
          .subscribe("s1")
          .subscribe("s2")
          .invoke("a")
          .invoke("b")
          .acknowledge("a")
          .acknowledge("b");
        return reported.deliver("s1", undefined, "b", "a").deliver("s2", undefined, "b", "a");
      },
    ],
    [
      "a delivery of an earlier publication",
      () => new HistoryBuilder("none").publish("a").subscribe("s1").deliver("s1", undefined, "a"),
    ],
    [
      "a publisher whose own publication a crash lost",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .invoke("d", "s1")
          .crash()
          .acknowledge("d", "s1"),
    ],
  ])("may have %s", (_, history) => {
    expect(history().settle().violationLines()).toEqual([]);
  });
});

describe("a history without offsets and with one fault", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    ["a loss in the middle", () => begun().deliver("s1", undefined, "a", "c"), ["lost s1 middle"]],
    [
      "a loss at the beginning",
      () => begun().deliver("s1", undefined, "b", "c"),
      ["lost s1 first"],
    ],
    ["a loss at the end", () => begun().deliver("s1", undefined, "a", "b"), ["lost s1 last"]],
    [
      "a loss before a later cut",
      () => begun().deliver("s1", undefined, "a", "c").detach("s1").subscribe("s1"),
      ["lost s1 middle"],
    ],
    [
      "a loss long before a crash",
      () => begun().deliver("s1", undefined, "a", "c").pass(11).crash(),
      ["lost s1 middle"],
    ],
    [
      "a loss after a crash",
      () => new HistoryBuilder("none").crash().subscribe("s1").publish("a"),
      ["lost s1 first"],
    ],
    [
      "a repeated delivery",
      () => begun().deliver("s1", undefined, "a", "b", "b", "c"),
      ["doubled s1"],
    ],
    [
      "a delivery of long ago, repeated to another subscription",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .detach("s1")
          .pass(11)
          .subscribe("s1")
          .deliver("s1", undefined, "b"),
      ["resurrected s1"],
    ],
    [
      "two swapped against their acknowledgements",
      () => begun().deliver("s1", undefined, "b", "a", "c"),
      ["swapped s1"],
    ],
    [
      "two swapped against the others",
      () => atOnce().deliver("s1", undefined, "a", "c", "b"),
      ["swapped s1"],
    ],
    [
      "two publications swapped by the first subscriber",
      () =>
        new HistoryBuilder("none")
          .subscribe("s1")
          .subscribe("s2")
          .subscribe("s3")
          .invoke("a")
          .invoke("b")
          .deliver("s1", undefined, "b", "a")
          .deliver("s2", undefined, "a", "b")
          .deliver("s3", undefined, "a", "b"),
      ["swapped s1"],
    ],
    [
      "three orders that go in a circle",
      () =>
        new HistoryBuilder("none")
          .invoke("a")
          .invoke("b")
          .invoke("c")
          .subscribe("s1")
          .deliver("s1", undefined, "a", "b")
          .subscribe("s2")
          .deliver("s2", undefined, "b", "c")
          .subscribe("s3")
          .deliver("s3", undefined, "c", "a"),
      ["swapped s3"],
    ],
    [
      "a refused value delivered later",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .invoke("x")
          .refuse("x")
          .deliver("s1", undefined, "x"),
      ["resurrected s1"],
    ],
    [
      "a refused value delivered before",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .invoke("x")
          .deliver("s1", undefined, "x")
          .refuse("x"),
      ["resurrected s1"],
    ],
    [
      "an unpublished value",
      () => begun().deliver("s1", undefined, "a", "b", "c", "x"),
      ["invented s1"],
    ],
    [
      "a publisher that is answered too early",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .invoke("d", "s1")
          .acknowledge("d", "s1")
          .deliver("s1", undefined, "d")
          .deliver("s2", undefined, "d")
          .deliver("s3", undefined, "d"),
      ["late s1"],
    ],
    [
      "a delivery without a subscription",
      () =>
        begun()
          .deliver("s1", undefined, "a", "b", "c")
          .detach("s1")
          .deliver("s1", undefined, "c")
          .subscribe("s1"),
      ["stray s1"],
    ],
    [
      "a subscriber that didn't return",
      () => begun().deliver("s1", undefined, "a", "b", "c").signal("s1"),
      ["absent s1"],
    ],
    [
      "a subscriber that isn't present",
      () => begun().deliver("s1", undefined, "a", "b", "c").settle().presence("id-s2", "id-s3"),
      ["presence s1"],
    ],
  ])("says so: %s", (_, history, wrong) => {
    expect(history().settle().violationLines()).toEqual(wrong);
  });

  it("reports a loss in the middle although the run never settles", () => {
    const reported = begun().deliver("s1", undefined, "a", "c").detach("s1");
    expect(reported.violationLines()).toEqual(["lost s1 middle"]);
  });

  it("names both values of a contradiction", () => {
    const { violations } = atOnce().deliver("s1", undefined, "a", "c", "b").settle().check();
    expect(violations[0]?.text).toBe(
      "s1 received c before b, and others received them in the other order",
    );
  });

  it("allows a value on each of two channels, and not one of another channel", () => {
    const reported = new HistoryBuilder("none").subscribe("s1");
    reported.add({
      process: "publisher",
      type: "invoke",
      f: "publish",
      channel: "none:b",
      value: "a",
    });
    expect(reported.deliver("s1", undefined, "a").violationLines()).toEqual(["invented s1"]);
    const both = new HistoryBuilder("none").subscribe("s1").invoke("a");
    both.add({
      process: "publisher",
      type: "invoke",
      f: "publish",
      channel: "none:b",
      value: "a",
    });
    expect(both.deliver("s1", undefined, "a").violationLines()).toEqual([]);
  });
});
