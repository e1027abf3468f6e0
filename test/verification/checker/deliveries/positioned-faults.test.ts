import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "../history-builder.ts";

/** Two subscribers, and three publications. */
function begun(recovery: "stream" | "cache" = "stream", recoverable = 10): HistoryBuilder {
  const builder = new HistoryBuilder(recovery, recoverable);
  return builder
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .deliver("s2", 1, "a", "b", "c");
}

describe("a history with offsets and one fault", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    [
      "a loss in the middle",
      () => begun().deliver("s1", 1, "a").deliver("s1", 3, "c"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a loss at the beginning",
      () => begun().deliver("s1", 2, "b", "c"),
      ["hole s1", "lost s1 first"],
    ],
    ["a loss at the end", () => begun().deliver("s1", 1, "a", "b"), ["lost s1 last"]],
    ["no delivery at all", () => begun(), ["lost s1 first", "lost s1 first", "lost s1 first"]],
    [
      "a loss until the client left",
      () => begun().deliver("s1", 1, "a").settle().detach("s1", true),
      ["lost s1 last", "lost s1 last"],
    ],
    [
      "a recovery with a hole",
      () => begun().deliver("s1", 1, "a").detach("s1").recover("s1", 1).deliver("s1", 3, "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a recovery from further on",
      () => begun().deliver("s1", 1, "a").detach("s1").recover("s1", 2).deliver("s1", 3, "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a recovery without an earlier position",
      () => begun().deliver("s1", 1, "a", "b", "c").recover("s3", 3),
      ["hole s3"],
    ],
    [
      "a recovery from before",
      () =>
        begun().deliver("s1", 1, "a", "b").detach("s1").recover("s1", 1).deliver("s1", 2, "b", "c"),
      ["forgotten s1"],
    ],
    [
      "a repeated delivery",
      () => begun().deliver("s1", 1, "a", "b").deliver("s1", 2, "b", "c"),
      ["doubled s1"],
    ],
    [
      "two deliveries swapped",
      () => begun().deliver("s1", 1, "a").deliver("s1", 3, "c").deliver("s1", 2, "b"),
      ["hole s1", "swapped s1"],
    ],
    [
      "two values swapped",
      () => begun().deliver("s1", 1, "b", "a", "c"),
      ["swapped s1", "swapped s1"],
    ],
    [
      "an offset with another value",
      () => begun().deliver("s1", 1, "a", "b", "c").invoke("x").acknowledge("x", "publisher", 3),
      ["forgotten publisher"],
    ],
    [
      "an acknowledged order that isn't kept",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .invoke("x")
          .acknowledge("x", "publisher", 5)
          .invoke("y")
          .acknowledge("y", "publisher", 4)
          .deliver("s1", 4, "y", "x")
          .deliver("s2", 4, "y", "x"),
      ["swapped publisher"],
    ],
    [
      "a stream that ends before a delivered offset",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1")
          .subscribe("s1", { recovering: true, offset: 1 })
          .deliver("s1", 2, "b", "c"),
      ["forgotten s1"],
    ],
    [
      "a stream that ends before an offset known long ago",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .pass(60)
          .subscribe("s3", { offset: 0 })
          .deliver("s3", 1, "a", "b", "c"),
      ["forgotten s3"],
    ],
    [
      "another epoch for no reason",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .subscribe("s3", { epoch: "e2", offset: 0 })
          .detach("s1", true)
          .detach("s2", true),
      ["forgotten s3"],
    ],
    [
      "another epoch in an acknowledgement",
      () => {
        const reported = begun()
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1", true)
          .detach("s2", true);
        reported.epoch = "e2";
        return reported.invoke("d").acknowledge("d", "publisher", 1);
      },
      ["forgotten publisher"],
    ],
    [
      "an epoch that was replaced long ago",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1", true)
          .detach("s2", true)
          .forget("stream", "e2")
          .subscribe("s3")
          .pass(60)
          .subscribe("s4", { epoch: "e1", offset: 3 }),
      ["forgotten s4"],
    ],
    [
      "a recovery into another epoch",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .detach("s2", true)
          .detach("s1")
          .forget("stream", "e2")
          .recover("s1", 3),
      ["forgotten s1"],
    ],
    [
      "a refused value delivered later",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .invoke("x")
          .refuse("x")
          .deliver("s1", 4, "x")
          .detach("s2", true),
      ["resurrected s1"],
    ],
    [
      "a refused value delivered before",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .detach("s2", true)
          .invoke("x")
          .deliver("s1", 4, "x")
          .refuse("x"),
      ["resurrected s1"],
    ],
    [
      "something removed that is recovered",
      () =>
        begun()
          .forget("publications")
          .pass(11)
          .detach("s1")
          .pass(11)
          .recover("s1", 0)
          .deliver("s1", 1, "a", "b", "c"),
      ["resurrected s1", "resurrected s1", "resurrected s1"],
    ],
    [
      "one publish at two places",
      () => begun().deliver("s1", 1, "a", "b", "c", "b").deliver("s2", 4, "b"),
      ["republished s1"],
    ],
    ["an unpublished value", () => begun().deliver("s1", 1, "a", "b", "c", "x"), ["invented s1"]],
    [
      "an acknowledgement of nothing",
      () => begun().deliver("s1", 1, "a", "b", "c").acknowledge("x"),
      ["invented publisher"],
    ],
    [
      "a publisher that is answered too early",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .invoke("d", "s1")
          .acknowledge("d", "s1")
          .crash()
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d"),
      ["late s1"],
    ],
    [
      "a recovery denied",
      () =>
        begun().pass(20).deliver("s1", 1, "a").detach("s1").subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "a recovery denied at the top",
      () =>
        begun("stream", 0)
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1")
          .subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "the newest denied with cache recovery",
      () => begun("cache").deliver("s1", 1, "a").detach("s1").subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "an old one for the newest with cache recovery",
      () => begun("cache").pass(11).detach("s1").recover("s1", 0).deliver("s1", 2, "b", "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a jump to what was published after the recovery with cache recovery",
      () =>
        begun("cache")
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1")
          .recover("s1", 3)
          .publish("d", "e")
          .deliver("s1", 5, "e")
          .deliver("s2", 4, "d", "e"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a jump after the first with cache recovery",
      () =>
        begun("cache")
          .publish("d")
          .deliver("s2", 4, "d")
          .deliver("s1", 1, "a")
          .detach("s1")
          .recover("s1", 1)
          .deliver("s1", 2, "b")
          .deliver("s1", 4, "d"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a jump later than recovery with cache recovery",
      () =>
        begun("cache")
          .deliver("s1", 1, "a")
          .detach("s1")
          .recover("s1", 1)
          .deliver("s1", 2, "b")
          .publish("d")
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a delivery without a subscription",
      () =>
        begun().deliver("s1", 1, "a", "b", "c").detach("s1").deliver("s1", 3, "c").recover("s1", 3),
      ["stray s1"],
    ],
    [
      "a delivery after a signal",
      () =>
        begun()
          .deliver("s1", 1, "a", "b")
          .signal("s1")
          .deliver("s1", 3, "c")
          .recover("s1", 2)
          .deliver("s1", 3, "c"),
      ["stray s1"],
    ],
    [
      "a delivery without an offset",
      () => begun().deliver("s1", 1, "a", "b", "c").deliver("s1", undefined, "c"),
      ["hole s1"],
    ],
    [
      "a subscriber that didn't return",
      () => begun().deliver("s1", 1, "a", "b", "c").detach("s1"),
      ["absent s1"],
    ],
    [
      "a subscriber that isn't present",
      () => begun().deliver("s1", 1, "a", "b", "c").settle().presence("id-s2"),
      ["presence s1"],
    ],
    [
      "a present client without a subscription",
      () => begun().deliver("s1", 1, "a", "b", "c").settle().presence("id-s1", "id-s2", "ghost"),
      ["presence prove"],
    ],
  ])("says so: %s", (_, history, wrong) => {
    expect(history().settle().violationLines()).toEqual(wrong);
  });

  it("names values, offsets and epochs", () => {
    const { violations } = begun().deliver("s1", 1, "a").deliver("s1", 3, "c").settle().check();
    expect(violations.map(({ text }) => text)).toEqual([
      "s1 received c at e1:3 after 1",
      "s1 never received b at e1:2",
    ]);
    expect(violations.map(({ time }) => time)).toEqual([14_000, 15_000]);
  });

  it("counts all losses and lists the first few", () => {
    const reported = new HistoryBuilder().subscribe("s1", { offset: 0 }).invoke("x");
    const { violations, violationCounts, lossCounts } = reported.deliver("s1", 1001, "x").check();
    expect(violations).toHaveLength(4);
    expect(violationCounts.get("lost")).toBe(1000);
    expect(lossCounts).toEqual(new Map([["first", 1000]]));
  });

  it("lists a thousand violations and counts the others", () => {
    const reported = new HistoryBuilder();
    for (let count = 0; count < 1100; count++) reported.deliver("s1", 1, "x");
    const { violations, violationCounts } = reported.check();
    expect(violations).toHaveLength(1000);
    expect(violationCounts.get("stray")).toBe(1100);
  });
});
