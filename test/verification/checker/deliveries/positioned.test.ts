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

describe("a correct history with offsets", () => {
  it("has no violation, and is counted", () => {
    const { counts, faults, recoveryTimes, violations } = begun()
      .deliver("s1", 1, "a", "b")
      .fault("cut")
      .detach("s1")
      .pass(1)
      .recover("s1", 2)
      .deliver("s1", 3, "c")
      .invoke("d")
      .leaveOpen("d")
      .invoke("e")
      .leaveOpen("e")
      .deliver("s1", 4, "d")
      .deliver("s2", 4, "d")
      .invoke("f")
      .refuse("f")
      .settle()
      .presence("id-s1", "id-s2")
      .check();
    expect(violations).toEqual([]);
    expect(faults).toEqual(new Map([["cut", 1]]));
    expect(recoveryTimes).toEqual([1_001_000]);
    expect(counts).toEqual({
      deliveries: 8,
      mapStates: 0,
      marks: 0,
      unreadCounts: 0,
      arrivals: 0,
      receipts: 0,
      receiptStates: 0,
      mapChanges: 0,
      growth: { texts: 0, appends: 0, takenBack: 0, shown: 0, states: 0 },
      banks: { transfers: 0, promises: 0, statements: 0 },
      changes: { published: 0, changes: 0, shown: 0, reads: 0 },
      orders: 0,
      calls: 0,
      repeatedEvents: 0,
      published: 6,
      acknowledged: 3,
      refused: 1,
      unknown: 2,
      unknownReceived: 1,
      subscribers: 2,
      channels: 1,
      recoveries: 1,
      failedRecoveries: 0,
      signals: 0,
      presenceChecks: 1,
    });
  });

  it.each<[string, () => HistoryBuilder]>([
    [
      "a signal before what is missing",
      () => begun("stream", 1).deliver("s1", 1, "a").signal("s1").subscribe("s1"),
    ],
    [
      "too much missed to recover",
      () =>
        begun("stream", 1).deliver("s1", 1, "a").detach("s1").subscribe("s1", { recovering: true }),
    ],
    [
      "a failed recovery after a removal",
      () => begun().forget("publications").detach("s1").subscribe("s1", { recovering: true }),
    ],
    [
      "nothing promised to recover",
      () =>
        new HistoryBuilder()
          .subscribe("s1")
          .publish("a")
          .detach("s1")
          .subscribe("s1", { recovering: true }),
    ],
    [
      "another epoch after it was forgotten",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .forget("stream", "e2")
          .signal("s1")
          .signal("s2")
          .subscribe("s1")
          .subscribe("s2")
          .publish("d")
          .deliver("s1", 1, "d")
          .deliver("s2", 1, "d"),
    ],
    ["a subscriber that left for good", () => begun().deliver("s1", 1, "a").detach("s1", true)],
    [
      "a gateway that is behind",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .subscribe("s3", { offset: 1 })
          .deliver("s3", 2, "b", "c"),
    ],
    [
      "a retried publish with the same position",
      () => begun().deliver("s1", 1, "a", "b", "c").acknowledge("b", "publisher", 2),
    ],
    [
      "a recovery just after a removal",
      () =>
        begun()
          .detach("s1")
          .forget("publications")
          .recover("s1", 0)
          .deliver("s1", 1, "a", "b", "c"),
    ],
    [
      "the newest alone, with cache recovery",
      () => begun("cache").detach("s1").recover("s1", 0).deliver("s1", 3, "c"),
    ],
    [
      "the newest of another epoch, with cache recovery",
      () =>
        begun("cache")
          .deliver("s1", 1, "a", "b", "c")
          .detach("s1")
          .forget("stream", "e2")
          .signal("s2")
          .publish("d")
          .recover("s1", 3)
          .deliver("s1", 1, "d")
          .recover("s2", 3)
          .deliver("s2", 1, "d"),
    ],
    [
      "the newest publication for a client that doesn't ask to recover",
      () =>
        begun("cache")
          .deliver("s1", 1, "a", "b", "c")
          .subscribe("s3", { recovered: true, offset: 0 })
          .deliver("s3", 3, "c"),
    ],
    [
      "a publisher that receives its own publication first",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .invoke("d", "s1")
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d")
          .acknowledge("d", "s1"),
    ],
    [
      "a publisher that was cut meanwhile",
      () =>
        begun()
          .deliver("s1", 1, "a", "b", "c")
          .invoke("d", "s1")
          .detach("s1")
          .recover("s1", 3)
          .acknowledge("d", "s1")
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d"),
    ],
  ])("may have %s", (_, history) => {
    expect(history().settle().violationLines()).toEqual([]);
  });

  it("isn't checked for missing publications at its end before everything has settled", () => {
    expect(begun().detach("s2").violationLines()).toEqual([]);
  });
});
