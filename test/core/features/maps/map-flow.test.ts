import { describe, expect, it } from "vitest";
import { unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { ask, at, denied, error, malformed, newFixture, parallel } from "./map-fixture.ts";
import { subscriptionToken } from "../../session/verified-tokens.ts";

const emptyPage = { outcome: "page", publications: [], position: at(1) } as const;
const unsubscribed =
  '{"push":{"channel":"kept:a","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}';

describe("a request of a map's flow", () => {
  it("[Z32] is refused while another one is being answered", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    expect(fixture.ask(connection, ask(3, "kept:a"))).toStrictEqual([parallel(3)]);
    fixture.channels.answerPage("kept:a", {
      outcome: "page",
      publications: [],
      cursor: "k",
      position: at(1),
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"cursor":"k"}}',
    ]);
  });

  it("[Z16] is answered with a temporary error after an eviction, and the client starts again", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [], cursor: "k", position: at(1) } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", page);
    connection.takeSent();
    fixture.wake(connection);
    expect(fixture.ask(connection, ask(3, "kept:a", { cursor: "k", ...at(1) }))).toStrictEqual([
      parallel(3),
    ]);
    expect(fixture.ask(connection, ask(4, "kept:a", { phase: 1, ...at(1) }))).toStrictEqual([
      parallel(4),
    ]);
    expect(fixture.ask(connection, ask(5, "kept:a", { cursor: "k" }))).toStrictEqual([denied(5)]);
    fixture.send(connection, ask(6, "kept:a"));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 100 });
  });

  it("[Z15] that asks for neither the state nor the stream begins at the top", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 0 }));
    expect(channels.optionsOf("kept:a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: true,
    });
    channels.acceptSubscribe("kept:a", { position: at(3) });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e","offset":3,"type":1}}',
    ]);
  });

  it("[Z15] with an unknown phase, or for a stream that the map hasn't, is answered 107", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, ask(2, "kept:a", { phase: 3 }))).toStrictEqual([malformed(2)]);
    const stream = { phase: 1, recover: true, ...at(1) };
    expect(fixture.ask(connection, ask(3, "brief:a", stream))).toStrictEqual([malformed(3)]);
    expect(connection.session.subscriptions.size).toBe(0);
  });

  it("[A1] is answered 103 if the namespace's channels are of another type", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, ask(2, "plain:a"))).toStrictEqual([denied(2)]);
    const plain = '{"id":3,"subscribe":{"channel":"kept:a"}}';
    expect(fixture.ask(connection, plain)).toStrictEqual([denied(3)]);
    expect(fixture.ask(connection, ask(4, "kept:a", { type: 2 }))).toStrictEqual([denied(4)]);
    expect(fixture.ask(connection, ask(5, "none:a"))).toStrictEqual([
      error(5, 102, "unknown channel"),
    ]);
  });

  it("[Z17] that comes too late closes the connection with 3008, and so does one that never comes", () => {
    for (const comes of [true, false]) {
      const fixture = newFixture();
      const connection = fixture.connected();
      fixture.send(connection, ask(2, "kept:a"));
      const position = at(1);
      fixture.channels.answerPage("kept:a", {
        outcome: "page",
        publications: [],
        cursor: "k",
        position,
      });
      connection.takeSent();
      if (comes) {
        fixture.nowMs += 5_001;
        fixture.send(connection, ask(3, "kept:a", { cursor: "k", ...position }));
      } else fixture.pass(connection, 25_000);
      expect(connection.takeSent()).toStrictEqual(["close 3008 slow"]);
      expect(fixture.channels.takeCalls()).toStrictEqual(["page kept:a"]);
    }
  });

  it("[Z32] [Q2] asks for permission with the first one only", () => {
    const fixture = newFixture();
    const { channels, backend } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "asked:a"));
    backend.answer({ result: { data: { from: "backend" } } });
    const page = { outcome: "page", publications: [], position: at(0) } as const;
    channels.answerPage("asked:a", { ...page, cursor: "k" });
    fixture.send(connection, ask(3, "asked:a", { cursor: "k", epoch: "e" }));
    channels.answerPage("asked:a", { ...page, cursor: "" });
    channels.acceptSubscribe("asked:a", { position: at(0), recovered: true });
    expect(backend.takeAsked()).toHaveLength(1);
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","type":1,"phase":2,"cursor":"k"}}',
      '{"id":3,"subscribe":{"recoverable":true,"epoch":"e","data":{"from":"backend"},"type":1}}',
    ]);
    const token = subscriptionToken({ channel: "kept:a" });
    fixture.send(connection, ask(4, "kept:a"), token);
    channels.answerPage("kept:a", { ...page, cursor: "k" });
    connection.takeSent();
    fixture.send(connection, ask(5, "kept:a", { cursor: "k", epoch: "e" }));
    expect(channels.pageOf("kept:a")).toMatchObject({ cursor: "k" });
  });

  const ended = [
    ["between two pages", "k", false, false],
    ["while a page is read", "k", true, false],
    ["while it begins", "", false, true],
  ] as const;

  it.each(ended)(
    "[U2] [G5] comes to nothing if an order ends the subscription %s",
    (_, cursor, isReading, isBeginning) => {
      const fixture = newFixture();
      const { channels } = fixture;
      const connection = fixture.connected();
      const end = (): void => connection.session.unsubscribe("kept:a", unsubscribeCodes.server);
      fixture.send(connection, ask(2, "kept:a"));
      if (isReading) end();
      channels.answerPage("kept:a", { ...emptyPage, cursor });
      if (!isReading) end();
      if (isBeginning) channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
      const page = '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"cursor":"k"}}';
      expect(connection.takeSent()).toStrictEqual(
        isReading || isBeginning ? [unsubscribed, denied(2)] : [page, unsubscribed],
      );
      expect(channels.known).toStrictEqual([]);
      expect(connection.session.subscriptions.size).toBe(0);
      const next = ask(3, "kept:a", { cursor: "k", ...at(1) });
      expect(fixture.ask(connection, next)).toStrictEqual([parallel(3)]);
      fixture.send(connection, ask(4, "kept:a"));
      channels.answerPage("kept:a", { ...emptyPage, cursor: "" });
      channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
      expect(connection.takeSent()).toStrictEqual([
        '{"id":4,"subscribe":{"recoverable":true,"epoch":"e","offset":1,"type":1}}',
      ]);
    },
  );

  it("[G1] [Z32] [G5] takes a place of the connection, until the client unsubscribes or is gone", () => {
    const fixture = newFixture({ client: { channel_limit: 1 } });
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [], cursor: "k", position: at(1) } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", page);
    connection.takeSent();
    expect(fixture.ask(connection, ask(3, "kept:b"))).toStrictEqual([
      error(3, 106, "limit exceeded"),
    ]);
    expect(fixture.ask(connection, '{"id":4,"unsubscribe":{"channel":"kept:a"}}')).toStrictEqual([
      '{"id":4,"unsubscribe":{}}',
    ]);
    fixture.send(connection, ask(5, "kept:b"));
    connection.session.ended();
    channels.answerPage("kept:b", page);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "page kept:b"]);
  });

  it("[A13] is in the log with the reason, if it is refused", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "plain:a"));
    fixture.send(connection, ask(3, "kept:a", { cursor: "k" }));
    fixture.send(connection, ask(4, "kept:a", { cursor: "k", epoch: "e" }));
    expect(fixture.refusals).toMatchObject([
      { rule: "W1", reason: "namespace plain: subscription_type is stream", code: 103 },
      { rule: "Z16", reason: "the cursor is of no page that the client has read", code: 103 },
      {
        rule: "Z16",
        reason: "the object has lost its memory of the pages",
        code: 113,
      },
    ]);
  });
});
