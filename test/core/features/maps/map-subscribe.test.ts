import { describe, expect, it } from "vitest";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import { ask, at, entry, error, lost, newFixture } from "./map-fixture.ts";
import { expiredToken, subscriptionToken } from "../../session/verified-tokens.ts";

describe("a client that synchronises a map", () => {
  it("[Z15] gets a small map and its subscription in one reply", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 100 });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2, { tags: { t: "v" } })],
      cursor: "",
      position: at(2),
    });
    expect(channels.optionsOf("kept:a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: true,
      since: at(2),
    });
    expect(connection.takeSent()).toStrictEqual([]);
    channels.acceptSubscribe("kept:a", {
      position: at(3),
      recovered: true,
      publications: [entry("a", 3, { removed: true, data: json('""') })],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        '"publications":[{"offset":3,"key":"a","removed":true}],"offset":3,"type":1,' +
        '"state":[{"data":"a1","offset":1,"key":"a"},{"data":"b2","offset":2,"tags":{"t":"v"},"key":"b"}]}}',
    ]);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "join kept:a", "announce kept:a"]);
    expect(connection.saved.subscriptions).toMatchObject([
      { channel: "kept:a", recoverable: true },
    ]);
    expect(fixture.ask(connection, ask(3, "kept:a"))).toStrictEqual([
      error(3, 105, "already subscribed"),
    ]);
  });

  it("[Z15] gets a large map in pages as of the first one, and then what was changed since", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { limit: 2 }));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 2 });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2)],
      cursor: "b",
      position: at(9),
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":9,"type":1,"phase":2,"cursor":"b",' +
        '"state":[{"data":"a1","offset":1,"key":"a"},{"data":"b2","offset":2,"key":"b"}]}}',
    ]);
    fixture.send(connection, ask(3, "kept:a", { limit: 2, cursor: "b", ...at(9) }));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "b", limit: 2, since: at(9) });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("d", 4)],
      cursor: "",
      position: at(12),
    });
    expect(channels.optionsOf("kept:a")).toMatchObject({ since: at(9), readOffset: 12 });
    channels.acceptSubscribe("kept:a", {
      position: at(10),
      recovered: true,
      publications: [entry("c", 10)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":3,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"c10","offset":10,"key":"c"}],' +
        '"offset":10,"type":1,"state":[{"data":"d4","offset":4,"key":"d"}]}}',
    ]);
  });

  it("[Z15] of an ephemeral map is told no offset, and not that it can recover", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "brief:a"));
    channels.answerPage("brief:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "a",
      position: at(7),
    });
    fixture.send(connection, ask(3, "brief:a", { cursor: "a", epoch: "e" }));
    channels.answerPage("brief:a", {
      outcome: "page",
      publications: [entry("b", 2)],
      cursor: "",
      position: at(7),
    });
    expect(channels.optionsOf("brief:a")).toMatchObject({ positioned: true, since: at(7) });
    channels.acceptSubscribe("brief:a", {
      position: at(8),
      recovered: true,
      publications: [entry("a", 8)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","type":1,"phase":2,"cursor":"a","state":[{"data":"a1","key":"a"}]}}',
      '{"id":3,"subscribe":{"epoch":"e","publications":[{"data":"a8","key":"a"}],"type":1,' +
        '"state":[{"data":"b2","key":"b"}]}}',
    ]);
  });

  it("[Z31] that is too far behind reads the stream in pages before it is subscribed", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "",
      position: at(1),
    });
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    fixture.send(connection, ask(3, "kept:a", { phase: 1, limit: 2, ...at(1) }));
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    expect(channels.streamOf("kept:a")).toStrictEqual({ since: at(1), limit: 2 });
    channels.answerStream("kept:a", {
      outcome: "history",
      publications: [entry("b", 2), entry("b", 3)],
      position: at(400),
    });
    fixture.send(connection, ask(4, "kept:a", { phase: 1, limit: 2, ...at(3) }));
    expect(channels.optionsOf("kept:a").since).toStrictEqual(at(3));
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("b", 4)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"state":[{"data":"a1","offset":1,"key":"a"}]}}',
      '{"id":3,"subscribe":{"epoch":"e","publications":[{"data":"b2","offset":2,"key":"b"},{"data":"b3","offset":3,"key":"b"}],' +
        '"offset":3,"type":1,"phase":1}}',
      '{"id":4,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"b4","offset":4,"key":"b"}],"offset":4,"type":1}}',
    ]);
  });

  it("[Z15] is answered 112 if the stream doesn't reach back, or the epoch is another meanwhile", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [entry("a", 1)], cursor: "a" } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", { ...page, position: at(1) });
    connection.takeSent();
    expect(fixture.ask(connection, ask(3, "kept:a", { cursor: "a", ...at(1, "f") }))).toStrictEqual(
      [lost(3)],
    );
    fixture.send(connection, ask(4, "kept:a"));
    channels.answerPage("kept:a", { ...page, position: at(1) });
    connection.takeSent();
    fixture.send(connection, ask(5, "kept:a", { cursor: "a", ...at(1) }));
    channels.answerPage("kept:a", { ...page, position: at(2, "f") });
    expect(connection.takeSent()).toStrictEqual([lost(5)]);
    fixture.send(connection, ask(6, "kept:a", { phase: 1, recover: true, ...at(1) }));
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    channels.answerStream("kept:a", { outcome: "failed", error: errorCodes.unrecoverablePosition });
    expect(connection.takeSent()).toStrictEqual([lost(6)]);
    fixture.send(connection, ask(7, "brief:a"));
    channels.answerPage("brief:a", { ...page, cursor: "", position: at(1) });
    channels.refuseSubscribe("brief:a", { ...errorCodes.unrecoverablePosition });
    expect(connection.takeSent()).toStrictEqual([lost(7)]);
    expect(connection.session.subscriptions.size).toBe(0);
  });

  it("[Z15] recovers from its position, and is told the top", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 1, recover: true, ...at(3) }));
    expect(channels.optionsOf("kept:a")).toMatchObject({ since: at(3), orFail: true });
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("a", 4)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"a4","offset":4,"key":"a"}],' +
        '"recovered":true,"offset":4,"was_recovering":true,"type":1}}',
    ]);
  });

  it("[Z15] [A4] that comes back with an expired token is answered 109, and recovers with a new one", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const back = { phase: 1, recover: true, ...at(3) };
    fixture.send(connection, ask(2, "kept:a", back), expiredToken);
    expect(connection.takeSent()).toStrictEqual([error(2, 109, "token expired")]);
    expect(channels.takeCalls()).toStrictEqual([]);
    const token = subscriptionToken({ channel: "kept:a" });
    fixture.send(connection, ask(3, "kept:a", back), token);
    expect(channels.optionsOf("kept:a")).toMatchObject({ since: at(3), orFail: true });
    channels.acceptSubscribe("kept:a", { position: at(3), recovered: true });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":3,"subscribe":{"recoverable":true,"epoch":"e","recovered":true,"offset":3,' +
        '"was_recovering":true,"type":1}}',
    ]);
  });

  it("[Z15] gets fewer entries in a page than it asked for, if more don't fit into a reply", () => {
    const fixture = newFixture({ client: { queue_max_size: 65_536 } });
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    const large = json(`"${"x".repeat(25_000)}"`);
    const publications = ["a", "b", "c", "d"].map((key) => entry(key, 1, { data: large }));
    channels.answerPage("kept:a", { outcome: "page", publications, cursor: "", position: at(1) });
    channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
    const [page = ""] = connection.takeSent();
    expect(page).toContain('"phase":2,"cursor":"b","state":[{"data":"xxx');
    expect(page.length).toBeLessThan(65_536);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "join kept:a", "leave kept:a"]);
    fixture.send(connection, ask(3, "kept:a", { cursor: "b", ...at(1) }));
    expect(channels.pageOf("kept:a")).toMatchObject({ cursor: "b", since: at(1) });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: publications.slice(2),
      cursor: "",
      position: at(1),
    });
    channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
    expect(connection.takeSent()[0]).toContain('{"recoverable":true');
  });

  it("[Z15] [D4] gets the entries and the changes that its filter lets through", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const tf = { key: "t", cmp: "eq", val: "v" };
    const tags = { t: "v" };
    fixture.send(connection, ask(2, "kept:a", { tf, delta: "fossil" }));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2, { tags })],
      cursor: "",
      position: at(2),
    });
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("a", 3), entry("c", 4, { tags })],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        '"publications":[{"data":"c4","offset":4,"tags":{"t":"v"},"key":"c"}],"offset":4,"type":1,' +
        '"state":[{"data":"b2","offset":2,"tags":{"t":"v"},"key":"b"}]}}',
    ]);
  });

  it("[Z19] with deltas gets the state as texts, from which the deltas are made", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { delta: "fossil" }));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "",
      position: at(1),
    });
    channels.acceptSubscribe("kept:a", {
      position: at(2),
      recovered: true,
      publications: [entry("a", 2)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        String.raw`"publications":[{"data":"\"a2\"","offset":2,"key":"a"}],"offset":2,"delta":true,"type":1,` +
        String.raw`"state":[{"data":"\"a1\"","offset":1,"key":"a"}]}}`,
    ]);
  });
});

describe("a subscription to a map with deltas", () => {
  it("[Z19] stores nothing for a change that it is sent, because each change brings its base", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 0, delta: "fossil" }));
    channels.acceptSubscribe("kept:a", { position: at(0) });
    const before = connection.attachment;
    const subscription = channels.subscription("kept:a");
    expect(subscription.delta).toBe(true);
    subscription.noteSent(entry("a", 1));
    expect(subscription.deltaBase).toBeUndefined();
    expect(connection.attachment).toBe(before);
  });
});
