import { describe, expect, it } from "vitest";
import type { ConnectionClaims, SubscriptionClaims } from "../../../../src/access/claims.ts";
import { tokenKey } from "../../../../src/contract/identity-key.ts";
import type { HolderOrder, Invalidation } from "../../../../src/contract/user-order.ts";
import type { VerifiedTokens } from "../../../../src/session/ports.ts";
import { limits } from "../../../../src/limits.ts";
import { startMs } from "../channel-fixture.ts";
import { internal, pushed, subscribed } from "../frames.ts";
import { HeldFixture } from "../held-fixture.ts";
import type { TestConnection } from "../test-connection.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";

const startSeconds = startMs / 1_000;
const connect = `{"id":1,"connect":{}}`;
const subscribe = (id: number, channel = "news") =>
  `{"id":${id},"subscribe":{"channel":"${channel}","token":"t"}}`;
const closed = "close 3500 invalid token";
const ended = (channel = "news") =>
  `{"push":{"channel":"${channel}","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;
const denied = (id: number) => `{"id":${id},"error":{"code":103,"message":"permission denied"}}`;
const revocation = (expireAtSeconds = 0): HolderOrder => ({
  method: "revoke_token",
  expireAtSeconds,
});
const everything: Invalidation = {
  channel: "",
  issuedBeforeSeconds: startSeconds,
  expireAtSeconds: 0,
};

/** Sessions with tokens whose homes answer when the test says so. */
class TokenFixture extends HeldFixture {
  /** Hands over a frame as a socket does: the homes are asked about its token first. */
  take(connection: TestConnection, frame: string, tokens: VerifiedTokens): void {
    const isAsked = connection.session.context.registrar?.askForTokens(
      connection.session,
      tokens,
      (checked) => this.send(connection, frame, checked),
    );
    if (isAsked !== true) this.send(connection, frame, tokens);
  }

  /** A connection that waits for the home of its user, and for that of its token if it has a `jti`. */
  connecting(claims: Partial<ConnectionClaims> = {}, user = "42"): TestConnection {
    const connection = this.open();
    this.send(connection, connect, connectionToken(user, claims));
    return connection;
  }

  /** A connection that is connected; nothing stood against its tokens. */
  connectedWith(claims: Partial<ConnectionClaims> = {}): TestConnection {
    const connection = this.connecting(claims);
    while (this.home.calls.length > 0) this.home.answer(0);
    connection.takeSent();
    return connection;
  }

  /** The same with a subscription to `news` by token. */
  subscribedWith(claims: Partial<SubscriptionClaims>): TestConnection {
    const connection = this.connectedWith();
    this.take(connection, subscribe(2), subscriptionToken({ channel: "news", ...claims }));
    while (this.home.calls.length > 0) this.home.answer(0);
    this.channels.acceptSubscribe("news");
    connection.takeSent();
    this.channels.takeCalls();
    return connection;
  }

  /** Carries out the revocation of a token; says whether the object still holds anything that was made with it. */
  revoke(uid: string, order: HolderOrder, ...all: readonly TestConnection[]): boolean | undefined {
    return this.carryOut(tokenKey(uid), [{ number: 0, order }], ...all)[0]?.left;
  }

  /** Carries out an invalidation of user 42's tokens. */
  invalidate(invalidation: Invalidation, ...all: readonly TestConnection[]): void {
    const order = { method: "invalidate_user_tokens", ...invalidation } as const;
    const [answer] = this.carryOut("42", [{ number: 1, order }], ...all);
    if (answer === undefined) throw new Error("the order isn't carried out");
  }
}

describe("a connection with a token that can be revoked", () => {
  it("[U4] [U10] [U33] gets nothing until the homes of its user and of its token have answered", () => {
    for (const first of ["user", "token"]) {
      const fixture = new TokenFixture();
      const connection = fixture.connecting({ uid: "t1" });
      const { calls } = fixture.home;
      expect(calls.map(({ users }) => users)).toStrictEqual([["42"], [tokenKey("t1")]]);
      if (first === "token") calls.reverse();
      fixture.home.answer(7);
      expect(connection.takeSent()).toStrictEqual([]);
      expect(connection.saved.phase).toBe("new");
      fixture.home.answer(7);
      expect(connection.takeSent()[0]).toContain('"connect"');
      expect(connection.saved).toMatchObject({ lastOrder: 7, claims: { uid: "t1" } });
    }
  });

  it("[U32] [U10] asks for the token once, for as long as its connections may last", () => {
    const fixture = new TokenFixture({
      client: { expired_close_delay: "5s", expired_sub_close_delay: "30s" },
    });
    const expireAtSeconds = startSeconds + 60;
    fixture.connecting({ uid: "t1", expireAtSeconds });
    const [, asked] = fixture.home.calls;
    expect(asked?.ends).toStrictEqual([expireAtSeconds + 30 + limits.tokenKeptSeconds]);
    fixture.home.answer(0);
    fixture.home.answer(0);
    fixture.connectedWith({ uid: "t1", expireAtSeconds });
    expect(fixture.home.calls).toStrictEqual([]);
    fixture.connecting({ uid: "t1", expireAtSeconds: 0 });
    expect(fixture.home.calls.map(({ ends }) => ends)).toStrictEqual([[0]]);
    fixture.home.answer(0);
    fixture.connectedWith({});
    expect(fixture.home.calls).toStrictEqual([]);
  });

  it("[U10] is closed if the token is revoked, and leaves nothing behind", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connecting({ uid: "t1" });
    fixture.home.answer(0);
    fixture.home.answer(0, { blocked: [tokenKey("t1")] });
    expect(connection.takeSent()).toStrictEqual([closed]);
    // The home hasn't registered the object, and is asked again.
    fixture.connecting({ uid: "t1" });
    expect(fixture.home.calls).toHaveLength(1);
  });

  it("[U10] asks again after a revocation, which another one may have shortened", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ uid: "t1" });
    fixture.revoke("t1", revocation(), connection);
    const again = fixture.connecting({ uid: "t1" });
    expect(fixture.home.calls).toHaveLength(1);
    fixture.home.answer(0);
    expect(again.takeSent()[0]).toContain('"connect"');
  });

  it("[U4] [U10] [U33] has to come again if the token's home doesn't answer", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connecting({ uid: "t1" });
    fixture.home.answer(0);
    fixture.home.answer(undefined);
    expect(connection.takeSent()).toStrictEqual(["close 3004 internal server error"]);
  });

  it("[U10] is closed by a revocation that comes while it waits, before, or after", () => {
    const fixture = new TokenFixture();
    const [held, other] = [fixture.connecting({ uid: "t1" }), fixture.connecting({ uid: "t2" })];
    expect(fixture.revoke("t1", revocation(), held, other)).toBe(true);
    expect(held.takeSent()).toStrictEqual([closed]);
    // The token's home may have answered before it was told of the revocation.
    const late = fixture.connecting({ uid: "t1" });
    while (fixture.home.calls.length > 0) fixture.home.answer(0);
    expect(late.takeSent()).toStrictEqual([closed]);
    expect(other.takeSent()[0]).toContain('"connect"');
    expect(fixture.revoke("t2", revocation(), held, other)).toBe(false);
    expect(other.takeSent()).toStrictEqual([closed]);
  });

  it("[U10] is closed if it is anonymous, too, and once it is restored", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connecting({ uid: "t1" }, "");
    expect(fixture.home.calls.map(({ users }) => users)).toStrictEqual([[tokenKey("t1")]]);
    fixture.home.answer(0);
    expect(connection.takeSent()[0]).toContain('"connect"');
    const later = new TokenFixture();
    const restored = later.open(connection.saved);
    expect(later.home.calls).toStrictEqual([]);
    expect(later.revoke("t1", revocation(), restored)).toBe(false);
    expect(restored.takeSent()).toStrictEqual([closed]);
  });

  it("[U10] isn't closed by a revocation that has ended", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ uid: "t1" });
    expect(fixture.revoke("t1", revocation(startSeconds), connection)).toBe(true);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.revoke("t1", revocation(startSeconds + 1), connection)).toBe(false);
    expect(connection.takeSent()).toStrictEqual([closed]);
  });

  it("[U10] is closed by its latest token, and by none before", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ uid: "t1" });
    fixture.take(
      connection,
      `{"id":2,"refresh":{"token":"t"}}`,
      connectionToken("42", { uid: "t2" }),
    );
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.home.answer(0);
    expect(connection.takeSent()).toStrictEqual([`{"id":2,"refresh":{}}`]);
    expect(fixture.revoke("t1", revocation(), connection)).toBe(false);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.revoke("t2", revocation(), connection)).toBe(false);
    expect(connection.takeSent()).toStrictEqual([closed]);
  });

  it("[U8] [U10] [U33] is closed by a backend's refresh if the token is revoked, which is asked again", () => {
    const order = { method: "refresh", expired: false, expireAtSeconds: 0 } as const;
    for (const [answer, expected, left] of [
      [{ blocked: [tokenKey("t1")] }, [closed], { left: false }],
      [{}, ['{"push":{"refresh":{}}}'], { left: true }],
      [undefined, [], { left: true, failed: true }],
    ] as const) {
      const fixture = new TokenFixture();
      const connection = fixture.connectedWith({ uid: "t1", expireAtSeconds: startSeconds + 60 });
      const answers = fixture.carryOut("42", [{ number: 1, order }], connection);
      expect(fixture.home.calls.map(({ ends }) => ends)).toStrictEqual([[0]]);
      fixture.home.answer(answer === undefined ? undefined : 0, answer);
      expect(connection.takeSent()).toStrictEqual(expected);
      expect(answers).toStrictEqual([left]);
    }
  });
});

describe("a subscription with a token that can be revoked", () => {
  it("[U10] is ended by a revocation, also once it is restored, and the connection stays", () => {
    for (const wakes of [false, true]) {
      const fixture = new TokenFixture();
      const connection = fixture.subscribedWith({ uid: "s1" });
      if (wakes) fixture.wake(connection);
      expect(fixture.revoke("s2", revocation(), connection)).toBe(false);
      expect(connection.takeSent()).toStrictEqual([]);
      expect(fixture.revoke("s1", revocation(), connection)).toBe(false);
      expect(connection.takeSent()).toStrictEqual([ended()]);
      expect(connection.saved).toMatchObject({ phase: "connected", subscriptions: [] });
    }
  });

  it("[U10] [U33] isn't made if the token is revoked, and is tried again if its home doesn't answer", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith();
    const tokens = subscriptionToken({ channel: "news", uid: "s1" });
    fixture.take(connection, subscribe(2), tokens);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.home.answer(undefined);
    expect(connection.takeSent()).toStrictEqual([internal(2)]);
    fixture.take(connection, subscribe(3), tokens);
    fixture.home.answer(0, { blocked: [tokenKey("s1")] });
    expect(connection.takeSent()).toStrictEqual([denied(3)]);
  });

  it("[U10] isn't made if the revocation comes after the home's answer, and before the command is carried out", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith();
    const tokens = subscriptionToken({ channel: "news", uid: "s1" });
    connection.session.context.registrar?.askForTokens(connection.session, tokens, () => undefined);
    fixture.home.answer(0);
    expect(fixture.revoke("s1", revocation(), connection)).toBe(false);
    fixture.send(connection, subscribe(2), tokens);
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
    // A subscribe that waits for an earlier one is carried out later still.
    const later = subscriptionToken({ channel: "news", uid: "s2" });
    fixture.send(connection, `{"id":3,"subscribe":{"channel":"news"}}`);
    fixture.take(connection, subscribe(4), later);
    fixture.home.answer(0);
    fixture.revoke("s2", revocation(), connection);
    fixture.channels.refuseSubscribe("news", { code: 100, message: "m", temporary: true });
    expect(connection.takeSent().at(-1)).toBe(denied(4));
  });

  it("[U10] ends before it has begun", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith();
    fixture.take(connection, subscribe(2), subscriptionToken({ channel: "news", uid: "s1" }));
    fixture.home.answer(0);
    expect(fixture.revoke("s1", revocation(), connection)).toBe(true);
    expect(connection.takeSent()).toStrictEqual([ended()]);
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[U10] belongs to its latest token", () => {
    const fixture = new TokenFixture();
    const connection = fixture.subscribedWith({ uid: "s1" });
    const frame = `{"id":3,"sub_refresh":{"channel":"news","token":"t"}}`;
    fixture.take(connection, frame, subscriptionToken({ channel: "news", uid: "s2" }));
    fixture.home.answer(0);
    expect(connection.takeSent()).toStrictEqual([`{"id":3,"sub_refresh":{}}`]);
    fixture.revoke("s1", revocation(), connection);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.take(connection, frame, subscriptionToken({ channel: "news", uid: "s3" }));
    fixture.home.answer(0, { blocked: [tokenKey("s3")] });
    expect(connection.takeSent()).toStrictEqual([closed]);
  });

  it("[U10] [U15] keeps its registration while it is used, and one sweep longer", () => {
    const fixture = new TokenFixture();
    const connection = fixture.subscribedWith({ uid: "s1" });
    const other = fixture.connecting({ uid: "t1" });
    const { users } = fixture.home;
    const keys = ["s1", "t1", "t2"].map(tokenKey);
    const held = () => users.present(keys, [connection.session, other.session]);
    expect(held()).toStrictEqual(keys.slice(0, 2));
    fixture.home.answer(0);
    for (const { session } of [connection, other]) session.ended();
    expect(held()).toStrictEqual(keys.slice(0, 2));
    expect(held()).toStrictEqual([]);
    fixture.connecting({ uid: "s1" });
    expect(fixture.home.calls.flatMap((call) => call.users)).toContain(keys[0]);
  });

  it("[B1] [U10] is remembered as revoked among as many others as fit", () => {
    const { users } = new TokenFixture().home;
    for (let index = 0; index <= limits.revokedTokensRememberedMax; index++)
      users.tokens.carryOut(`t${index}`, [{ number: 0, order: revocation() }], [], startMs);
    expect(users.tokens.isRevoked("t0", startMs)).toBe(false);
    expect(users.tokens.isRevoked("t1", startMs)).toBe(true);
  });
});

describe("an order that makes tokens of a user invalid", () => {
  it("[U11] closes connections with earlier tokens, and those with none of a known time", () => {
    const fixture = new TokenFixture();
    const [before, without, after] = [
      fixture.connectedWith({ issuedAtSeconds: startSeconds - 1 }),
      fixture.connectedWith(),
      fixture.connectedWith({ issuedAtSeconds: startSeconds }),
    ];
    fixture.invalidate(everything, before, without, after);
    expect(before.takeSent()).toStrictEqual([closed]);
    expect(without.takeSent()).toStrictEqual([closed]);
    expect(after.takeSent()).toStrictEqual([]);
    expect(after.saved.invalidated).toBe(true);
  });

  it("[U11] [U29] ends subscriptions with earlier tokens, of one channel or of all, and no others", () => {
    for (const [channel, issuedBefore, expected] of [
      ["news", startSeconds, [ended()]],
      ["", 1, [ended()]],
      ["sport", startSeconds, []],
    ] as const) {
      const fixture = new TokenFixture();
      const connection = fixture.connectedWith({ issuedAtSeconds: startSeconds });
      fixture.take(connection, subscribe(2), subscriptionToken({ channel: "news" }));
      fixture.take(connection, `{"id":3,"subscribe":{"channel":"open"}}`, {});
      fixture.channels.acceptSubscribe("news");
      fixture.channels.acceptSubscribe("open");
      connection.takeSent();
      const one = { channel, issuedBeforeSeconds: issuedBefore, expireAtSeconds: 0 };
      fixture.invalidate(one, connection);
      expect(connection.takeSent()).toStrictEqual(expected);
    }
  });

  it("[U11] [U30] refuses earlier tokens from then on, without asking the home", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ issuedAtSeconds: startSeconds });
    fixture.invalidate(everything, connection);
    fixture.take(connection, subscribe(2), subscriptionToken({ channel: "news" }));
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
    const issuedAtSeconds = startSeconds;
    const current = subscriptionToken({ channel: "news", issuedAtSeconds });
    fixture.take(connection, subscribe(3), current);
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([subscribed(3)]);
    const refresh = `{"id":4,"refresh":{"token":"t"}}`;
    fixture.take(connection, refresh, connectionToken("42", { issuedAtSeconds }));
    expect(connection.takeSent()).toStrictEqual([`{"id":4,"refresh":{}}`]);
    fixture.take(connection, refresh, connectionToken("42", { issuedAtSeconds: 1 }));
    expect(connection.takeSent()).toStrictEqual([closed]);
    expect(fixture.home.calls).toStrictEqual([]);
    const late = fixture.connecting();
    expect(late.takeSent()).toStrictEqual([closed]);
  });

  it("[B1] [U11] is remembered beside as many later ones as there may be", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ issuedAtSeconds: startSeconds });
    fixture.invalidate({ ...everything, channel: "news" }, connection);
    for (let second = 1; second <= 2 * limits.invalidationsPerUserMax; second++)
      fixture.invalidate({ ...everything, issuedBeforeSeconds: second }, connection);
    expect(fixture.home.users.invalidations("42")).toHaveLength(2);
    const tokens = subscriptionToken({ channel: "news", issuedAtSeconds: startSeconds - 1 });
    fixture.take(connection, subscribe(2), tokens);
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
  });

  it("[U30] is asked for again by an object that has forgotten it", () => {
    const before = new TokenFixture();
    const connection = before.connectedWith({ issuedAtSeconds: startSeconds });
    before.invalidate(everything, connection);
    for (const [answer, expected] of [
      [{ invalidations: [{ user: "42", ...everything }] }, denied(2)],
      [undefined, internal(2)],
    ] as const) {
      const fixture = new TokenFixture();
      const restored = fixture.open(connection.saved);
      fixture.take(restored, subscribe(2), subscriptionToken({ channel: "news" }));
      expect(restored.takeSent()).toStrictEqual([]);
      fixture.home.answer(answer === undefined ? undefined : 1, answer);
      expect(restored.takeSent()).toStrictEqual([expected]);
    }
  });

  it("[U11] holds for a connection that is being made, of which nothing reaches the client", () => {
    const fixture = new TokenFixture();
    const stands = { invalidations: [{ user: "42", ...everything }] };
    const connection = fixture.connecting({ issuedAtSeconds: startSeconds });
    fixture.take(connection, subscribe(2), subscriptionToken({ channel: "news" }));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.home.answer(3, stands);
    const [connected, ...rest] = connection.takeSent();
    expect(connected).toContain('"connect"');
    expect(rest).toStrictEqual([denied(2)]);
    expect(connection.saved).toMatchObject({ invalidated: true, lastOrder: 3 });
    const other = new TokenFixture();
    const refused = other.connecting({ issuedAtSeconds: startSeconds - 1 });
    other.home.answer(3, stands);
    expect(refused.takeSent()).toStrictEqual([closed]);
  });

  it("[U11] holds until it ends", () => {
    const fixture = new TokenFixture();
    const connection = fixture.connectedWith({ issuedAtSeconds: startSeconds });
    const expireAtSeconds = startSeconds + 10;
    fixture.invalidate({ ...everything, expireAtSeconds }, connection);
    const tokens = subscriptionToken({ channel: "news" });
    fixture.nowMs = expireAtSeconds * 1_000 - 1;
    fixture.take(connection, subscribe(2), tokens);
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
    fixture.nowMs++;
    fixture.take(connection, subscribe(3), tokens);
    fixture.channels.acceptSubscribe("news");
    fixture.channels.push("news", "1");
    expect(connection.takeSent()).toStrictEqual([subscribed(3), pushed("news", "1")]);
  });
});

describe("the connections of one user, where their number is limited", () => {
  const limited = { client: { user_connection_limit: 1 } };

  it("[U12] get nothing until the user's home has admitted them", () => {
    const fixture = new TokenFixture(limited);
    const connection = fixture.connecting();
    fixture.home.answer(0);
    expect(connection.takeSent()).toStrictEqual([]);
    const [admission] = fixture.home.admissions;
    expect(admission?.connections).toStrictEqual([{ key: "42", client: "c1" }]);
    admission?.answer({ refused: [] });
    expect(connection.takeSent()[0]).toContain('"connect"');
  });

  it("[U12] are closed for good if they are too many, and come again if the home doesn't answer", () => {
    const fixture = new TokenFixture(limited);
    const [one, two, three] = [fixture.connecting(), fixture.connecting(), fixture.connecting()];
    fixture.home.answer(0);
    const [first, second, third] = fixture.home.admissions;
    first?.answer({ refused: ["c1"] });
    second?.answer(undefined);
    third?.answer({ refused: [] });
    expect(one.takeSent()).toStrictEqual(["close 3504 connection limit"]);
    expect(two.takeSent()).toStrictEqual(["close 3004 internal server error"]);
    expect(three.takeSent()[0]).toContain('"connect"');
  });

  it("[U12] aren't counted without a user, or without the option", () => {
    const fixture = new TokenFixture(limited);
    expect(fixture.connecting({}, "").takeSent()[0]).toContain('"connect"');
    const other = new TokenFixture();
    other.connectedWith();
    expect([...fixture.home.admissions, ...other.home.admissions]).toStrictEqual([]);
  });
});
