import { describe, expect, it } from "vitest";
import type { NumberedOrder, UserOrder } from "../../../../src/contract/user-order.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import { pushed, subscribe, subscribed } from "../frames.ts";
import { HeldFixture } from "../held-fixture.ts";
import { startMs } from "../channel-fixture.ts";
import { connectionToken } from "../verified-tokens.ts";

const startSeconds = startMs / 1_000;

/** An order to subscribe to a channel. */
function subscribeOrder(number: number, channel: string, more: object = {}): NumberedOrder {
  const subscription = { channel, override: {} };
  const order: UserOrder = { method: "subscribe", subscription, expireAtSeconds: 0, ...more };
  return { number, order };
}

function refreshOrder(number: number, more: object): NumberedOrder {
  const order: UserOrder = { method: "refresh", expired: false, expireAtSeconds: 0, ...more };
  return { number, order };
}

const made = (channel: string, fields = "") =>
  `{"push":{"channel":"${channel}","subscribe":{${fields}}}}`;
const history = { history_size: 10, history_ttl: "1m", force_recovery: true };

describe("an order to subscribe", () => {
  it("[U7] [U35] is answered when the subscription has begun, and the push comes before all of its publications", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const answers = fixture.carryOut("42", [subscribeOrder(1, "news")], connection);
    expect(answers).toStrictEqual([]);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("news");
    expect(answers).toStrictEqual([{ left: true }]);
    fixture.channels.push("news", "1");
    expect(connection.takeSent()).toStrictEqual([made("news"), pushed("news", "1")]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join news", "announce news"]);
    expect(connection.saved).toMatchObject({
      lastOrder: 1,
      subscriptions: [{ channel: "news", serverSide: true, ordered: true }],
    });
    fixture.wake(connection);
    expect(connection.saved.subscriptions[0]?.ordered).toBe(true);
  });

  it("[U35] delivers what is recovered, after the push with the position that was named", () => {
    const fixture = new HeldFixture({ options: history });
    const connection = fixture.admitted();
    const recoverSince = { epoch: "e", offset: 3 };
    const subscription = { channel: "news", override: {}, data: json('{"a":1}') };
    fixture.carryOut("42", [subscribeOrder(1, "news", { recoverSince, subscription })], connection);
    const publications = [4, 5].map((offset) => ({ data: json(String(offset)), offset }));
    fixture.channels.acceptSubscribe("news", {
      position: { epoch: "e", offset: 5 },
      recovered: true,
      publications,
    });
    expect(connection.takeSent()).toStrictEqual([
      made("news", '"recoverable":true,"epoch":"e","offset":3,"positioned":true,"data":{"a":1}'),
      '{"push":{"channel":"news","pub":{"data":4,"offset":4}}}',
      '{"push":{"channel":"news","pub":{"data":5,"offset":5}}}',
    ]);
  });

  it("[U36] is repeated where the channel doesn't answer, and then subscribes once", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const order = subscribeOrder(1, "news");
    const answers = fixture.carryOut("42", [order], connection);
    fixture.channels.refuseSubscribe("news", errorCodes.internal);
    expect(answers).toStrictEqual([{ left: true, failed: true }]);
    expect(connection.saved.lastOrder).toBe(0);
    fixture.carryOut("42", [order], connection);
    const waiting = fixture.carryOut("42", [order], connection);
    fixture.channels.acceptSubscribe("news");
    expect(waiting).toStrictEqual([{ left: true }]);
    expect(connection.takeSent()).toStrictEqual([made("news")]);
  });

  it("[U36] is repeated while a subscribe of the client's is under way, which another order may have ended", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    fixture.send(connection, subscribe(2, "news"));
    const ending: NumberedOrder = { number: 1, order: { method: "unsubscribe", channel: "news" } };
    const orders = [ending, subscribeOrder(2, "news")];
    const answers = fixture.carryOut("42", orders, connection);
    expect(answers).toStrictEqual([{ left: true, failed: true }]);
    expect(connection.saved.lastOrder).toBe(1);
    fixture.channels.acceptSubscribe("news");
    connection.takeSent();
    fixture.carryOut("42", orders, connection);
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([made("news")]);
  });

  it("[U28] does nothing once it has ended, as when it had to be repeated", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const order = subscribeOrder(1, "news", { expireAtSeconds: startSeconds });
    expect(fixture.carryOut("42", [order], connection)).toStrictEqual([{ left: true }]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    expect(connection.takeSent()).toStrictEqual([]);
  });

  it("[U7] changes nothing for a client that is subscribed, or has no room", () => {
    const fixture = new HeldFixture({ client: { channel_limit: 1 } });
    const connection = fixture.admitted();
    fixture.send(connection, subscribe(2, "news"));
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([subscribed(2)]);
    const orders = [
      subscribeOrder(1, "news"),
      subscribeOrder(2, "more"),
      subscribeOrder(3, "unknown:a"),
    ];
    expect(fixture.carryOut("42", orders, connection)).toStrictEqual([{ left: true }]);
    expect(connection.takeSent()).toStrictEqual([]);
  });

  it("[U7] ends with its connection, if that ends meanwhile", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const answers = fixture.carryOut("42", [subscribeOrder(1, "news")], connection);
    connection.session.ended();
    expect(answers).toStrictEqual([{ left: false }]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[U7] [C9] isn't among the channels that a refreshed token has to name", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    fixture.carryOut("42", [subscribeOrder(1, "news")], connection);
    fixture.channels.acceptSubscribe("news");
    connection.takeSent();
    const refreshed = fixture.ask(connection, `{"id":3,"refresh":{"token":"t"}}`, {
      ...connectionToken("42"),
    });
    expect(refreshed).toStrictEqual(['{"id":3,"refresh":{}}']);
  });

  it("[U7] closes the connection with 3006 when the subscription ends", () => {
    const fixture = new HeldFixture({ client: { expired_sub_close_delay: "1s" } });
    const connection = fixture.admitted();
    const expireAtSeconds = startSeconds + 10;
    fixture.carryOut("42", [subscribeOrder(1, "news", { expireAtSeconds })], connection);
    fixture.channels.acceptSubscribe("news");
    connection.takeSent();
    connection.session.tick(false, startMs + 10_999);
    expect(connection.takeSent()).toStrictEqual([]);
    connection.session.tick(false, startMs + 11_000);
    expect(connection.takeSent()).toStrictEqual(["close 3006 subscription expired"]);
  });

  it("[B1] waits for the orders before it, and not for too many", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const first = fixture.carryOut("42", [subscribeOrder(1, "a")], connection);
    const waiting = Array.from({ length: limits.orderCallsWaitingMax }, () =>
      fixture.carryOut("42", [subscribeOrder(1, "a")], connection),
    );
    expect(fixture.carryOut("42", [subscribeOrder(1, "a")], connection)).toStrictEqual([undefined]);
    fixture.channels.acceptSubscribe("a");
    for (const answers of [first, ...waiting]) expect(answers).toStrictEqual([{ left: true }]);
  });
});

describe("an order to refresh", () => {
  it("[U8] ends the connection with 3005, now or when it says", () => {
    const fixture = new HeldFixture({ client: { expired_close_delay: "1s" } });
    const [one, two, three] = [fixture.admitted("1"), fixture.admitted("2"), fixture.admitted("3")];
    fixture.carryOut("1", [refreshOrder(1, { expired: true })], one);
    expect(one.takeSent()).toStrictEqual(["close 3005 connection expired"]);
    const past = refreshOrder(2, { expireAtSeconds: startSeconds - 1 });
    fixture.carryOut("2", [past], two);
    expect(two.takeSent()).toStrictEqual(["close 3005 connection expired"]);
    const later = refreshOrder(3, { expireAtSeconds: startSeconds + 10 });
    fixture.carryOut("3", [later], three);
    expect(three.takeSent()).toStrictEqual(['{"push":{"refresh":{"expires":true,"ttl":10}}}']);
    expect(three.saved.claims?.expireAtSeconds).toBe(startSeconds + 10);
    three.session.tick(false, startMs + 11_000);
    expect(three.takeSent()).toStrictEqual(["close 3005 connection expired"]);
  });

  it("[U8] changes what others are shown, and tells the client when it ends", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const info = json('{"name":"Ada"}');
    fixture.carryOut("42", [refreshOrder(1, { info })], connection);
    expect(connection.saved.claims).toMatchObject({ user: "42", info, expireAtSeconds: 0 });
    const listener = fixture.open({ codec: "one_way" });
    fixture.send(listener, `{"id":1,"connect":{}}`, connectionToken("43"));
    fixture.home.answer(0);
    listener.takeSent();
    fixture.carryOut("43", [refreshOrder(1, { expireAtSeconds: startSeconds + 60 })], listener);
    expect(listener.takeSent()).toStrictEqual(['{"refresh":{"expires":true,"ttl":60}}']);
  });

  it("[B2] changes nothing if the info is too large to be kept", () => {
    const fixture = new HeldFixture();
    const connection = fixture.admitted();
    const info = json(JSON.stringify("x".repeat(limits.sessionClaimsBytesMax)));
    const answers = fixture.carryOut("42", [refreshOrder(1, { info })], connection);
    expect(answers).toStrictEqual([{ left: true }]);
    expect(connection.saved.claims?.info).toBeUndefined();
  });
});
