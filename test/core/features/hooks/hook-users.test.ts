import { describe, expect, it } from "vitest";
import type { ConnectionClaims } from "../../../../src/access/claims.ts";
import { tokenKey } from "../../../../src/contract/identity-key.ts";
import type { SessionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import type { HolderOrder, OrderTarget } from "../../../../src/contract/user-order.ts";
import { limits } from "../../../../src/limits.ts";
import { connectionState } from "../../../../src/session/connection-state.ts";
import { startMs } from "../../session/channel-fixture.ts";
import { subscribe, subscribed, tooMany } from "../../session/frames.ts";
import { HeldFixture } from "../../session/held-fixture.ts";
import type { TestConnection } from "../../session/test-connection.ts";
import { connectionToken, subscriptionToken } from "../../session/verified-tokens.ts";

const endpoint = "https://backend.example/hooks";
const connect = '{"id":1,"connect":{}}';
const denied = (id: number) => `{"id":${id},"error":{"code":103,"message":"permission denied"}}`;
const startSeconds = startMs / 1_000;
const namespaces = [
  { name: "asked", subscribe_proxy_enabled: true, sub_refresh_proxy_enabled: true },
];
const channel = {
  proxy: { subscribe: { endpoint }, sub_refresh: { endpoint } },
  namespaces,
};
const rpc = { proxy: { endpoint }, without_namespace: { proxy_enabled: true } };
const invalidation = { channel: "", issuedBeforeSeconds: startSeconds, expireAtSeconds: 0 };
const invalidate: HolderOrder = { method: "invalidate_user_tokens", ...invalidation };

/** Sessions whose users have homes, and for which backends are asked. */
class HookedFixture extends HeldFixture {
  constructor(client: object = {}) {
    const hook = { enabled: true, endpoint };
    super({ client: { proxy: { connect: hook, message: hook }, ...client }, channel, rpc });
  }

  /** A connection for which a backend is asked. */
  asking(frame = connect): TestConnection {
    const connection = this.open();
    this.send(connection, frame);
    return connection;
  }

  /** A connection that a backend has named user 42's, whose home hasn't answered. */
  named(result: object = {}, frame = connect): TestConnection {
    const connection = this.asking(frame);
    this.backend.answer({ result: { user: "42", ...result } }, "connect");
    this.backend.takeAsked();
    return connection;
  }

  /** The same with the home's answer, and the connect reply. */
  joined(result: object = {}): TestConnection {
    const connection = this.named(result);
    if (this.home.calls.length > 0) this.home.answer(0);
    connection.takeSent();
    return connection;
  }

  /** Carries out one order on connections of user 42, of which some are left. */
  order(order: HolderOrder, ...all: readonly TestConnection[]): void {
    const [answer] = this.carryOut("42", [{ number: 1, order }], ...all);
    if (answer?.left !== true) throw new Error("the order isn't carried out");
  }
}

describe("a connection to which a backend gave its user", () => {
  it("[U4] gets nothing before the user's home has answered, and is registered with it", () => {
    const fixture = new HookedFixture();
    const connection = fixture.named();
    expect(fixture.home.calls).toMatchObject([{ users: ["42"] }]);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.home.answer(7);
    expect(connection.takeSent()[0]).toContain('"connect"');
    expect(connection.saved).toMatchObject({ lastOrder: 7, byHook: true });
    expect(connection.saved.asking).toBeUndefined();
  });

  it("[U4] [U9] is closed if the user is blocked, and no backend is asked for it any more", () => {
    const fixture = new HookedFixture();
    const connection = fixture.named({}, `${connect}\n${subscribe(2, "asked:a")}`);
    fixture.send(connection, `${subscribe(3, "asked:b")}\n{"id":4,"rpc":{"method":"m"}}`);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.home.answer(0, { blocked: ["42"] });
    expect(connection.takeSent()).toStrictEqual(["close 3507 permission denied"]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[U39] [Q3] has the subscribes about which a backend is asked wait for the home", () => {
    const fixture = new HookedFixture();
    const connection = fixture.named();
    fixture.send(connection, `${subscribe(2, "open")}\n${subscribe(3, "asked:a")}`);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join open"]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.home.answer(0);
    expect(fixture.backend.takeAsked()).toMatchObject([{ hook: "subscribe" }]);
    fixture.backend.answer({ result: {} });
    fixture.channels.acceptSubscribe("open");
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent().slice(1)).toStrictEqual([subscribed(2), subscribed(3)]);
  });

  it("[U12] counts as one of the user's connections, and is closed if it is too many", () => {
    const fixture = new HookedFixture({ user_connection_limit: 1 });
    const connection = fixture.named();
    fixture.home.answer(0);
    const [asked] = fixture.home.admissions.splice(0);
    expect(asked?.connections).toMatchObject([{ client: "c1" }]);
    expect(connection.takeSent()).toStrictEqual([]);
    asked?.answer({ refused: ["c1"] });
    expect(connection.takeSent()).toStrictEqual(["close 3504 connection limit"]);
  });

  it.each<[string, HolderOrder & OrderTarget, string]>([
    ["disconnect", { method: "disconnect", code: { code: 3_503, reason: "r" } }, "close 3503 r"],
    [
      "block_user",
      { method: "disconnect", code: { code: 3_507, reason: "permission denied" } },
      "close 3507 permission denied",
    ],
  ])("[U1] [U9] is closed by %s", (_, order, expected) => {
    const fixture = new HookedFixture();
    const connection = fixture.joined();
    expect(fixture.carryOut("42", [{ number: 1, order }], connection)).toStrictEqual([
      { left: false },
    ]);
    expect(connection.takeSent()).toStrictEqual([expected]);
  });

  it("[U1] is closed by an order that comes while its home is asked", () => {
    const fixture = new HookedFixture();
    const connection = fixture.named();
    const order = { method: "disconnect", code: { code: 3_503, reason: "r" } } as const;
    const answers = fixture.carryOut("42", [{ number: 1, order }], connection);
    expect(answers).toStrictEqual([]);
    fixture.home.answer(0);
    expect(answers).toStrictEqual([{ left: false }]);
    const [reply, ...rest] = connection.takeSent();
    expect(reply).toContain('"connect"');
    expect(rest).toStrictEqual(["close 3503 r"]);
  });

  it("[U6] [Q4] isn't there when an order has closed the socket while the backend was asked", () => {
    const fixture = new HookedFixture();
    const connection = fixture.asking();
    const order = {
      method: "disconnect",
      client: "c1",
      code: { code: 3_503, reason: "r" },
    } as const;
    fixture.carryOut("", [{ number: 0, order }], connection);
    expect(connection.takeSent()).toStrictEqual(["close 3503 r"]);
    fixture.backend.answer({ result: { user: "42" } });
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.home.calls).toStrictEqual([]);
  });
});

describe("what makes tokens invalid", () => {
  it("[U11] doesn't concern a connection or a subscription that a backend allowed, awake or not", () => {
    for (const wakes of [false, true]) {
      const fixture = new HookedFixture();
      const connection = fixture.joined();
      fixture.send(connection, subscribe(2, "asked:a"));
      fixture.backend.answer({});
      fixture.channels.acceptSubscribe("asked:a");
      connection.takeSent();
      if (wakes) fixture.wake(connection);
      fixture.order(invalidate, connection);
      expect(connection.takeSent()).toStrictEqual([]);
      expect(connection.session.subscriptions.has("asked:a")).toBe(true);
    }
  });

  it("[U11] lets a user in to whom a backend gave its name after the invalidation", () => {
    const fixture = new HookedFixture();
    const connection = fixture.named();
    fixture.home.answer(1, { invalidations: [{ user: "42", ...invalidation }] });
    expect(connection.takeSent()[0]).toContain('"connect"');
  });

  it("[U11] ends what such a connection made with a token, and nothing else", () => {
    const fixture = new HookedFixture();
    const connection = fixture.joined();
    const token = subscriptionToken({ channel: "asked:a", issuedAtSeconds: startSeconds - 1 });
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"asked:a","token":"t"}}`, token);
    fixture.channels.acceptSubscribe("asked:a");
    connection.takeSent();
    fixture.order(invalidate, connection);
    const reason = '{"code":2000,"reason":"server unsubscribe"}';
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"asked:a","unsubscribe":${reason}}}`,
    ]);
    expect(connection.session.closed).toBe(false);
  });

  it("[U11] concerns the connection once a token has refreshed it", () => {
    const fixture = new HookedFixture();
    const connection = fixture.joined({ expire_at: startSeconds + 60 });
    const token = connectionToken("42", { issuedAtSeconds: startSeconds - 1 });
    fixture.send(connection, '{"id":2,"refresh":{"token":"t"}}', token);
    expect(connection.takeSent()[0]).toContain('"refresh"');
    expect(fixture.carryOut("42", [{ number: 1, order: invalidate }], connection)).toStrictEqual([
      { left: false },
    ]);
    expect(connection.takeSent()).toStrictEqual(["close 3500 invalid token"]);
  });
});

describe("an order while a backend is asked about a subscribe", () => {
  it("[U2] ends the subscription for good before it is acknowledged", () => {
    const fixture = new HookedFixture();
    const connection = fixture.joined();
    fixture.send(connection, subscribe(2, "asked:a"));
    fixture.order({ method: "unsubscribe", channel: "asked:a" }, connection);
    expect(connection.takeSent()[0]).toContain('"unsubscribe":{"code":2000');
    fixture.backend.answer({ result: {} });
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    expect(connection.session.subscriptions.has("asked:a")).toBe(false);
  });

  it("[U11] lets it begin, because it has no token", () => {
    const fixture = new HookedFixture();
    const connection = fixture.joined();
    fixture.send(connection, subscribe(2, "asked:a"));
    fixture.order(invalidate, connection);
    fixture.backend.answer({ result: {} });
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent()).toStrictEqual([subscribed(2)]);
  });
});

describe("a connection with a token that a backend prolongs", () => {
  const expireAtSeconds = startSeconds + 60;
  const refresh = { proxy: { refresh: { enabled: true, endpoint } } };

  /** One whose backend has allowed another minute, of which the token's home doesn't know yet. */
  function prolonged(claims: Partial<ConnectionClaims>) {
    const fixture = new HookedFixture(refresh);
    const connection = fixture.open();
    fixture.send(connection, connect, connectionToken("42", { expireAtSeconds, ...claims }));
    while (fixture.home.calls.length > 0) fixture.home.answer(0);
    connection.takeSent();
    fixture.pass(connection, 60_000);
    connection.takeSent();
    fixture.backend.answer({ result: { expire_at: expireAtSeconds + 60 } }, "refresh");
    return { fixture, connection };
  }

  it("[U10] [U33] [Q9] lives on once the token's home knows of it, and is asked about once", () => {
    const { fixture, connection } = prolonged({ uid: "t1" });
    const [asked] = fixture.home.calls;
    expect(asked?.users).toStrictEqual([tokenKey("t1")]);
    expect(asked?.ends[0]).toBeGreaterThanOrEqual(expireAtSeconds + 60 + limits.tokenKeptSeconds);
    fixture.backend.takeAsked();
    fixture.pass(connection, 1_000);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    expect(connection.saved.claims?.expireAtSeconds).toBe(expireAtSeconds);
    fixture.home.answer(0);
    expect(connection.saved.claims?.expireAtSeconds).toBe(expireAtSeconds + 60);
    expect(connection.session.dueAtMs(startMs)).toBeLessThanOrEqual((expireAtSeconds + 60) * 1_000);
  });

  it("[U10] [U33] is closed if the token is revoked, or if the token's home doesn't answer", () => {
    const revoked = prolonged({ uid: "t1" });
    revoked.fixture.home.answer(0, { blocked: [tokenKey("t1")] });
    expect(revoked.connection.takeSent()).toStrictEqual(["close 3500 invalid token"]);
    const unknown = prolonged({ uid: "t1" });
    unknown.fixture.home.answer(undefined);
    expect(unknown.connection.takeSent()).toStrictEqual(["close 3004 internal server error"]);
  });
});

describe("a subscription that a backend allowed", () => {
  it("[Q9] is the client's to refresh once it has refreshed it with a token", () => {
    const fixture = new HookedFixture();
    const connection = fixture.joined();
    const expire_at = startSeconds + 60;
    fixture.send(connection, subscribe(2, "asked:a"));
    fixture.backend.answer({ result: { expire_at } });
    fixture.channels.acceptSubscribe("asked:a");
    const token = subscriptionToken({ channel: "asked:a", expireAtSeconds: expire_at + 10 });
    fixture.send(connection, '{"id":3,"sub_refresh":{"channel":"asked:a","token":"t"}}', token);
    expect(connection.takeSent().at(-1)).toContain('"sub_refresh"');
    fixture.backend.takeAsked();
    fixture.pass(connection, 70_000);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });
});

describe("what a backend allowed, as backends are shown it", () => {
  const claims = { user: "42", expireAtSeconds: 0 };
  const flags = { present: false, announced: false, hearsJoinLeave: false };

  it.each<[number, Partial<SessionSnapshot>, object]>([
    [1, {}, { channel: "asked:a", serverSide: true }],
    [2, { byHook: true }, { channel: "asked:a", serverSide: true }],
    [3, { byHook: true }, { channel: "asked:a", issuedAtSeconds: 0 }],
    [4, { byHook: true }, { channel: "asked:a" }],
    [4, {}, { channel: "asked:a", expireAtSeconds: 99, serverRefresh: true }],
    [6, { byHook: true }, { channel: "open" }],
    [10, { byHook: true }, { channel: "asked:a", serverSide: true, ordered: true }],
  ])("[U20] has the source %d: %j %j", (source, identity, subscription) => {
    const fixture = new HookedFixture();
    const only = { channel: "", expireAtSeconds: 0, ...flags, ...subscription };
    const { session } = fixture.open({
      phase: "connected",
      claims,
      lastOrder: 0,
      ...identity,
      subscriptions: [only],
    });
    const shown = connectionState(session);
    expect(shown.subscriptions).toMatchObject([{ source }]);
    expect(shown).not.toHaveProperty("token");
  });
});

describe("[B21] the rates of commands", () => {
  const once = { enabled: true, buckets: [{ interval: "10s", rate: 1 }] };

  it.each(["client_command", "user_command"])("%s count before a backend is asked", (kind) => {
    const rates = { enabled: true, rpc: once };
    const fixture = new HookedFixture({ rate_limit: { [kind]: rates } });
    const connection = fixture.joined();
    fixture.send(connection, '{"id":2,"rpc":{"method":"m"}}\n{"id":3,"rpc":{"method":"m"}}');
    expect(connection.takeSent()).toStrictEqual([tooMany(3)]);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
  });

  it.each(["client_command", "user_command"])("%s count messages", (kind) => {
    const fixture = new HookedFixture({ rate_limit: { [kind]: { enabled: true, send: once } } });
    const connection = fixture.joined();
    fixture.send(connection, '{"send":{"data":1}}\n{"send":{"data":2}}');
    expect(connection.takeSent()).toStrictEqual(["close 3013 too many requests"]);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
  });

  it("of a user count the commands that were sent before a backend named it", () => {
    const rates = { enabled: true, rpc: once };
    const fixture = new HookedFixture({ rate_limit: { user_command: rates } });
    const calls = '{"id":2,"rpc":{"method":"m"}}\n{"id":3,"rpc":{"method":"m"}}';
    const connection = fixture.named({}, `${connect}\n${calls}`);
    fixture.home.answer(0);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
    expect(connection.takeSent().slice(1)).toStrictEqual([tooMany(3)]);
  });
});
