import { describe, expect, it } from "vitest";
import { ChannelFixture, startMs } from "../channel-fixture.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";
import type { TestConnection } from "../test-connection.ts";

const startSeconds = startMs / 1000;
const options = { join_leave: true, force_push_join_leave: true, allow_subscribe_for_client: true };
/** So long that no ping comes between. */
const quiet = { ping_interval: "1h" };

function connectedUntil(fixture: ChannelFixture, expireAtSeconds: number): TestConnection {
  const connection = fixture.open();
  fixture.ask(connection, `{"id":1,"connect":{}}`, connectionToken("42", { expireAtSeconds }));
  return connection;
}

function subscribedUntil(fixture: ChannelFixture, expireAtSeconds: number): TestConnection {
  const request = `{"channel":"room","token":"t"}`;
  return fixture.subscribed("42", request, subscriptionToken({ expireAtSeconds }));
}

describe("a connection whose credentials end", () => {
  it.each([
    ["25s", 25_000, quiet],
    ["0s", 0, { ...quiet, expired_close_delay: "0s" }],
    ["90s", 90_000, { ...quiet, expired_close_delay: "90s" }],
  ])("[C5] is closed 3005 the delay of %s after it", (_, delayMs, client) => {
    const fixture = new ChannelFixture({ client });
    const connection = connectedUntil(fixture, startSeconds + 100);
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 100_000 + delayMs);
    fixture.pass(100_000 + delayMs - 1);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3005 connection expired"]);
    expect(connection.session.dueAtMs(startMs)).toBe(Number.POSITIVE_INFINITY);
  });

  it("[C5] may still say things within the delay", () => {
    const fixture = new ChannelFixture({ client: quiet, options });
    const connection = connectedUntil(fixture, startSeconds + 100);
    fixture.pass(110_000);
    const received = fixture.ask(connection, `{"id":2,"unsubscribe":{"channel":"room"}}`);
    expect(received).toStrictEqual([`{"id":2,"unsubscribe":{}}`]);
  });

  it("[C5] isn't closed at all when they never end", () => {
    const fixture = new ChannelFixture({ client: quiet });
    const connection = connectedUntil(fixture, 0);
    fixture.pass(3_599_999);
    expect(connection.takeSent()).toStrictEqual([]);
  });
});

describe("a subscription whose token ends", () => {
  const ended = `{"push":{"channel":"room","unsubscribe":{"code":2501,"reason":"subscription expired"}}}`;

  it.each([
    ["25s", 25_000, quiet],
    ["0s", 0, { ...quiet, expired_sub_close_delay: "0s" }],
  ])(
    "[C5] ends with 2501 the delay of %s after it, and the connection stays",
    (_, delay, client) => {
      const fixture = new ChannelFixture({ client, options: { allow_subscribe_for_client: true } });
      const connection = subscribedUntil(fixture, startSeconds + 100);
      expect(connection.session.dueAtMs(startMs)).toBe(startMs + 100_000 + delay);
      fixture.pass(100_000 + delay - 1);
      expect(connection.takeSent()).toStrictEqual([]);
      fixture.pass(1);
      expect(connection.takeSent()).toStrictEqual([ended]);
      fixture.publish("1");
      fixture.pass(1_000);
      expect(connection.takeSent()).toStrictEqual([]);
      expect(connection.saved.subscriptions).toStrictEqual([]);
      expect(fixture.ask(connection, `{"id":3,"subscribe":{"channel":"room"}}`)).toStrictEqual([
        `{"id":3,"subscribe":{}}`,
      ]);
    },
  );

  it("[C5] can end in the same moment in which a ping is due", () => {
    const fixture = new ChannelFixture({ client: { ping_interval: "125s" }, options });
    const connection = subscribedUntil(fixture, startSeconds + 100);
    fixture.pass(125_000);
    expect(connection.takeSent()).toStrictEqual([ended, "{}"]);
    expect(connection.saved).toMatchObject({ awaitingPong: true, pingedAtMs: startMs + 125_000 });
  });
});

describe("when something is due", () => {
  const client = { ping_interval: "30s", stale_close_delay: "10s" };

  it("[K1] is the stale delay before the connect, then the next ping", () => {
    const fixture = new ChannelFixture({ client });
    const connection = fixture.open();
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 10_000);
    fixture.nowMs += 4_000;
    fixture.send(connection, `{"id":1,"connect":{}}`, connectionToken("42"));
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 30_000);
    fixture.pass(26_000);
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 60_000);
  });

  it("[C5] is the earliest of ping, connection's end and subscription's end", () => {
    const fixture = new ChannelFixture({ client, options });
    const connection = fixture.connected();
    const subscribe = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;
    fixture.send(connection, subscribe, subscriptionToken({ expireAtSeconds: startSeconds + 4 }));
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 29_000);
    const refresh = `{"id":3,"refresh":{"token":"t"}}`;
    fixture.send(connection, refresh, connectionToken("42", { expireAtSeconds: startSeconds + 3 }));
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 28_000);
    fixture.send(connection, refresh, connectionToken("42"));
    fixture.send(connection, `{"id":4,"unsubscribe":{"channel":"room"}}`);
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 30_000);
  });

  it("[K5] is never, with client-driven keep-alive and credentials that don't end", () => {
    const fixture = new ChannelFixture({ client });
    const connection = fixture.connected("42", { keepalive: "client" });
    expect(connection.session.dueAtMs(startMs)).toBe(Number.POSITIVE_INFINITY);
    expect(connection.session.pingDueAtMs(startMs)).toBe(Number.POSITIVE_INFINITY);
  });
});
