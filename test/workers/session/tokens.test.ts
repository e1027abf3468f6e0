import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { call, publish } from "../support/api-request.ts";
import { attachmentsOf, hibernate } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, variants } from "../support/variant.ts";
import { writeRegistrations } from "../users/written-registrations.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { patience } from "../../support/patience.ts";

afterEach(() => {
  watchedRelay.orderFault = undefined;
});

/** A user and a token that no other test has. */
const newUser = () => `user-${crypto.randomUUID()}`;
const newUid = () => `token-${crypto.randomUUID()}`;
const homeOf = (key: string) => env.USERS.getByName(homeName(key));
const done = { status: 200, body: '{"result":{}}' };
const invalid = { code: 3500, reason: "invalid token" };
const ended = (channel: string) =>
  `{"push":{"channel":"${channel}","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;
const denied = (id: number) => `{"id":${id},"error":{"code":103,"message":"permission denied"}}`;

/** Asks to subscribe with a token of these claims. */
async function subscribeWith(
  socket: TestSocket,
  id: number,
  channel: string,
  claims: object,
): Promise<void> {
  const subscribe = { channel, token: await token({ channel, ...claims }) };
  socket.send({ id, subscribe });
}

describe.each(variants)("tokens on $name", (variant) => {
  /** Lets the objects stay or evicts them, the homes included. */
  const pause = async (channel: string, ...keys: readonly string[]): Promise<void> => {
    await variant.betweenSteps(channel);
    if (!variant.name.endsWith("evicted")) return;
    // A home falls asleep when it has written its registrations.
    for (const key of keys) {
      await writeRegistrations(key);
      await hibernate(homeOf(key));
    }
  };

  it("[U10] revoke_token ends the connections that were made with one, and lets none back in", async () => {
    const channel = newChannel("room");
    const [user, jti, other] = [newUser(), newUid(), newUid()];
    const sockets = [
      await variant.subscribe(channel, user, { jti }),
      await variant.connect(channel, user, { jti }),
    ];
    const spared = await variant.subscribe(channel, user, { jti: other });
    for (const socket of [...sockets, spared]) await socket.unread();
    await pause(channel, user, tokenKey(jti));
    expect(await call("revoke_token", { uid: jti })).toStrictEqual(done);
    for (const socket of sockets) expect(await socket.closed).toStrictEqual(invalid);
    await pause(channel, user, tokenKey(jti));
    await publish(channel, 1);
    expect((await spared.unread()).join()).toContain('"data":1');
    const again = await variant.open(channel);
    const connect = { token: await token({ sub: user, jti }) };
    again.send({ id: 1, connect }, { id: 2, subscribe: { channel } });
    expect(await again.closed).toStrictEqual(invalid);
    expect(await again.rest()).toStrictEqual([]);
    // A token in the upgrade is held to the same.
    const upgraded = await variant.open(channel, `?token=${connect.token}`);
    upgraded.send({ id: 1, connect: {} });
    expect(await upgraded.closed).toStrictEqual(invalid);
    await variant.connect(channel, user, { jti: newUid() });
  });

  it("[U10] revoke_token ends the subscriptions that were made with one", async () => {
    const channel = newChannel("room");
    const [user, jti] = [newUser(), newUid()];
    const socket = await variant.connect(channel, user);
    await subscribeWith(socket, 2, channel, { sub: user, jti });
    expect(await socket.line()).toContain('"subscribe"');
    await socket.unread();
    await pause(channel, user, tokenKey(jti));
    expect(await call("revoke_token", { uid: jti })).toStrictEqual(done);
    expect(await socket.line()).toBe(ended(channel));
    await pause(channel, user, tokenKey(jti));
    await subscribeWith(socket, 3, channel, { sub: user, jti });
    expect(await socket.line()).toBe(denied(3));
    await publish(channel, 1);
    expect(await socket.unread()).toStrictEqual([]);
    const refresh = { token: await token({ sub: user, jti }) };
    socket.send({ id: 4, refresh });
    expect(await socket.closed).toStrictEqual(invalid);
  });

  it("[U11] invalidate_user_tokens ends what was made with earlier tokens, and refuses them", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const iat = secondsFromNow(-100);
    // After the order, also where the test is slow.
    const afterIat = secondsFromNow(60);
    const [early, without] = [
      await variant.connect(channel, user, { iat }),
      await variant.connect(channel, user),
    ];
    const current = await variant.connect(channel, user, { iat: afterIat });
    await subscribeWith(current, 2, channel, { sub: user, iat });
    expect(await current.line()).toContain('"subscribe"');
    await current.unread();
    const other = await variant.connect(channel, newUser(), { iat });
    await pause(channel, user);
    expect(await call("invalidate_user_tokens", { user })).toStrictEqual(done);
    for (const socket of [early, without]) expect(await socket.closed).toStrictEqual(invalid);
    expect(await current.line()).toBe(ended(channel));
    await pause(channel, user);
    await subscribeWith(current, 3, channel, { sub: user, iat });
    expect(await current.line()).toBe(denied(3));
    await subscribeWith(current, 4, channel, { sub: user, iat: afterIat });
    expect(await current.line()).toContain('{"id":4,"subscribe"');
    const again = await variant.open(channel);
    again.send({ id: 1, connect: { token: await token({ sub: user, iat }) } });
    expect(await again.closed).toStrictEqual(invalid);
    const upgraded = await variant.open(channel, `?token=${await token({ sub: user, iat })}`);
    upgraded.send({ id: 1, connect: {} });
    expect(await upgraded.closed).toStrictEqual(invalid);
    await variant.connect(channel, user, { iat: afterIat });
    await pause(channel, user);
    current.send({ id: 5, refresh: { token: await token({ sub: user, iat }) } });
    expect(await current.closed).toStrictEqual(invalid);
    expect(await other.unread()).toStrictEqual([]);
  });

  it("[U29] invalidate_user_tokens with a channel leaves connections and other channels alone", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user);
    await subscribeWith(socket, 2, channel, { sub: user });
    expect(await socket.line()).toContain('"subscribe"');
    await socket.unread();
    await pause(channel, user);
    const elsewhere = { user, channel: newChannel("room") };
    expect(await call("invalidate_user_tokens", elsewhere)).toStrictEqual(done);
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1');
    await pause(channel, user);
    expect(await call("invalidate_user_tokens", { user, channel })).toStrictEqual(done);
    expect(await socket.line()).toBe(ended(channel));
    await variant.connect(channel, user);
    socket.send({ id: 3, subscribe: { channel } });
    expect(await socket.line()).toContain('{"id":3,"subscribe"');
  });
});

describe.each(awakeVariants)("the homes of tokens and $place.name", (variant) => {
  it("[U32] [U10] cost a call and a row for each token with a jti, and nothing for others", async () => {
    const channel = newChannel("room");
    const user = newUser();
    let jti = newUid();
    // The user's own call is to another home.
    while (homeName(tokenKey(jti)) === homeName(user)) jti = newUid();
    const counts = () =>
      runInDurableObject<UsersObject, { readonly rows: number; readonly calls: number }>(
        homeOf(tokenKey(jti)),
        ({ sql, callsTaken }) => ({ rows: sql.rowsWritten, calls: callsTaken }),
      );
    let neighbour = newUid();
    while (homeName(tokenKey(neighbour)) !== homeName(tokenKey(jti))) neighbour = newUid();
    await variant.connect(channel, "", { jti: neighbour });
    await variant.connect(channel, user);
    await writeRegistrations(tokenKey(jti));
    const { rows, calls } = await counts();
    // The token comes alone. Those that come soon after another one share a commit.
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + limits.registrationsWriteMs);
    await variant.connect(channel, user, { jti });
    await variant.connect(channel, user, { jti });
    expect(await counts()).toStrictEqual({ rows: rows + 1, calls: calls + 1 });
    const saved = await attachmentsOf(variant.place.holder(channel));
    expect(saved.some(({ claims }) => claims?.uid === jti)).toBe(true);
    await hibernate(variant.place.holder(channel));
    await variant.connect(channel, user, { jti });
    expect(await counts()).toStrictEqual({ rows: rows + 1, calls: calls + 2 });
    vi.useRealTimers();
  });

  it("[U10] [U32] keep a registration for as long as what was made with the token may last", async () => {
    const channel = newChannel("room");
    const [jti, another, endless] = [newUid(), newUid(), newUid()];
    const user = newUser();
    const exp = secondsFromNow(60);
    const socket = await variant.connect(channel, user, { jti, exp });
    await subscribeWith(socket, 2, channel, { sub: user, jti: another, exp });
    expect(await socket.line()).toContain('"subscribe"');
    await variant.connect(channel, newUser(), { jti: endless });
    const ends: number[] = [];
    for (const uid of [jti, another, endless]) {
      const key = tokenKey(uid);
      await writeRegistrations(key);
      const end = await runInDurableObject<UsersObject, number>(homeOf(key), ({ sql }) => {
        const [row] = sql.rows("SELECT until FROM holder WHERE user = ?", key);
        return Number(row?.["until"]);
      });
      ends.push(end);
    }
    // Connections and subscriptions end 25 s after their tokens.
    const end = exp + 25 + limits.tokenKeptSeconds;
    expect(ends).toStrictEqual([end, end, 0]);
  });

  it("[U4] [U10] [U33] hold a connection back until they answer, and refuse it if they don't", async () => {
    const channel = newChannel("room");
    const jti = newUid();
    const socket = await variant.open(channel);
    const unblock = blockObject(homeOf(tokenKey(jti)));
    socket.send(
      { id: 1, connect: { token: await token({ sub: newUser(), jti }) } },
      { id: 2, subscribe: { channel } },
    );
    await vi.waitFor(async () => {
      const { body } = await call("presence_stats", { channel });
      expect(body).toContain('"num_clients":1');
    }, patience);
    expect(socket.received).toBe(0);
    await unblock();
    expect(await socket.line()).toContain('{"id":1,"connect"');
    const later = await variant.open(channel);
    const another = newUid();
    lowerLimits(limits, { registerAnswerMs: 300 });
    const unblockAnother = blockObject(homeOf(tokenKey(another)));
    later.send({ id: 1, connect: { token: await token({ sub: "", jti: another }) } });
    expect((await later.closed).code).toBe(3004);
    await unblockAnother();
  });

  it("[U3] [U10] [U34] repeat a revocation until it is carried out", async () => {
    const channel = newChannel("room");
    const jti = newUid();
    const socket = await variant.connect(channel, newUser(), { jti });
    watchedRelay.orderFault = lostCall;
    const answer = call("revoke_token", { uid: jti });
    await vi.waitFor(async () => {
      const orders = await runInDurableObject<UsersObject, number>(
        homeOf(tokenKey(jti)),
        ({ sql }) => sql.rows("SELECT 1 FROM user_order WHERE user = ?", tokenKey(jti)).length,
      );
      expect(orders).toBe(1);
    }, patience);
    // It is refused already, whatever becomes of the order.
    const again = await variant.open(channel);
    again.send({ id: 1, connect: { token: await token({ sub: newUser(), jti }) } });
    watchedRelay.orderFault = undefined;
    expect(await answer).toStrictEqual(done);
    expect(await socket.closed).toStrictEqual(invalid);
    expect(await again.closed).toStrictEqual(invalid);
  });
});
