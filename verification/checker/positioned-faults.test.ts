import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "./history-builder.ts";

/** Two subscribers, and three publications. */
function begun(recovery: "stream" | "cache" = "stream", recoverable = 10): HistoryBuilder {
  const builder = new HistoryBuilder(recovery, recoverable);
  return builder
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .hear("s2", 1, "a", "b", "c");
}

describe("a history with offsets in which one thing is wrong", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    [
      "a loss in the middle",
      () => begun().hear("s1", 1, "a").hear("s1", 3, "c"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a loss at the beginning",
      () => begun().hear("s1", 2, "b", "c"),
      ["hole s1", "lost s1 first"],
    ],
    ["a loss at the end", () => begun().hear("s1", 1, "a", "b"), ["lost s1 last"]],
    ["nothing heard at all", () => begun(), ["lost s1 first", "lost s1 first", "lost s1 first"]],
    [
      "a loss told of when it left",
      () => begun().hear("s1", 1, "a").settle().detach("s1", true),
      ["lost s1 last", "lost s1 last"],
    ],
    [
      "a recovery with a hole",
      () => begun().hear("s1", 1, "a").detach("s1").recover("s1", 1).hear("s1", 3, "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a recovery from further on",
      () => begun().hear("s1", 1, "a").detach("s1").recover("s1", 2).hear("s1", 3, "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a recovery from nowhere",
      () => begun().hear("s1", 1, "a", "b", "c").recover("s3", 3),
      ["hole s3"],
    ],
    [
      "a recovery from before",
      () => begun().hear("s1", 1, "a", "b").detach("s1").recover("s1", 1).hear("s1", 2, "b", "c"),
      ["forgotten s1"],
    ],
    [
      "a repeated delivery",
      () => begun().hear("s1", 1, "a", "b").hear("s1", 2, "b", "c"),
      ["doubled s1"],
    ],
    [
      "two deliveries swapped",
      () => begun().hear("s1", 1, "a").hear("s1", 3, "c").hear("s1", 2, "b"),
      ["hole s1", "swapped s1"],
    ],
    [
      "two values swapped",
      () => begun().hear("s1", 1, "b", "a", "c"),
      ["swapped s1", "swapped s1"],
    ],
    [
      "an offset with another value",
      () => begun().hear("s1", 1, "a", "b", "c").invoke("x").acknowledge("x", "publisher", 3),
      ["forgotten publisher"],
    ],
    [
      "an acknowledged order that isn't kept",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .invoke("x")
          .acknowledge("x", "publisher", 5)
          .invoke("y")
          .acknowledge("y", "publisher", 4)
          .hear("s1", 4, "y", "x")
          .hear("s2", 4, "y", "x"),
      ["swapped publisher"],
    ],
    [
      "a stream that stands before what it heard",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .detach("s1")
          .subscribe("s1", { recovering: true, offset: 1 })
          .hear("s1", 2, "b", "c"),
      ["forgotten s1"],
    ],
    [
      "a stream that stands before what was known long ago",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .pass(60)
          .subscribe("s3", { offset: 0 })
          .hear("s3", 1, "a", "b", "c"),
      ["forgotten s3"],
    ],
    [
      "another epoch for no reason",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .subscribe("s3", { epoch: "e2", offset: 0 })
          .detach("s1", true)
          .detach("s2", true),
      ["forgotten s3"],
    ],
    [
      "another epoch in an acknowledgement",
      () => {
        const reported = begun().hear("s1", 1, "a", "b", "c").detach("s1", true).detach("s2", true);
        reported.epoch = "e2";
        return reported.invoke("d").acknowledge("d", "publisher", 1);
      },
      ["forgotten publisher"],
    ],
    [
      "an epoch that was replaced long ago",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
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
          .hear("s1", 1, "a", "b", "c")
          .detach("s2", true)
          .detach("s1")
          .forget("stream", "e2")
          .recover("s1", 3),
      ["forgotten s1"],
    ],
    [
      "a refused value heard later",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .invoke("x")
          .refuse("x")
          .hear("s1", 4, "x")
          .detach("s2", true),
      ["resurrected s1"],
    ],
    [
      "a refused value heard before",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .detach("s2", true)
          .invoke("x")
          .hear("s1", 4, "x")
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
          .hear("s1", 1, "a", "b", "c"),
      ["resurrected s1", "resurrected s1", "resurrected s1"],
    ],
    [
      "one publish at two places",
      () => begun().hear("s1", 1, "a", "b", "c", "b").hear("s2", 4, "b"),
      ["republished s1"],
    ],
    [
      "a value that nobody published",
      () => begun().hear("s1", 1, "a", "b", "c", "x"),
      ["invented s1"],
    ],
    [
      "an acknowledgement of nothing",
      () => begun().hear("s1", 1, "a", "b", "c").acknowledge("x"),
      ["invented publisher"],
    ],
    [
      "a publisher told too soon",
      () =>
        begun()
          .hear("s1", 1, "a", "b", "c")
          .invoke("d", "s1")
          .acknowledge("d", "s1")
          .crash()
          .hear("s1", 4, "d")
          .hear("s2", 4, "d"),
      ["late s1"],
    ],
    [
      "a recovery denied",
      () => begun().pass(20).hear("s1", 1, "a").detach("s1").subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "a recovery denied at the top",
      () =>
        begun("stream", 0)
          .hear("s1", 1, "a", "b", "c")
          .detach("s1")
          .subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "the newest denied with cache recovery",
      () => begun("cache").hear("s1", 1, "a").detach("s1").subscribe("s1", { recovering: true }),
      ["needless s1"],
    ],
    [
      "an old one for the newest with cache recovery",
      () => begun("cache").pass(11).detach("s1").recover("s1", 0).hear("s1", 2, "b", "c"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a jump to what was published after the recovery with cache recovery",
      () =>
        begun("cache")
          .hear("s1", 1, "a", "b", "c")
          .detach("s1")
          .recover("s1", 3)
          .publish("d", "e")
          .hear("s1", 5, "e")
          .hear("s2", 4, "d", "e"),
      ["hole s1", "lost s1 first"],
    ],
    [
      "a jump after the first with cache recovery",
      () =>
        begun("cache")
          .publish("d")
          .hear("s2", 4, "d")
          .hear("s1", 1, "a")
          .detach("s1")
          .recover("s1", 1)
          .hear("s1", 2, "b")
          .hear("s1", 4, "d"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a jump later than recovery with cache recovery",
      () =>
        begun("cache")
          .hear("s1", 1, "a")
          .detach("s1")
          .recover("s1", 1)
          .hear("s1", 2, "b")
          .publish("d")
          .hear("s1", 4, "d")
          .hear("s2", 4, "d"),
      ["hole s1", "lost s1 middle"],
    ],
    [
      "a delivery to nobody",
      () => begun().hear("s1", 1, "a", "b", "c").detach("s1").hear("s1", 3, "c").recover("s1", 3),
      ["stray s1"],
    ],
    [
      "a delivery after a signal",
      () =>
        begun()
          .hear("s1", 1, "a", "b")
          .signal("s1")
          .hear("s1", 3, "c")
          .recover("s1", 2)
          .hear("s1", 3, "c"),
      ["stray s1"],
    ],
    [
      "a delivery without an offset",
      () => begun().hear("s1", 1, "a", "b", "c").hear("s1", undefined, "c"),
      ["hole s1"],
    ],
    [
      "somebody who didn't come back",
      () => begun().hear("s1", 1, "a", "b", "c").detach("s1"),
      ["absent s1"],
    ],
    [
      "somebody who isn't present",
      () => begun().hear("s1", 1, "a", "b", "c").settle().presence("id-s2"),
      ["presence s1"],
    ],
    [
      "somebody present who isn't there",
      () => begun().hear("s1", 1, "a", "b", "c").settle().presence("id-s1", "id-s2", "ghost"),
      ["presence prove"],
    ],
  ])("says so: %s", (_, history, wrong) => {
    expect(history().settle().wrong()).toEqual(wrong);
  });

  it("names values, offsets and epochs", () => {
    const { violations } = begun().hear("s1", 1, "a").hear("s1", 3, "c").settle().verdict();
    expect(violations.map(({ text }) => text)).toEqual([
      "s1 heard c at e1:3 after 1",
      "s1 never heard b at e1:2",
    ]);
    expect(violations.map(({ time }) => time)).toEqual([14_000, 15_000]);
  });

  it("counts all that is missing and tells of the first few", () => {
    const reported = new HistoryBuilder().subscribe("s1", { offset: 0 }).invoke("x");
    const { violations, violationCounts, lossCounts } = reported.hear("s1", 1001, "x").verdict();
    expect(violations).toHaveLength(4);
    expect(violationCounts.get("lost")).toBe(1000);
    expect(lossCounts).toEqual(new Map([["first", 1000]]));
  });

  it("tells of a thousand and counts the others", () => {
    const reported = new HistoryBuilder();
    for (let count = 0; count < 1100; count++) reported.hear("s1", 1, "x");
    const { violations, violationCounts } = reported.verdict();
    expect(violations).toHaveLength(1000);
    expect(violationCounts.get("stray")).toBe(1100);
  });
});
