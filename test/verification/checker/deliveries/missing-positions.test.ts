import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "../history-builder.ts";

/** Two subscribers that received three publications. */
function begun(recovery: "stream" | "cache" = "stream"): HistoryBuilder {
  return new HistoryBuilder(recovery, 10)
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .deliver("s1", 1, "a", "b", "c")
    .deliver("s2", 1, "a", "b", "c");
}

/** One more publication, d, whose publisher gets no position. */
function publishedUnplaced(process = "publisher"): HistoryBuilder {
  return begun().invoke("d", process).acknowledgeUnplaced("d", process);
}

describe("a history in which a position is missing", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    ["a reply to a new subscriber", () => begun().subscribeUnplaced("s3"), ["unpositioned s3"]],
    [
      "a reply with an epoch alone",
      () => begun().subscribeUnplaced("s3", { epoch: "e1" }),
      ["unpositioned s3"],
    ],
    [
      "a reply on a channel with cache recovery",
      () => begun("cache").subscribeUnplaced("s3"),
      ["unpositioned s3"],
    ],
    [
      "a reply to a returning subscriber that never receives the rest",
      () =>
        begun()
          .detach("s1")
          .publish("d")
          .deliver("s2", 4, "d")
          .publish("e")
          .deliver("s2", 5, "e")
          .subscribeUnplaced("s1"),
      ["unpositioned s1", "lost s1 first", "lost s1 first"],
    ],
    [
      "a reply to a returning subscriber that receives the rest later",
      () =>
        begun()
          .detach("s1")
          .subscribeUnplaced("s1")
          .publish("d")
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d"),
      ["unpositioned s1"],
    ],
    [
      "an acknowledgement to a backend",
      () => publishedUnplaced().deliver("s1", 4, "d").deliver("s2", 4, "d"),
      ["unpositioned publisher"],
    ],
    [
      "two acknowledgements of one publish",
      () =>
        publishedUnplaced().acknowledgeUnplaced("d").deliver("s1", 4, "d").deliver("s2", 4, "d"),
      ["unpositioned publisher"],
    ],
    [
      "an acknowledgement of a publication without deliveries",
      () => publishedUnplaced(),
      ["unpositioned publisher", "lost publisher last"],
    ],
    [
      "an acknowledgement of a publication whose position is known from elsewhere, without deliveries",
      () => publishedUnplaced().acknowledge("d", "publisher", 4),
      ["lost s1 last", "lost s2 last", "unpositioned publisher"],
    ],
    [
      "an acknowledgement of a publication that only a subscriber without a position received",
      () =>
        new HistoryBuilder()
          .subscribeUnplaced("s1")
          .invoke("d")
          .acknowledgeUnplaced("d")
          .deliver("s1", 1, "d"),
      ["unpositioned s1", "unpositioned publisher"],
    ],
  ])("says so: %s", (_, history, wrong) => {
    expect(history().settle().violationLines()).toEqual(wrong);
  });

  it("doesn't report a missing delivery before everything has settled", () => {
    expect(publishedUnplaced().violationLines()).toEqual(["unpositioned publisher"]);
  });

  it("names the earlier position and the publication", () => {
    const back = begun().detach("s1").subscribeUnplaced("s1").check();
    expect(back.violations[0]?.text).toBe(
      "s1 was subscribed without a position, and had been at e1:3",
    );
    const texts = publishedUnplaced()
      .settle()
      .check()
      .violations.map(({ text }) => text);
    expect(texts).toEqual([
      "publisher was told that it published d, and not where",
      "nobody ever received d, which publisher was told that it published",
    ]);
  });
});

describe("a history in which no position is missing", () => {
  it.each<[string, () => HistoryBuilder]>([
    [
      "a reply without a position where nothing is promised",
      () => new HistoryBuilder("none").subscribe("s1").publish("a").deliver("s1", undefined, "a"),
    ],
    [
      "a client's publish, whose reply has no position",
      () =>
        begun()
          .invoke("d", "s1")
          .deliver("s1", 4, "d")
          .deliver("s2", 4, "d")
          .acknowledgeUnplaced("d", "s1"),
    ],
    [
      "a client's publish before it subscribes",
      () => publishedUnplaced("s9").deliver("s1", 4, "d").deliver("s2", 4, "d").subscribe("s9"),
    ],
    [
      "a publish of a client of another channel",
      () => {
        const other = { process: "s9", channel: "stream:b" };
        const reported = publishedUnplaced("s9").deliver("s1", 4, "d").deliver("s2", 4, "d");
        const reply = { client: "id-s9", recovering: false, recovered: false };
        const position = { epoch: "e", offset: 0 };
        return reported.add({ ...other, ...reply, ...position, type: "ok", f: "subscribe" });
      },
    ],
    [
      "a publish of a client that only left",
      () => publishedUnplaced("s9").detach("s9", true).deliver("s1", 4, "d").deliver("s2", 4, "d"),
    ],
    [
      "a backend's publish, whose answer has a position",
      () => begun().publish("d").deliver("s1", 4, "d").deliver("s2", 4, "d"),
    ],
  ])("may have %s", (_, history) => {
    expect(history().settle().violationLines()).toEqual([]);
  });
});
