import { describe, expect, it } from "vitest";
import { Room, startMs } from "./channel-fixture.ts";
import { connectionToken, subscriptionToken } from "./verified-tokens.ts";
import type { Peer } from "./peer.ts";

const startSeconds = startMs / 1000;
const options = { join_leave: true, force_push_join_leave: true, allow_subscribe_for_client: true };
/** So long that no ping comes between. */
const quiet = { ping_interval: "1h" };

function connectedUntil(room: Room, expireAtSeconds: number): Peer {
  const peer = room.open();
  room.ask(peer, `{"id":1,"connect":{}}`, connectionToken("42", { expireAtSeconds }));
  return peer;
}

function subscribedUntil(room: Room, expireAtSeconds: number): Peer {
  const request = `{"channel":"room","token":"t"}`;
  return room.subscribed("42", request, subscriptionToken({ expireAtSeconds }));
}

describe("a connection whose credentials end", () => {
  it.each([
    ["25s", 25_000, quiet],
    ["0s", 0, { ...quiet, expired_close_delay: "0s" }],
    ["90s", 90_000, { ...quiet, expired_close_delay: "90s" }],
  ])("[C5] is closed 3005 the delay of %s after it", (_, delayMs, client) => {
    const room = new Room({ client });
    const peer = connectedUntil(room, startSeconds + 100);
    expect(peer.session.dueAtMs).toBe(startMs + 100_000 + delayMs);
    room.pass(100_000 + delayMs - 1);
    expect(peer.hears()).toStrictEqual([]);
    room.pass(1);
    expect(peer.hears()).toStrictEqual(["close 3005 connection expired"]);
    expect(peer.session.dueAtMs).toBe(Number.POSITIVE_INFINITY);
  });

  it("[C5] may still say things within the delay", () => {
    const room = new Room({ client: quiet, options });
    const peer = connectedUntil(room, startSeconds + 100);
    room.pass(110_000);
    const heard = room.ask(peer, `{"id":2,"unsubscribe":{"channel":"room"}}`);
    expect(heard).toStrictEqual([`{"id":2,"unsubscribe":{}}`]);
  });

  it("[C5] isn't closed at all when they never end", () => {
    const room = new Room({ client: quiet });
    const peer = connectedUntil(room, 0);
    room.pass(3_599_999);
    expect(peer.hears()).toStrictEqual([]);
  });

  it("[O5] leaves on that way too", () => {
    const room = new Room({ client: quiet, options });
    const witness = room.subscribed("7");
    const peer = connectedUntil(room, startSeconds + 100);
    room.say(peer, `{"id":2,"subscribe":{"channel":"room"}}`);
    room.forgetHeard();
    room.pass(125_000);
    expect(peer.hears()).toStrictEqual(["close 3005 connection expired"]);
    expect(witness.hears()).toStrictEqual([
      `{"push":{"channel":"room","leave":{"info":{"user":"42","client":"c2"}}}}`,
    ]);
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
      const room = new Room({ client, options: { allow_subscribe_for_client: true } });
      const peer = subscribedUntil(room, startSeconds + 100);
      expect(peer.session.dueAtMs).toBe(startMs + 100_000 + delay);
      room.pass(100_000 + delay - 1);
      expect(peer.hears()).toStrictEqual([]);
      room.pass(1);
      expect(peer.hears()).toStrictEqual([ended]);
      room.publish("1");
      room.pass(1_000);
      expect(peer.hears()).toStrictEqual([]);
      expect(peer.saved.subscriptions).toStrictEqual([]);
      expect(room.ask(peer, `{"id":3,"subscribe":{"channel":"room"}}`)).toStrictEqual([
        `{"id":3,"subscribe":{}}`,
      ]);
    },
  );

  it("[O5] leaves before it hears of the end, once", () => {
    const room = new Room({ client: quiet, options });
    const witness = room.subscribed("7");
    const peer = subscribedUntil(room, startSeconds + 100);
    room.pass(125_000);
    room.end(peer);
    expect(peer.hears()).toStrictEqual([ended]);
    expect(witness.hears()).toStrictEqual([
      `{"push":{"channel":"room","leave":{"info":{"user":"42","client":"c2"}}}}`,
    ]);
  });

  it("[C5] can end in the same moment in which a ping is due", () => {
    const room = new Room({ client: { ping_interval: "125s" }, options });
    const peer = subscribedUntil(room, startSeconds + 100);
    room.pass(125_000);
    expect(peer.hears()).toStrictEqual([ended, "{}"]);
    expect(peer.saved).toMatchObject({ awaitingPong: true, pingedAtMs: startMs + 125_000 });
  });
});

describe("when something is due", () => {
  const client = { ping_interval: "30s", stale_close_delay: "10s" };

  it("[K1] is the stale delay before the connect, then the next ping", () => {
    const room = new Room({ client });
    const peer = room.open();
    expect(peer.session.dueAtMs).toBe(startMs + 10_000);
    room.nowMs += 4_000;
    room.say(peer, `{"id":1,"connect":{}}`, connectionToken("42"));
    expect(peer.session.dueAtMs).toBe(startMs + 30_000);
    room.pass(26_000);
    expect(peer.session.dueAtMs).toBe(startMs + 60_000);
  });

  it("[C5] is the earliest of ping, connection's end and subscription's end", () => {
    const room = new Room({ client, options });
    const peer = room.connected();
    const subscribe = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;
    room.say(peer, subscribe, subscriptionToken({ expireAtSeconds: startSeconds + 4 }));
    expect(peer.session.dueAtMs).toBe(startMs + 29_000);
    const refresh = `{"id":3,"refresh":{"token":"t"}}`;
    room.say(peer, refresh, connectionToken("42", { expireAtSeconds: startSeconds + 3 }));
    expect(peer.session.dueAtMs).toBe(startMs + 28_000);
    room.say(peer, refresh, connectionToken("42"));
    room.say(peer, `{"id":4,"unsubscribe":{"channel":"room"}}`);
    expect(peer.session.dueAtMs).toBe(startMs + 30_000);
  });

  it("[K5] is never, for a client that pings by itself and whose credentials don't end", () => {
    const room = new Room({ client });
    const peer = room.connected("42", { keepalive: "client" });
    expect(peer.session.dueAtMs).toBe(Number.POSITIVE_INFINITY);
    expect(peer.session.pingDueAtMs).toBe(Number.POSITIVE_INFINITY);
  });

  it("[C5] is the end for a client that pings by itself", () => {
    const room = new Room({ client });
    const peer = room.open({ keepalive: "client" });
    const end = connectionToken("42", { expireAtSeconds: startSeconds + 90 });
    room.say(peer, `{"id":1,"connect":{}}`, end);
    expect(peer.session.dueAtMs).toBe(startMs + 115_000);
  });
});
