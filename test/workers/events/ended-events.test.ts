import { describe, expect, it } from "vitest";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName, homeObject } from "../../../src/contract/object-names.ts";
import { call } from "../support/api-request.ts";
import { configureEvents, takenOf, takenUntil, toldOfUser } from "./event-receiver.ts";
import { eventObjectOf, story, typesTaken } from "./event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { variants } from "../support/variant.ts";

configureEvents(
  {
    types: [
      "connected",
      "disconnected",
      "subscribed",
      "unsubscribed",
      "user_online",
      "user_offline",
    ],
  },
  {
    client: {
      ...testConfig.client,
      user_connection_limit: 2,
      proxy: { connect: { enabled: true, endpoint: "service:BACKEND", timeout: "20s" } },
    },
  },
);

const newUser = () => `user-${crypto.randomUUID()}`;
const done = { status: 200, body: '{"result":{}}' };
const ended = "disconnected 3500 invalid token";

describe.each(variants)("the events of connections on $name", (variant) => {
  /** A socket that has asked to connect as a user whom the backend names. */
  async function connecting(channel: string, user: string): Promise<TestSocket> {
    const socket = await variant.open(channel);
    const result = { user, info: { by: "hook" } };
    socket.send({ id: 1, connect: { data: { answer: { body: { result } } } } });
    return socket;
  }

  it("[E8] [E11] [Q2] tell of a user whom a backend named, as of any other", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await connecting(channel, user);
    expect(await socket.line()).toContain('"connect"');
    await variant.betweenSteps(channel);
    expect(await call("disconnect", { user })).toStrictEqual(done);
    const { code } = await socket.closed;
    expect(code).toBe(3503);
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
    const object = eventObjectOf(variant, channel);
    const [first] = await takenUntil(object, ({ type }) => type === "connected");
    expect(first).toMatchObject({ type: "connected", user, info: { by: "hook" } });
    expect(await story(variant, channel, first?.client ?? "")).toStrictEqual([
      "connected",
      "disconnected 3503 force disconnect",
    ]);
  });

  it("[E8] [E11] [U9] [U12] don't tell of those that weren't let in", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const sockets = [await variant.connect(channel, user), await variant.connect(channel, user)];
    await variant.betweenSteps(channel);
    const third = await variant.open(channel);
    third.send({ id: 1, connect: { token: await token({ sub: user }) } });
    expect((await third.closed).code).toBe(3504);
    expect(await call("block_user", { user })).toStrictEqual(done);
    await variant.betweenSteps(channel);
    const blocked = await connecting(channel, user);
    expect((await blocked.closed).code).toBe(3507);
    for (const { client } of sockets)
      expect(await story(variant, channel, client)).toStrictEqual([
        "connected",
        "disconnected 3507 permission denied",
      ]);
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
    // What the refused ones had told would have come before this.
    const last = await variant.connect(channel, newUser());
    last.close();
    await last.closed;
    await story(variant, channel, last.client);
    expect((await typesTaken(variant, channel)).toSorted()).toStrictEqual([
      "connected",
      "connected",
      "connected",
      "disconnected",
      "disconnected",
      "disconnected",
    ]);
    expect(await toldOfUser(user, 2)).toHaveLength(2);
  });

  it("[E8] [E11] [U10] say that a token was revoked, and tell of nobody by the token's home", async () => {
    const channel = newChannel("room");
    const [user, uid, other] = [newUser(), crypto.randomUUID(), crypto.randomUUID()];
    const socket = await variant.subscribe(channel, user, { jti: uid });
    const subscriber = await variant.connect(channel, user);
    const claims = { sub: user, channel, jti: other };
    await subscriber.ask({ id: 2, subscribe: { channel, token: await token(claims) } });
    await variant.betweenSteps(channel);
    for (const one of [uid, other])
      expect(await call("revoke_token", { uid: one })).toStrictEqual(done);
    await socket.closed;
    subscriber.close();
    await subscriber.closed;
    expect(await story(variant, channel, socket.client)).toStrictEqual([
      "connected",
      "subscribed",
      "unsubscribed",
      ended,
    ]);
    expect(await story(variant, channel, subscriber.client)).toStrictEqual([
      "connected",
      "subscribed",
      "unsubscribed 2000 server unsubscribe",
      "disconnected 1000",
    ]);
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
    for (const one of [uid, other]) {
      const told = await takenOf(homeObject(homeName(tokenKey(one))));
      expect(JSON.stringify(told)).not.toContain(one);
    }
  });

  it("[E8] [U11] say that a user's tokens aren't valid any more", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user, { iat: secondsFromNow(-100) });
    await variant.betweenSteps(channel);
    expect(await call("invalidate_user_tokens", { user })).toStrictEqual(done);
    await socket.closed;
    expect(await story(variant, channel, socket.client)).toStrictEqual(["connected", ended]);
    await variant.betweenSteps(channel);
    const again = await variant.open(channel);
    const invalid = await token({ sub: user, iat: secondsFromNow(-100) });
    again.send({ id: 1, connect: { token: invalid } });
    expect((await again.closed).code).toBe(3500);
    expect(await typesTaken(variant, channel)).toStrictEqual(["connected", "disconnected"]);
    expect(await toldOfUser(user, 2)).toContain("user_offline");
  });
});
