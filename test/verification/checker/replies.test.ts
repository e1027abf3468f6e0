import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "./history-builder.ts";

/** A subscriber that received one of three publications, and another one that received all. */
function begun(recovery: "stream" | "cache" = "stream", recoverable = 10): HistoryBuilder {
  return new HistoryBuilder(recovery, recoverable)
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .deliver("s2", 1, "a", "b", "c")
    .deliver("s1", 1, "a");
}

describe("a reply without the mark of a requested recovery", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    ["what it missed is there", () => begun().detach("s1").subscribe("s1"), ["needless s1"]],
    [
      "what it missed is there after a signal",
      () => begun().signal("s1").subscribe("s1"),
      ["needless s1"],
    ],
    [
      "the newest is there with cache recovery",
      () => begun("cache").detach("s1").subscribe("s1"),
      ["needless s1"],
    ],
    [
      "its offset is before a delivered one",
      () =>
        begun()
          .deliver("s1", 2, "b", "c")
          .detach("s1")
          .subscribe("s1", { offset: 2 })
          .deliver("s1", 3, "c"),
      ["forgotten s1"],
    ],
    [
      "it recovers with a hole",
      () => begun().detach("s1").recover("s1", 2, { recovering: false }).deliver("s1", 3, "c"),
      ["hole s1", "lost s1 first"],
    ],
  ])("is judged as if it did: %s", (_, history, wrong) => {
    expect(history().settle().violationLines()).toEqual(wrong);
  });

  it.each<[string, () => HistoryBuilder]>([
    ["a client that forgot its position", () => begun().detach("s1", true).subscribe("s1")],
    ["a client that missed too much", () => begun("stream", 1).detach("s1").subscribe("s1")],
    ["a client that was never subscribed", () => begun().detach("s1", true).subscribe("s3")],
    [
      "a client that recovers all the same",
      () => begun().detach("s1").recover("s1", 1, { recovering: false }).deliver("s1", 2, "b", "c"),
    ],
    [
      "whom nothing is promised",
      () => {
        const reported = new HistoryBuilder("none", 10).publish("a", "b");
        return reported
          .subscribe("s1", { epoch: "e1", offset: 2 })
          .detach("s1")
          .subscribe("s1", { epoch: "e1", offset: 1 });
      },
    ],
  ])("may be given to %s", (_, history) => {
    expect(history().settle().violationLines()).toEqual([]);
  });
});

/**
 * Two subscribers are told e1:7 and e1:9 when only three publications are known; d and e are invoked between the
 * replies.
 */
function claimed(): HistoryBuilder {
  return begun()
    .deliver("s1", 2, "b", "c")
    .invoke("early")
    .subscribe("s3", { offset: 7 })
    .invoke("d")
    .subscribe("s4", { offset: 9 })
    .invoke("e");
}

describe("a reply beyond all known offsets", () => {
  it("is reported once for each publication that began later and has such an offset", () => {
    const history = claimed()
      .acknowledge("early", "publisher", 4)
      .acknowledge("d", "publisher", 7)
      .acknowledge("e", "publisher", 9)
      .deliver("s1", 4, "early");
    const { violations } = history.acknowledge("d", "publisher", 7).check();
    expect(violations.map(({ kind, process, text }) => `${kind} ${process}: ${text}`)).toEqual([
      "forgotten s3: s3 was told that the stream is at e1:7 before d was published there, at 7",
      "forgotten s4: s4 was told that the stream is at e1:9 before e was published there, at 9",
    ]);
  });

  it("is reported when a subscriber is the first to state an offset", () => {
    expect(claimed().deliver("s1", 4, "early", "d", "e").violationLines()).toEqual([
      "forgotten s3",
      "forgotten s3",
    ]);
  });

  it("may include publications that began before; larger offsets don't matter", () => {
    const history = claimed()
      .acknowledge("early", "publisher", 7)
      .acknowledge("d", "publisher", 8)
      .acknowledge("e", "publisher", 10);
    expect(history.violationLines()).toEqual([]);
  });

  it("doesn't matter to another epoch", () => {
    const history = claimed().forget("stream", "e2").subscribe("s5");
    expect(history.acknowledge("d", "publisher", 1).violationLines()).toEqual([]);
  });
});
