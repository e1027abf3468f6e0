import { describe, expect, it } from "vitest";
import type {
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../../../../src/contract/session-snapshot.ts";
import { limits } from "../../../../src/limits.ts";
import { connectionState } from "../../../../src/session/connection-state.ts";
import { startMs } from "../channel-fixture.ts";
import type { UserAnswer } from "../../../../src/users/local-users.ts";
import { HeldFixture } from "../held-fixture.ts";
import { ManyChannelsFixture, type ManyChannelsSetup } from "../many-channels-fixture.ts";
import { connectionToken } from "../verified-tokens.ts";

const claims = { user: "42", expireAtSeconds: 99 };

/** A connected session as backends are shown it. */
function shown(more: Partial<SessionSnapshot>, setup: ManyChannelsSetup = {}) {
  const fixture = new ManyChannelsFixture(setup);
  const { session } = fixture.open({ phase: "connected", claims, ...more });
  return connectionState(session);
}

/** The subscription of such a session as backends are shown it. */
function shownSubscription(
  more: Partial<SubscriptionSnapshot>,
  setup: ManyChannelsSetup = {},
  identity: Partial<SessionSnapshot> = {},
) {
  const flags = { present: false, announced: false, hearsJoinLeave: false };
  const subscription = { channel: "news", expireAtSeconds: 0, ...flags, ...more };
  const [first] = shown({ ...identity, subscriptions: [subscription] }, setup).subscriptions;
  return first;
}

describe("a connection as backends are shown it", () => {
  it("[U20] says who is connected where since when, and nothing that is secret", () => {
    const secret = {
      claims: { ...claims, info: JSON.parse('"{}"'), capabilities: "c" },
      secret: "s",
    };
    const connection = shown({ ...secret, appName: "shop", appVersion: "1" });
    expect(connection).toStrictEqual({
      client: "c1",
      user: "42",
      node: "gateway:eu/1",
      appName: "shop",
      appVersion: "1",
      transport: "http_stream",
      protocol: "json",
      connectedAtMs: startMs,
      expireAtSeconds: 99,
      subscriptions: [],
    });
  });

  it.each<[string, string, Partial<SessionSnapshot>]>([
    ["websocket", "json", {}],
    ["websocket", "protobuf", { codec: "protobuf" }],
    ["websocket", "messagepack", { codec: "msgpack" }],
    ["uni_websocket", "json", { codec: "one_way" }],
    ["http_stream", "protobuf", { codec: "protobuf", secret: "s" }],
    ["sse", "json", { secret: "s", events: true }],
    ["uni_http_stream", "json", { codec: "one_way", secret: "s" }],
    ["uni_sse", "json", { codec: "one_way", secret: "s", events: true }],
    ["long_poll", "json", { codec: "one_way", secret: "s", passing: true }],
  ])("[U20] is over %s in %s", (transport, protocol, identity) => {
    expect(shown(identity)).toMatchObject({ transport, protocol });
  });

  it("[U20] stores the application's name and version, cut where they are too long", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    const long = `${"x".repeat(limits.appCharactersMax - 1)}😀`;
    const connect = JSON.stringify({ id: 1, connect: { name: long, version: "2" } });
    fixture.send(connection, connect, connectionToken("42"));
    const appName = `${"x".repeat(limits.appCharactersMax - 1)}\uFFFD`;
    expect(connection.saved).toMatchObject({ appName, appVersion: "2" });
    fixture.wake(connection);
    expect(connectionState(connection.session)).toMatchObject({ appName, appVersion: "2" });
  });
});

describe("a subscription as backends are shown it", () => {
  const personal = { subscribe_to_user_personal_channel: { enabled: true } };
  const userLimited = { allow_user_limited_channels: true };
  it.each<
    [string, number, Partial<SubscriptionSnapshot>, ManyChannelsSetup, Partial<SessionSnapshot>]
  >([
    ["the connection's token", 1, { serverSide: true }, {}, {}],
    ["a token for a private channel", 3, { channel: "$news" }, {}, {}],
    ["a token that expires", 3, { expireAtSeconds: 9 }, {}, {}],
    ["a token for a closed channel", 3, {}, { options: { allow_subscribe_for_client: false } }, {}],
    ["the channel's own name", 5, { channel: "news#42" }, { options: userLimited }, {}],
    ["the namespace", 6, {}, {}, {}],
    ["a unidirectional request", 8, { serverSide: true }, {}, { codec: "one_way" }],
    [
      "the user's personal channel",
      9,
      { channel: "#42", serverSide: true },
      { client: personal },
      {},
    ],
    ["an order", 10, { serverSide: true, ordered: true }, {}, {}],
    ["a capability", 11, { byCapability: true }, {}, {}],
  ])("[U20] was made by %s: %i", (_, source, subscription, setup, identity) => {
    expect(shownSubscription(subscription, setup, identity)?.source).toBe(source);
  });

  it("[U20] has the options that are switched on", () => {
    expect(shownSubscription({})?.options).toStrictEqual([]);
    const filter = { op: "", key: "t", cmp: "eq", val: "a", vals: [], nodes: [] };
    const all = { recoverable: true, delta: true, filter, serverFilter: filter } as const;
    const flags = { present: true, announced: true, hearsJoinLeave: true };
    expect(shownSubscription({ ...all, ...flags })?.options).toStrictEqual([
      "recoverable",
      "positioned",
      "presence",
      "join_leave",
      "push_join_leave",
      "delta",
      "tags_filter",
      "server_tags_filter",
    ]);
    expect(shownSubscription({ positioned: true })?.options).toStrictEqual(["positioned"]);
  });
});

describe("an object that is asked for the connections of a user", () => {
  it("[U21] finds those that are held, and has the next one registered if there is none", () => {
    const fixture = new HeldFixture();
    const none = fixture.home.users.sessionsOf("42", []);
    expect(none).toStrictEqual({ sessions: [], left: false });
    const one = fixture.held("42");
    expect(fixture.home.users.sessionsOf("42", [one.session])).toStrictEqual({
      sessions: [one.session],
      left: true,
    });
    // Its socket may have gone while the home is asked: the home is about to register the object.
    expect(fixture.home.users.sessionsOf("42", []).left).toBe(true);
    fixture.home.answer(0);
    one.session.ended();
    // The object remembers the user as registered.
    const answers: UserAnswer[] = [];
    fixture.home.users.register("42", (answer) => answers.push(answer));
    expect(answers).toStrictEqual([{ outcome: "registered", lastOrder: 0, invalidations: [] }]);
    expect(fixture.home.users.sessionsOf("42", [one.session])).toStrictEqual({
      sessions: [],
      left: false,
    });
    fixture.held("42");
    expect(fixture.home.calls).toHaveLength(1);
  });
});
