import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "./history-builder.ts";

/** Two subscribers that received three publications. */
function begun(recovery: "stream" | "cache" = "stream"): HistoryBuilder {
  return new HistoryBuilder(recovery, 10)
    .subscribe("s1")
    .subscribe("s2")
    .publish("a", "b", "c")
    .hear("s1", 1, "a", "b", "c")
    .hear("s2", 1, "a", "b", "c");
}

/** One more publication, d, whose publisher gets no position. */
function publishedNowhere(process = "publisher"): HistoryBuilder {
  return begun().invoke("d", process).acknowledgeNowhere("d", process);
}

describe("a history in which a position is missing", () => {
  it.each<[string, () => HistoryBuilder, readonly string[]]>([
    ["a reply to a new subscriber", () => begun().subscribeNowhere("s3"), ["unpositioned s3"]],
    [
      "a reply with an epoch alone",
      () => begun().subscribeNowhere("s3", { epoch: "e1" }),
      ["unpositioned s3"],
    ],
    [
      "a reply on a channel with cache recovery",
      () => begun("cache").subscribeNowhere("s3"),
      ["unpositioned s3"],
    ],
    [
      "a reply to who came back and never hears the rest",
      () =>
        begun()
          .detach("s1")
          .publish("d")
          .hear("s2", 4, "d")
          .publish("e")
          .hear("s2", 5, "e")
          .subscribeNowhere("s1"),
      ["unpositioned s1", "lost s1 first", "lost s1 first"],
    ],
    [
      "a reply to who came back and hears the rest later",
      () =>
        begun()
          .detach("s1")
          .subscribeNowhere("s1")
          .publish("d")
          .hear("s1", 4, "d")
          .hear("s2", 4, "d"),
      ["unpositioned s1"],
    ],
    [
      "an acknowledgement to a backend",
      () => publishedNowhere().hear("s1", 4, "d").hear("s2", 4, "d"),
      ["unpositioned publisher"],
    ],
    [
      "two acknowledgements of one publish",
      () => publishedNowhere().acknowledgeNowhere("d").hear("s1", 4, "d").hear("s2", 4, "d"),
      ["unpositioned publisher"],
    ],
    [
      "an acknowledgement of what nobody ever heard",
      () => publishedNowhere(),
      ["unpositioned publisher", "lost publisher last"],
    ],
    [
      "an acknowledgement of what another one placed and nobody heard",
      () => publishedNowhere().acknowledge("d", "publisher", 4),
      ["lost s1 last", "lost s2 last", "unpositioned publisher"],
    ],
    [
      "an acknowledgement of what only somebody without a position heard",
      () =>
        new HistoryBuilder()
          .subscribeNowhere("s1")
          .invoke("d")
          .acknowledgeNowhere("d")
          .hear("s1", 1, "d"),
      ["unpositioned s1", "unpositioned publisher"],
    ],
  ])("says so: %s", (_, history, wrong) => {
    expect(history().settle().wrong()).toEqual(wrong);
  });

  it("doesn't say that nobody heard something before all has settled", () => {
    expect(publishedNowhere().wrong()).toEqual(["unpositioned publisher"]);
  });

  it("names where it had been, and what was published", () => {
    const back = begun().detach("s1").subscribeNowhere("s1").verdict();
    expect(back.violations[0]?.text).toBe(
      "s1 was subscribed without a position, and had been at e1:3",
    );
    const texts = publishedNowhere()
      .settle()
      .verdict()
      .violations.map(({ text }) => text);
    expect(texts).toEqual([
      "publisher was told that it published d, and not where",
      "nobody ever heard d, which publisher was told that it published",
    ]);
  });
});

describe("a history in which no position is missing", () => {
  it.each<[string, () => HistoryBuilder]>([
    [
      "a reply without a position where nothing is promised",
      () => new HistoryBuilder("none").subscribe("s1").publish("a").hear("s1", undefined, "a"),
    ],
    [
      "a client's publish, which isn't told where it stands",
      () =>
        begun()
          .invoke("d", "s1")
          .hear("s1", 4, "d")
          .hear("s2", 4, "d")
          .acknowledgeNowhere("d", "s1"),
    ],
    [
      "a client's publish before it subscribes",
      () => publishedNowhere("s9").hear("s1", 4, "d").hear("s2", 4, "d").subscribe("s9"),
    ],
    [
      "a publish of a client of another channel",
      () => {
        const other = { process: "s9", channel: "stream:b" };
        const reported = publishedNowhere("s9").hear("s1", 4, "d").hear("s2", 4, "d");
        const reply = { client: "id-s9", recovering: false, recovered: false };
        const position = { epoch: "e", offset: 0 };
        return reported.tell({ ...other, ...reply, ...position, type: "ok", f: "subscribe" });
      },
    ],
    [
      "a publish of a client that only left",
      () => publishedNowhere("s9").detach("s9", true).hear("s1", 4, "d").hear("s2", 4, "d"),
    ],
    [
      "a backend's publish that is told where it stands",
      () => begun().publish("d").hear("s1", 4, "d").hear("s2", 4, "d"),
    ],
  ])("may have %s", (_, history) => {
    expect(history().settle().wrong()).toEqual([]);
  });
});
