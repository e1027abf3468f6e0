import { describe, expect, it } from "vitest";
import type { SubscriptionClaims } from "../../../../src/access/claims.ts";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture, startMs } from "../channel-fixture.ts";
import {
  connectionToken,
  expiredToken,
  invalidToken,
  subscriptionToken,
} from "../verified-tokens.ts";

const startSeconds = startMs / 1000;
const options = {
  allow_subscribe_for_client: true,
  presence: true,
  allow_presence_for_client: true,
};

describe("a refresh", () => {
  const refresh = `{"id":3,"refresh":{"token":"t"}}`;

  it("[W1] gets the whole seconds of the new token", () => {
    const fixture = new ChannelFixture();
    const token = connectionToken("42", { expireAtSeconds: startSeconds + 90 });
    expect(fixture.ask(fixture.connected(), refresh, token)).toStrictEqual([
      `{"id":3,"refresh":{"expires":true,"ttl":90}}`,
    ]);
  });

  it("[C12] with a token of a far end gets a ttl of a year", () => {
    const fixture = new ChannelFixture({ options });
    for (const expireAtSeconds of [startMs, startSeconds + 2 ** 31]) {
      const token = {
        ...connectionToken("42", { expireAtSeconds }),
        ...subscriptionToken({ expireAtSeconds }),
      };
      const connection = fixture.subscribed();
      expect([
        ...fixture.ask(connection, refresh, token),
        ...fixture.ask(connection, subRefresh(`"channel":"room","token":"t"`), token),
      ]).toStrictEqual([
        `{"id":3,"refresh":{"expires":true,"ttl":31536000}}`,
        `{"id":3,"sub_refresh":{"expires":true,"ttl":31536000}}`,
      ]);
    }
  });

  it("[C13] keeps the info and the metadata that the new token doesn't name, and nothing that allows", () => {
    const fixture = new ChannelFixture({ options });
    const before = { info: json(`{"n":1}`), meta: json("2"), capabilities: "[]" };
    const connection = fixture.open();
    fixture.ask(connection, `{"id":1,"connect":{}}`, connectionToken("42", before));
    fixture.hibernate();
    fixture.ask(connection, refresh, connectionToken("42", { uid: "other" }));
    expect(connection.saved.claims).toStrictEqual({
      user: "42",
      expireAtSeconds: 0,
      uid: "other",
      info: before.info,
      meta: before.meta,
    });
    const after = { info: json("3"), meta: json("4") };
    fixture.ask(connection, refresh, connectionToken("42", after));
    expect(connection.saved.claims).toMatchObject(after);
  });

  it("[W1] with a token without an end gets no ttl", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), refresh, connectionToken("42"))).toStrictEqual([
      `{"id":3,"refresh":{}}`,
    ]);
  });

  it("[C5] moves the end of the connection", () => {
    const fixture = new ChannelFixture({
      client: { ping_interval: "1h", expired_close_delay: "25s" },
    });
    const connection = fixture.open();
    fixture.ask(
      connection,
      `{"id":1,"connect":{}}`,
      connectionToken("42", { expireAtSeconds: startSeconds + 60 }),
    );
    fixture.ask(
      connection,
      refresh,
      connectionToken("42", { expireAtSeconds: startSeconds + 600 }),
    );
    fixture.pass(624_999);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3005 connection expired"]);
  });

  it("[S2] shows the new token's info to others at once, as after hibernation", () => {
    const fixture = new ChannelFixture({ options });
    const connection = fixture.subscribed();
    fixture.send(connection, refresh, connectionToken("42", { info: json(`"new"`) }));
    connection.takeSent();
    const presence = `{"id":4,"presence":{"channel":"room"}}`;
    const awake = fixture.ask(connection, presence);
    fixture.hibernate();
    expect(fixture.ask(connection, presence)).toStrictEqual(awake);
    expect(awake).toStrictEqual([
      `{"id":4,"presence":{"presence":{"c1":{"user":"42","client":"c1","conn_info":"new"}}}}`,
    ]);
  });

  it.each([["43"], [""]])("[C7] with a token of another user closes 3500: %j", (user) => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), refresh, connectionToken(user))).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it("[C7] with an invalid token closes 3500", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), refresh, invalidToken)).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it("[C7] with an expired token closes 3005", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), refresh, expiredToken)).toStrictEqual([
      "close 3005 connection expired",
    ]);
  });

  it("[C7] with a valid token that has expired closes 3005", () => {
    const fixture = new ChannelFixture();
    const token = connectionToken("42", { expireAtSeconds: startSeconds });
    expect(fixture.ask(fixture.connected(), refresh, token)).toStrictEqual([
      "close 3005 connection expired",
    ]);
  });

  it("[C7] without a token closes 3501", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), `{"id":3,"refresh":{"token":""}}`)).toStrictEqual([
      "close 3501 bad request",
    ]);
  });

  it("[B2] whose claims don't fit an attachment is answered 106, and the old ones stay", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    const before = connection.saved;
    const info = json(`"${"x".repeat(limits.sessionClaimsBytesMax)}"`);
    expect(fixture.ask(connection, refresh, connectionToken("42", { info }))).toStrictEqual([
      `{"id":3,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(connection.saved).toStrictEqual(before);
  });
});

function subRefresh(fields: string): string {
  return `{"id":3,"sub_refresh":{${fields}}}`;
}

describe("a sub_refresh", () => {
  const ordinary = subRefresh(`"channel":"room","token":"t"`);
  const denied = [`{"id":3,"error":{"code":103,"message":"permission denied"}}`];
  const badRequest = [`{"id":3,"error":{"code":107,"message":"bad request"}}`];

  it("[W1] gets the whole seconds of the new token", () => {
    const fixture = new ChannelFixture({ options });
    const token = subscriptionToken({ expireAtSeconds: startSeconds + 90 });
    expect(fixture.ask(fixture.subscribed(), ordinary, token)).toStrictEqual([
      `{"id":3,"sub_refresh":{"expires":true,"ttl":90}}`,
    ]);
  });

  it("[W1] with a token without an end gets no ttl, and the subscription no longer expires", () => {
    const fixture = new ChannelFixture({ options, client: { ping_interval: "1h" } });
    const ending = subscriptionToken({ expireAtSeconds: startSeconds + 10 });
    const connection = fixture.subscribed("42", `{"channel":"room","token":"t"}`, ending);
    expect(fixture.ask(connection, ordinary, subscriptionToken())).toStrictEqual([
      `{"id":3,"sub_refresh":{}}`,
    ]);
    fixture.pass(100_000);
    expect(connection.takeSent()).toStrictEqual([]);
  });

  it("[C5] moves the end of the subscription", () => {
    const client = { ping_interval: "1h", expired_sub_close_delay: "5s" };
    const fixture = new ChannelFixture({ options, client });
    const connection = fixture.subscribed();
    fixture.ask(connection, ordinary, subscriptionToken({ expireAtSeconds: startSeconds + 10 }));
    fixture.pass(14_999);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","unsubscribe":{"code":2501,"reason":"subscription expired"}}}`,
    ]);
  });

  it("[W1] of a channel that it isn't subscribed to is answered 103", () => {
    const fixture = new ChannelFixture({ options });
    expect(fixture.ask(fixture.connected(), ordinary, subscriptionToken())).toStrictEqual(denied);
    const other = subRefresh(`"channel":"other","token":"t"`);
    expect(
      fixture.ask(fixture.subscribed(), other, subscriptionToken({ channel: "other" })),
    ).toStrictEqual(denied);
  });

  it.each([[""], [`"token":"t"`]])("[W1] without a channel closes 3501: {%s}", (fields) => {
    const fixture = new ChannelFixture({ options });
    expect(
      fixture.ask(fixture.subscribed(), subRefresh(fields), subscriptionToken()),
    ).toStrictEqual(["close 3501 bad request"]);
  });

  it("[W1] without a token is answered 107", () => {
    const fixture = new ChannelFixture({ options });
    expect(fixture.ask(fixture.subscribed(), subRefresh(`"channel":"room"`))).toStrictEqual(
      badRequest,
    );
  });

  it.each([[1], [2]])("[W1] of type %i, which belongs to shared poll, is answered 107", (type) => {
    const fixture = new ChannelFixture({ options });
    const ask = subRefresh(`"channel":"room","token":"t","type":${type}`);
    expect(fixture.ask(fixture.subscribed(), ask, subscriptionToken())).toStrictEqual(badRequest);
  });

  it("[C7] with an expired token closes 3006", () => {
    const fixture = new ChannelFixture({ options });
    expect(fixture.ask(fixture.subscribed(), ordinary, expiredToken)).toStrictEqual([
      "close 3006 subscription expired",
    ]);
  });

  it("[C7] with a valid token that has expired closes 3006", () => {
    const fixture = new ChannelFixture({ options });
    const token = subscriptionToken({ expireAtSeconds: startSeconds });
    expect(fixture.ask(fixture.subscribed(), ordinary, token)).toStrictEqual([
      "close 3006 subscription expired",
    ]);
  });

  it("[C7] with an invalid token closes 3500", () => {
    const fixture = new ChannelFixture({ options });
    expect(fixture.ask(fixture.subscribed(), ordinary, invalidToken)).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it.each<[string, Partial<SubscriptionClaims>]>([
    ["user", { user: "43" }],
    ["channel", { channel: "other" }],
    ["connection", { client: "c9" }],
  ])("[C7] with a token of another %s closes 3500", (_, claims) => {
    const fixture = new ChannelFixture({ options });
    expect(fixture.ask(fixture.subscribed(), ordinary, subscriptionToken(claims))).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it("[A4] takes a token that is bound to this connection", () => {
    const fixture = new ChannelFixture({ options });
    const bound = subscriptionToken({ client: "c1" });
    expect(fixture.ask(fixture.subscribed(), ordinary, bound)).toStrictEqual([
      `{"id":3,"sub_refresh":{}}`,
    ]);
  });

  it("[S2] shows the new token's info at once, as after hibernation", () => {
    const fixture = new ChannelFixture({
      options: { ...options, presence: true, allow_presence_for_subscriber: true },
    });
    const connection = fixture.subscribed();
    const see = `{"id":4,"presence":{"channel":"room"}}`;
    fixture.ask(connection, ordinary, subscriptionToken({ info: json('{"seat":7}') }));
    const [seen] = fixture.ask(connection, see);
    expect(seen).toContain('"chan_info":{"seat":7}');
    fixture.hibernate();
    expect(fixture.ask(connection, see)).toStrictEqual([seen]);
    // A token without info leaves it (rule C13).
    fixture.ask(connection, ordinary, subscriptionToken());
    expect(fixture.ask(connection, see)).toStrictEqual([seen]);
  });

  it("[S1] with more info than fits an attachment is answered 106 and changes nothing", () => {
    const fixture = new ChannelFixture({ options });
    const connection = fixture.subscribed();
    const before = connection.saved;
    const info = json(`"${"x".repeat(limits.attachmentBytesMax)}"`);
    expect(fixture.ask(connection, ordinary, subscriptionToken({ info }))).toStrictEqual([
      `{"id":3,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(connection.saved).toStrictEqual(before);
  });
});
