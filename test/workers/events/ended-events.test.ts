import { describe, expect, it } from "vitest";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName, homeObject } from "../../../src/contract/object-names.ts";
import { call } from "../support/api-request.ts";
import { configureEvents, takenOf, takenUntil, toldOfUser } from "./event-receiver.ts";
import { eventObjectOf, story } from "./event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import { token } from "../support/sign-token.ts";
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
});
