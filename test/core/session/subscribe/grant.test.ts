import { describe, expect, it } from "vitest";
import type { Refusal } from "../../../../src/access/refusal.ts";
import type { SubscriptionClaims } from "../../../../src/access/claims.ts";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture, type ChannelFixtureSetup, startMs } from "../channel-fixture.ts";
import { expiredToken, invalidToken, subscriptionToken } from "../verified-tokens.ts";

const open = { allow_subscribe_for_client: true };
const denied = `{"id":2,"error":{"code":103,"message":"permission denied"}}`;
const badRequest = `{"id":2,"error":{"code":107,"message":"bad request"}}`;
const granted = `{"id":2,"subscribe":{}}`;

function subscribe(fields: string): string {
  return `{"id":2,"subscribe":{${fields}}}`;
}

describe("a subscribe", () => {
  it("[A1] is refused where the configuration opens nothing", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, subscribe(`"channel":"room"`))).toStrictEqual([denied]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[W1] without history is answered with nothing at all", () => {
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.connected();
    expect(fixture.ask(connection, subscribe(`"channel":"room"`))).toStrictEqual([granted]);
    expect(connection.saved.subscriptions[0]).toStrictEqual({
      channel: "room",
      expireAtSeconds: 0,
      present: false,
      announced: false,
      hearsJoinLeave: false,
    });
  });

  it("[W1] a second time is answered 105, and changes nothing", () => {
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.subscribed();
    expect(fixture.ask(connection, `{"id":3,"subscribe":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([`{"push":{"channel":"room","pub":{"data":1}}}`]);
  });

  it.each([[""], [`"channel":""`]])("[W1] without a channel closes 3501: {%s}", (fields) => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.connected(), subscribe(fields))).toStrictEqual([
      "close 3501 bad request",
    ]);
  });

  it.each([
    ["too long", "x".repeat(256)],
    ["too long in bytes", "é".repeat(128)],
    ["not ASCII", "röom"],
    ["not what the namespace's regular expression wants", "digits:a"],
  ])("[W1] to a name that is %s is answered 107", (_, name) => {
    const namespaces = [{ name: "digits", channel_regex: "^[0-9]+$" }];
    const fixture = new ChannelFixture({ options: open, channel: { namespaces } });
    expect(fixture.ask(fixture.connected(), subscribe(`"channel":"${name}"`))).toStrictEqual([
      badRequest,
    ]);
  });

  it.each([["nowhere:room"], ["other"], ["Room"], ["room "], ["$room"]])(
    "[C6] to another channel is answered 102: %s",
    (name) => {
      const fixture = new ChannelFixture({ options: open });
      const received = fixture.ask(fixture.connected(), subscribe(`"channel":"${name}"`));
      expect(received).toStrictEqual([`{"id":2,"error":{"code":102,"message":"unknown channel"}}`]);
    },
  );

  it.each([[1], [2], [3], [4], [-1]])("[W1] of type %i is answered 103", (type) => {
    const fixture = new ChannelFixture({ options: open });
    const received = fixture.ask(fixture.connected(), subscribe(`"channel":"room","type":${type}`));
    expect(received).toStrictEqual([denied]);
  });

  it("[W1] with an unknown delta closes 3501", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(
      fixture.ask(fixture.connected(), subscribe(`"channel":"room","delta":"zzz"`)),
    ).toStrictEqual(["close 3501 bad request"]);
  });

  it("[W1] with the fossil delta, which nothing allows, goes without it", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(
      fixture.ask(fixture.connected(), subscribe(`"channel":"room","delta":"fossil"`)),
    ).toStrictEqual([granted]);
  });

  it("[W1] with a tags filter, which nothing allows, is answered 107", () => {
    const fixture = new ChannelFixture({ options: open });
    const received = fixture.ask(
      fixture.connected(),
      subscribe(`"channel":"room","tf":{"key":"a","cmp":"ex"}`),
    );
    expect(received).toStrictEqual([badRequest]);
  });

  it("[W1] with the flag every SDK sends is answered as without", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.connected(), subscribe(`"channel":"room","flag":1`))).toStrictEqual([
      granted,
    ]);
  });
});

describe("a subscription token", () => {
  const request = subscribe(`"channel":"room","token":"t"`);

  it("[A4] opens a channel that nothing else opens", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, request, subscriptionToken())).toStrictEqual([granted]);
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([`{"push":{"channel":"room","pub":{"data":1}}}`]);
  });

  it("[A4] without a user opens its channel to clients without a user", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected("");
    expect(fixture.ask(connection, request, subscriptionToken({ user: "" }))).toStrictEqual([
      granted,
    ]);
  });

  it.each<[string, Partial<SubscriptionClaims>]>([
    ["another user", { user: "43" }],
    ["another user", { user: "" }],
    ["another channel", { channel: "other" }],
    ["another client", { client: "c9" }],
    ["another channel and another user", { channel: "other", user: "43" }],
  ])("[A4] [A13] closes 3500 when it is for %s, and the log says that: %j", (differing, claims) => {
    // The channel is open to all: a wrong token isn't made good by that.
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.connected();
    const reasons: string[] = [];
    Object.assign(connection.session.context, {
      refused: ({ reason }: Refusal) => reasons.push(reason),
    });
    expect(fixture.ask(connection, request, subscriptionToken(claims))).toStrictEqual([
      "close 3500 invalid token",
    ]);
    expect(reasons).toStrictEqual([`the token is for ${differing}`]);
  });

  it("[A4] bound to a connection opens the channel to that one", () => {
    const fixture = new ChannelFixture();
    const bound = subscriptionToken({ client: "c1" });
    expect(fixture.ask(fixture.connected(), request, bound)).toStrictEqual([granted]);
    expect(fixture.ask(fixture.connected(), request, bound)).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it("[A4] that is invalid is answered 103, even where the channel is open", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.connected(), request, invalidToken)).toStrictEqual([denied]);
  });

  it("[A4] that has expired is answered 109, even where the channel is open", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.connected(), request, expiredToken)).toStrictEqual([
      `{"id":2,"error":{"code":109,"message":"token expired"}}`,
    ]);
  });

  it("[W1] that is good but names an end that has passed is answered 110", () => {
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.connected();
    const token = subscriptionToken({ expireAtSeconds: startMs / 1000 });
    expect(fixture.ask(connection, request, token)).toStrictEqual([
      `{"id":2,"error":{"code":110,"message":"expired"}}`,
    ]);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[W1] tells when the subscription ends, and its data as it was written", () => {
    const fixture = new ChannelFixture();
    const token = subscriptionToken({
      expireAtSeconds: startMs / 1000 + 30,
      data: json(`{"n":1.00}`),
    });
    expect(fixture.ask(fixture.connected(), request, token)).toStrictEqual([
      `{"id":2,"subscribe":{"expires":true,"ttl":30,"data":{"n":1.00}}}`,
    ]);
  });

  it("[B2] whose info doesn't fit an attachment is answered 106, without an effect", () => {
    const fixture = new ChannelFixture({
      options: { join_leave: true, force_push_join_leave: true },
    });
    const observer = fixture.connected("7");
    fixture.ask(observer, request, subscriptionToken({ user: "7" }));
    const connection = fixture.connected();
    const info = json(`"${"x".repeat(limits.attachmentBytesMax)}"`);
    expect(fixture.ask(connection, request, subscriptionToken({ info }))).toStrictEqual([
      `{"id":2,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
    expect(observer.takeSent()).toStrictEqual([]);
    expect(fixture.ask(connection, request, subscriptionToken())[0]).toBe(granted);
  });
});

describe("a token's override", () => {
  const request = subscribe(`"channel":"room","token":"t"`);
  const withHistory = { history_size: 10, history_ttl: "60s" };
  const positioned = `{"id":2,"subscribe":{"epoch":"epoch1","positioned":true}}`;
  const recoverable = `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","positioned":true}}`;

  it.each<[SubscriptionClaims["override"], object, string]>([
    [{ forcePositioning: true }, withHistory, positioned],
    [{ forceRecovery: true }, withHistory, recoverable],
    [{ forcePositioning: false }, { ...withHistory, force_positioning: true }, granted],
    [{ forceRecovery: false }, { ...withHistory, force_recovery: true }, granted],
    [{ forceRecovery: true, forcePositioning: true }, {}, granted],
  ])("[A4] sets what positions are kept: %j over %j", (override, options, answer) => {
    const fixture = new ChannelFixture({ options });
    const received = fixture.ask(fixture.connected(), request, subscriptionToken({ override }));
    expect(received).toStrictEqual([answer]);
  });

  it.each<[SubscriptionClaims["override"], object, object]>([
    [{ presence: true }, {}, { present: true }],
    [{ presence: false }, { presence: true }, { present: false }],
    [{ joinLeave: true }, {}, { announced: true, hearsJoinLeave: false }],
    [{ joinLeave: true, forcePushJoinLeave: true }, {}, { announced: true, hearsJoinLeave: true }],
    [{ joinLeave: false }, { join_leave: true }, { announced: false, hearsJoinLeave: false }],
    [
      { joinLeave: false },
      { join_leave: true, force_push_join_leave: true },
      { announced: false, hearsJoinLeave: false },
    ],
    [
      { forcePushJoinLeave: false },
      { join_leave: true, force_push_join_leave: true },
      { announced: true, hearsJoinLeave: false },
    ],
    [{}, { presence: true, join_leave: true }, { present: true, announced: true }],
  ])("[P2] sets who is shown and told: %j over %j", (override, options, subscription) => {
    const fixture = new ChannelFixture({ options });
    const connection = fixture.connected();
    fixture.send(connection, request, subscriptionToken({ override }));
    expect(connection.saved.subscriptions).toMatchObject([subscription]);
  });
});

function asks(name: string): string {
  return subscribe(`"channel":"${name}"`);
}

describe("a channel with restricted access", () => {
  it("[A5] opens to a token only when it begins with $", () => {
    const setup: ChannelFixtureSetup = { name: "$room", options: open };
    const fixture = new ChannelFixture(setup);
    expect(fixture.ask(fixture.connected(), asks("$room"))).toStrictEqual([denied]);
    const token = subscriptionToken({ channel: "$room" });
    expect(fixture.ask(fixture.connected(), asks("$room"), token)).toStrictEqual([granted]);
  });

  it.each([
    ["42", granted],
    ["7", granted],
    ["4", denied],
    ["", denied],
    ["7,42", denied],
  ])("[A5] opens to the users it names: %j", (user, answer) => {
    // Open to clients but to no user in particular, which opens no user-limited channel.
    const options = {
      ...open,
      allow_subscribe_for_anonymous: true,
      allow_user_limited_channels: true,
    };
    const fixture = new ChannelFixture({ name: "chat#7,42", options });
    expect(fixture.ask(fixture.connected(user), asks("chat#7,42"))).toStrictEqual([answer]);
  });

  it("[A5] opens to a token of any user", () => {
    const fixture = new ChannelFixture({
      name: "chat#7",
      options: { allow_user_limited_channels: true },
    });
    const token = subscriptionToken({ channel: "chat#7" });
    expect(fixture.ask(fixture.connected(), asks("chat#7"), token)).toStrictEqual([granted]);
  });

  it("[A5] with an empty user doesn't open to clients without a user", () => {
    const fixture = new ChannelFixture({
      name: "chat#",
      options: { allow_user_limited_channels: true },
    });
    expect(fixture.ask(fixture.connected(""), asks("chat#"))).toStrictEqual([denied]);
  });

  it("[A5] is an ordinary one where the namespace has no user-limited channels", () => {
    const fixture = new ChannelFixture({ name: "chat#7", options: open });
    expect(fixture.ask(fixture.connected("42"), asks("chat#7"))).toStrictEqual([granted]);
  });

  it("[A1] is closed to anonymous users unless it is opened to them", () => {
    const closed = new ChannelFixture({ options: open });
    expect(closed.ask(closed.connected(""), asks("room"))).toStrictEqual([denied]);
    const opened = new ChannelFixture({
      options: { ...open, allow_subscribe_for_anonymous: true },
    });
    expect(opened.ask(opened.connected(""), asks("room"))).toStrictEqual([granted]);
  });
});

describe("an unsubscribe", () => {
  it("[W1] of the channel ends the subscription", () => {
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.subscribed();
    expect(fixture.ask(connection, `{"id":3,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"unsubscribe":{}}`,
    ]);
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
    expect(fixture.ask(connection, subscribe(`"channel":"room"`))).toStrictEqual([granted]);
  });

  it.each([["room"], ["other"], ["nowhere:room"]])(
    "[W1] of a channel that it isn't subscribed to succeeds: %s",
    (name) => {
      const fixture = new ChannelFixture({ options: open });
      expect(
        fixture.ask(fixture.connected(), `{"id":3,"unsubscribe":{"channel":"${name}"}}`),
      ).toStrictEqual([`{"id":3,"unsubscribe":{}}`]);
    },
  );

  it("[W1] of another channel leaves this one alone", () => {
    const fixture = new ChannelFixture({ options: open });
    const connection = fixture.subscribed();
    fixture.ask(connection, `{"id":3,"unsubscribe":{"channel":"other"}}`);
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([`{"push":{"channel":"room","pub":{"data":1}}}`]);
  });

  it.each([["{}"], [`{"channel":""}`]])("[W1] of no channel closes 3501: %s", (request) => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.subscribed(), `{"id":3,"unsubscribe":${request}}`)).toStrictEqual([
      "close 3501 bad request",
    ]);
  });
});
