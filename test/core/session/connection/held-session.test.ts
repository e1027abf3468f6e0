import { describe, expect, it } from "vitest";
import type { NumberedOrder } from "../../../../src/contract/user-order.ts";
import { disconnectCodes } from "../../../../src/protocol/codes.ts";
import { ScriptedHome } from "../../users/scripted-home.ts";
import { publish, pushed, subscribe, subscribed } from "../frames.ts";
import { HeldFixture } from "../held-fixture.ts";
import { eventsOf, openedOutbox, typesIn } from "../../features/events/session-events-fixture.ts";
import { connectionToken } from "../verified-tokens.ts";

const connect = `{"id":1,"connect":{}}`;
const disconnected = "close 3503 force disconnect";

function disconnectOrder(number: number, more: object = {}): NumberedOrder {
  return {
    number,
    order: { method: "disconnect", code: disconnectCodes.forceDisconnect, ...more },
  };
}

const unsubscribeOrder = (number: number, channel: string): NumberedOrder => ({
  number,
  order: { method: "unsubscribe", channel },
});

const told = (channel: string) =>
  `{"push":{"channel":"${channel}","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;

describe("a session whose user's home is asked", () => {
  it("[U4] gets nothing until the home answers, and then all of it in order", () => {
    const fixture = new HeldFixture();
    const connection = fixture.held("42", [connect, subscribe(2, "news")].join("\n"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["join news"]);
    fixture.channels.acceptSubscribe("news");
    fixture.channels.push("news", "1");
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.home.answer(7);
    const [connected, ...rest] = connection.takeSent();
    expect(connected).toContain('"connect"');
    expect(rest).toStrictEqual([subscribed(2), pushed("news", "1")]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce news"]);
    expect(connection.saved).toMatchObject({ phase: "connected", lastOrder: 7 });
  });

  it("[U4] is stored as one that hasn't connected, so that a crash lets nothing reach it", () => {
    const fixture = new HeldFixture();
    const connection = fixture.held("42", [connect, subscribe(2, "news")].join("\n"));
    fixture.channels.acceptSubscribe("news");
    expect(connection.saved).toMatchObject({ phase: "new", subscriptions: [] });
  });

  it("[U39] has its other commands wait, in order", () => {
    const fixture = new HeldFixture();
    const frame = [connect, publish(2, "a"), subscribe(3, "b"), publish(4, "b")];
    const connection = fixture.held("42", frame.join("\n"));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.home.answer(0);
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish a 2", "join b"]);
    fixture.channels.acceptSubscribe("b");
    expect(connection.takeSent()[1]).toBe(subscribed(3));
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce b", "publish b 4"]);
  });

  it("[U4] is told to come again if the home doesn't answer, and leaves nothing behind", () => {
    const fixture = new HeldFixture();
    const before = fixture.admitted("43");
    const connection = fixture.held("42", [connect, subscribe(2, "news")].join("\n"));
    fixture.channels.acceptSubscribe("news");
    fixture.home.answer(undefined);
    expect(connection.takeSent()).toStrictEqual(["close 3004 internal server error"]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join news", "leave news"]);
    expect(before.takeSent()).toStrictEqual([]);
    fixture.held("42");
    expect(fixture.home.calls).toHaveLength(1);
  });

  it("[U9] is closed for good if the user is blocked, and the home is asked again", () => {
    const fixture = new HeldFixture();
    const connection = fixture.held("42", [connect, subscribe(2, "news")].join("\n"));
    const answers = fixture.carryOut("42", [disconnectOrder(5)], connection);
    fixture.channels.acceptSubscribe("news");
    fixture.home.answer(5, { blocked: ["42"] });
    expect(connection.takeSent()).toStrictEqual(["close 3507 permission denied"]);
    expect(answers).toStrictEqual([{ left: false }]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join news", "leave news"]);
    fixture.held("42");
    expect(fixture.home.calls).toHaveLength(1);
  });

  it("[U9] is asked for again if it came while a home was asked that answers of a block, which may have ended", () => {
    const fixture = new HeldFixture();
    const [first, second] = [fixture.held("42"), fixture.held("42")];
    expect(fixture.home.calls).toHaveLength(1);
    fixture.home.answer(5, { blocked: ["42"] });
    expect(first.takeSent()).toStrictEqual(["close 3507 permission denied"]);
    expect(second.takeSent()).toStrictEqual([]);
    fixture.home.answer(6);
    expect(second.takeSent()).toHaveLength(1);
    expect(second.saved.lastOrder).toBe(6);
  });

  it("[U39] takes an order that came meanwhile, unless it begins after the order", () => {
    for (const [lastOrder, expected] of [
      [4, disconnected],
      [5, '"connect"'],
    ] as const) {
      const fixture = new HeldFixture();
      const connection = fixture.held();
      const answers = fixture.carryOut("42", [disconnectOrder(5)], connection);
      expect(connection.takeSent()).toStrictEqual([]);
      expect(answers).toStrictEqual([]);
      fixture.home.answer(lastOrder);
      expect(connection.takeSent().at(-1)).toContain(expected);
      expect(answers).toStrictEqual([{ left: expected !== disconnected }]);
    }
  });

  it("[U4] of a release without homes is registered before anything else reaches it", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    fixture.send(connection, subscribe(2, "news"));
    fixture.channels.acceptSubscribe("news");
    fixture.channels.takeCalls();
    const { lastOrder: _, ...before } = connection.saved;
    const later = new HeldFixture();
    const restored = later.open(before);
    expect(later.home.calls).toHaveLength(1);
    expect(later.channels.takeCalls()).toStrictEqual(["restore news"]);
    later.channels.push("news", "1");
    expect(restored.takeSent()).toStrictEqual([]);
    later.home.answer(3);
    expect(restored.takeSent()).toStrictEqual([pushed("news", "1")]);
    expect(restored.saved.lastOrder).toBe(3);
  });
});

describe("an order for a user's connections", () => {
  it("[U1] reaches each connection that it names, once", () => {
    const fixture = new HeldFixture();
    const [one, two, other] = [
      fixture.admitted("42", 3),
      fixture.held("42"),
      fixture.admitted("43"),
    ];
    const all = [one, two, other];
    expect(two.takeSent()).toHaveLength(1);
    const named = disconnectOrder(4, { client: "c2" });
    expect(fixture.carryOut("42", [named], ...all)).toStrictEqual([{ left: true }]);
    expect(two.takeSent()).toStrictEqual([disconnected]);
    expect(fixture.carryOut("42", [disconnectOrder(3)], ...all)).toStrictEqual([{ left: true }]);
    expect(one.takeSent()).toStrictEqual([]);
    const spared = disconnectOrder(5, { whitelist: ["c1"] });
    expect(fixture.carryOut("42", [spared], ...all)).toStrictEqual([{ left: true }]);
    expect(one.takeSent()).toStrictEqual([]);
    expect(one.saved.lastOrder).toBe(5);
    expect(fixture.carryOut("42", [disconnectOrder(6)], ...all)).toStrictEqual([{ left: false }]);
    expect(one.takeSent()).toStrictEqual([disconnected]);
    expect(other.takeSent()).toStrictEqual([]);
    // The home has forgotten this object, which has to register the user again.
    fixture.held("42");
    expect(fixture.home.calls).toHaveLength(1);
  });

  it("[U2] ends a subscription, and says so to all, also to those without one", () => {
    const fixture = new HeldFixture();
    const [one, two] = [fixture.admitted(), fixture.held()];
    fixture.send(one, subscribe(2, "news"));
    fixture.channels.acceptSubscribe("news");
    for (const connection of [one, two]) connection.takeSent();
    fixture.channels.takeCalls();
    fixture.carryOut("42", [unsubscribeOrder(1, "news")], one, two);
    for (const connection of [one, two])
      expect(connection.takeSent()).toStrictEqual([told("news")]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["leave news"]);
    expect(one.saved.subscriptions).toStrictEqual([]);
  });

  it("[U2] ends a subscription before it has begun", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    fixture.send(connection, subscribe(2, "news"));
    fixture.carryOut("42", [unsubscribeOrder(1, "news")], connection);
    expect(connection.takeSent()).toStrictEqual([told("news")]);
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([
      `{"id":2,"error":{"code":103,"message":"permission denied"}}`,
    ]);
    expect(fixture.refusals).toMatchObject([
      { rule: "U2", reason: "the server ended the subscription before it began" },
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
    fixture.send(connection, subscribe(3, "news"));
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([subscribed(3)]);
  });

  it("[U2] ends a subscription of the server's before the connect reply", () => {
    const fixture = new HeldFixture();
    fixture.admitted();
    const connection = fixture.open();
    const subscriptions = ["a", "b", "c"].map((channel) => ({ channel, override: {} }));
    fixture.send(connection, connect, connectionToken("42", { subscriptions }));
    fixture.channels.acceptSubscribe("a");
    const orders = [unsubscribeOrder(1, "a"), unsubscribeOrder(2, "b")];
    fixture.carryOut("42", orders, connection);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("b");
    fixture.channels.acceptSubscribe("c");
    const [connected, ...rest] = connection.takeSent();
    expect(connected).toContain('"subs":{"c":{}}');
    expect(rest).toStrictEqual([told("a"), told("b")]);
    expect(fixture.channels.known).toHaveLength(1);
  });
});

describe("the events of a session whose user's home is asked", () => {
  it("[E8] [U4] come when its home has answered, also of a subscription that an order has ended by then", () => {
    const outbox = openedOutbox();
    const fixture = new HeldFixture(eventsOf(outbox));
    // The user's home knows this object, so orders don't wait; the home of the second connection's token is asked.
    fixture.admitted("42");
    const connection = fixture.open();
    const frame = [connect, subscribe(2, "news")].join("\n");
    fixture.send(connection, frame, connectionToken("42", { uid: "t1" }));
    fixture.channels.acceptSubscribe("news");
    fixture.carryOut("42", [unsubscribeOrder(1, "news")], connection);
    fixture.send(connection, subscribe(3, "other"));
    expect(typesIn(outbox)).toStrictEqual(["connected"]);
    fixture.home.answer(0);
    expect(connection.takeSent().slice(1)).toStrictEqual([subscribed(2), told("news")]);
    fixture.channels.acceptSubscribe("other");
    connection.session.ended();
    expect(typesIn(outbox)).toStrictEqual([
      "connected",
      "connected",
      "subscribed news",
      "unsubscribed news",
      "subscribed other",
      "unsubscribed other",
      "disconnected",
    ]);
  });

  it("[E8] [U4] don't come if it ends before the home has answered", () => {
    const outbox = openedOutbox();
    const fixture = new HeldFixture(eventsOf(outbox));
    const connection = fixture.held("42", [connect, subscribe(2, "news")].join("\n"));
    fixture.channels.acceptSubscribe("news");
    connection.session.ended();
    fixture.home.answer(0);
    expect(typesIn(outbox)).toStrictEqual([]);
  });
});

describe("the users of one object", () => {
  it("[U5] are registered once each, and share calls to their home", () => {
    const home = new ScriptedHome();
    const fixture = new HeldFixture({}, home);
    for (let index = 0; index < 600; index++) {
      fixture.held(`user${index}`);
      fixture.held(`user${index}`);
    }
    const calls = home.calls.filter((call) => call.home === "0");
    expect(calls.map(({ users }) => users.length)).toStrictEqual([1]);
    const [first] = calls;
    first?.answer({ lastOrder: 0 });
    const [, shared] = home.calls.filter((call) => call.home === "0");
    expect(shared?.users.length).toBeGreaterThan(1);
    fixture.held("");
    expect(home.calls.flatMap(({ users }) => users)).not.toContain("");
  });
});
