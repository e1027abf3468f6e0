import { Backlog } from "../../../../src/hub/backlog.ts";
import { NamedChannels } from "../../../../src/session/named-channels.ts";
import { KnownDeltas } from "../../../../src/delta/delta-chain.ts";
import { subscriptionTypes } from "../../../../src/features/index.ts";
import { describe, expect, it } from "vitest";
import type { ServerSubscription } from "../../../../src/access/claims.ts";
import { disconnectCodes, type ErrorCode, errorCodes } from "../../../../src/protocol/codes.ts";
import { jsonCodec, unidirectionalCodec } from "../../../../src/protocol/json/codec.ts";
import { hiddenFromOthers } from "../../../../src/session/server-subscriptions.ts";
import { unidirectionalDisconnect } from "../../../../src/session/unidirectional.ts";
import type { SessionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import type { VerifiedTokens } from "../../../../src/session/ports.ts";
import { resolveChannel } from "../../../../src/channel/channel-name.ts";
import { grantServerSubscription } from "../../../../src/session/grant.ts";
import { configured } from "../../../support/configured.ts";
import { json } from "../../api/channel-config.ts";
import { naming } from "../named-subscriptions.ts";
import type { TestConnection } from "../test-connection.ts";
import { ChannelFixture, startMs } from "../channel-fixture.ts";
import { ScriptedChannels } from "../scripted-channels.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { connectionToken, expiredToken, invalidToken } from "../verified-tokens.ts";

const open = { allow_subscribe_for_client: true };
const recoverable = { ...open, history_size: 10, history_ttl: "60s", allow_recovery: true };
const user = connectionToken("42");

describe("a client that polls", () => {
  it("[T9] [Z35] isn't present, isn't announced, and is in no presence map", () => {
    const { channel: config } = configured();
    const found = resolveChannel("room", config);
    if (found.outcome !== "resolved") throw new Error("no channel");
    const override = { presence: true, joinLeave: true };
    const requester = { user: "42", client: "c1" };
    const grant = grantServerSubscription({ channel: "room", override }, found, requester);
    expect(grant.subscription).toMatchObject({ present: true, announced: true });
    expect(grant.subscription.hidden).toBeUndefined();
    expect(hiddenFromOthers({ known: found, grant }).grant.subscription).toMatchObject({
      present: false,
      announced: false,
      hidden: true,
    });
  });
});

describe("a unidirectional client, on a channel's own address", () => {
  it("[C11] is subscribed along with its connect, and told what comes then", () => {
    const { fixture, connection, received } = connectUnidirectional({ options: open });
    expect(received).toStrictEqual([connected(`"room":{}`)]);
    fixture.publish("[1.0]");
    expect(connection.takeSent()).toStrictEqual([`{"channel":"room","pub":{"data":[1.0]}}`]);
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "room", serverSide: true }]);
  });

  it("[C11] [A1] is closed with 3507 without permission to subscribe, and isn't subscribed", () => {
    const { fixture, received } = connectUnidirectional();
    expect(received).toStrictEqual(closedWith(3507, "permission denied"));
    expect(fixture.channel.hub.size).toBe(0);
  });

  it.each(["$room", "room#7,8"])("[C11] [A5] needs a token for %s", (name) => {
    const options = { ...open, allow_user_limited_channels: true };
    const { received } = connectUnidirectional({ name, options });
    expect(received).toStrictEqual(closedWith(3507, "permission denied"));
    const pushes = connectUnidirectional({ name, options }, "{}", naming("other", name));
    expect(pushes.received).toStrictEqual([connected(`"${name}":{}`)]);
  });

  it("[C11] has its token's options for the channel, and for no other", () => {
    const special: ServerSubscription = {
      channel: "room",
      override: { presence: true, joinLeave: true, forcePushJoinLeave: true },
      info: json("[1.0]"),
      data: json(`{"n":2.0}`),
    };
    const { fixture, connection, received } = connectUnidirectional(
      {},
      "{}",
      naming(special, "elsewhere"),
    );
    fixture.channel.hub.begin();
    const info = `{"user":"42","client":"c1","chan_info":[1.0]}`;
    expect([...received, ...connection.takeSent()]).toStrictEqual([
      connected(`"room":{"data":{"n":2.0}}`),
      `{"channel":"room","join":{"info":${info}}}`,
    ]);
    expect(connection.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
  });

  it("[C11] [R2] recovers what its connect says, once, and hears what follows", () => {
    const { fixture, connection } = opened({ options: recoverable });
    for (const data of ["1", "2", "3"]) fixture.publish(data);
    const subs = `{"subs":{"room":{"recover":true,"epoch":"epoch1","offset":1}}}`;
    expect(ask(connection, subs, user)).toStrictEqual([
      connected(
        `"room":{"recoverable":true,"epoch":"epoch1","publications":[{"data":2,"offset":2},{"data":3,"offset":3}],"recovered":true,"offset":1,"positioned":true,"was_recovering":true}`,
      ),
    ]);
    fixture.publish("4");
    expect(connection.takeSent()).toStrictEqual([`{"channel":"room","pub":{"data":4,"offset":4}}`]);
  });

  it("[C11] [R5] isn't recovered without permission", () => {
    const subs = `{"subs":{"room":{"recover":true,"epoch":"other","offset":1}}}`;
    const { received } = connectUnidirectional({ options: recoverable }, subs);
    expect(received).toStrictEqual([
      connected(
        `"room":{"recoverable":true,"epoch":"epoch1","positioned":true,"was_recovering":true}`,
      ),
    ]);
    const forbidden = connectUnidirectional(
      { options: { ...recoverable, allow_recovery: false } },
      subs,
    );
    expect(forbidden.received).toStrictEqual([connected(`"room":{"was_recovering":true}`)]);
    // Nor anything that it doesn't ask for.
    const asksNothing = connectUnidirectional({ options: recoverable }, `{"subs":{"room":{}}}`);
    expect(asksNothing.received).toStrictEqual([connected(`"room":{}`)]);
    expect(connectUnidirectional({ options: recoverable }).received).toStrictEqual([
      connected(`"room":{}`),
    ]);
  });

  it("[C11] is heard no more after its connect", () => {
    const { fixture, connection } = connectUnidirectional({
      options: { ...open, allow_publish_for_client: true },
    });
    expect(connection.session.ignoresCommands).toBe(true);
    const frames = [
      `{"id":1,"connect":{}}`,
      `{"id":2,"publish":{"channel":"room","data":1}}`,
      `{"id":3,"unsubscribe":{"channel":"room"}}`,
      `{"id":4,"subscribe":{"channel":"other"}}`,
      `{"id":5,"ping":{}}`,
      `{"send":{}}`,
      `{}`,
    ];
    for (const command of jsonCodec.decodeFrame(frames.join("\n")).commands) {
      connection.session.receive(command, user, fixture.nowMs);
    }
    for (let each = 0; each < 10_000; each++) send(connection, `{"token":"x"}`, invalidToken);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.publish("7");
    expect(connection.takeSent()).toHaveLength(1);
  });

  it("[C11] is told by what secret its stream is known, and no place to post to", () => {
    const secret = "5".repeat(64);
    const { connection } = opened({ options: open }, { secret });
    expect(ask(connection, "{}", user)).toStrictEqual([
      `{"connect":{"client":"c1","version":"test","subs":{"room":{}},"ping":25,"session":"${secret}"}}`,
    ]);
  });
});

describe("a failed connect of a unidirectional client", () => {
  it.each<[string, VerifiedTokens, readonly string[]]>([
    ["an expired token", expiredToken, closedWith(3005, "connection expired")],
    [
      "an end in the past",
      connectionToken("42", { expireAtSeconds: 1 }),
      closedWith(3005, "connection expired"),
    ],
    ["an invalid token", invalidToken, closedWith(3500, "invalid token")],
    ["no token", {}, closedWith(3501, "bad request")],
    [
      "no keys",
      { connection: { outcome: "unavailable" } },
      closedWith(3004, "internal server error"),
    ],
  ])("[C11] [C3] for %s is a disconnect", (_, tokens, close) => {
    const { connection, received } = connectUnidirectional({ options: open }, "{}", tokens);
    expect(received).toStrictEqual(close);
    expect(connection.saved.phase).toBe("closed");
  });

  it("[C11] is one of these disconnects, also when the error came from another object", () => {
    const expected = new Map<ErrorCode, unknown>([
      [errorCodes.tokenExpired, disconnectCodes.connectionExpired],
      [errorCodes.expired, disconnectCodes.connectionExpired],
      [errorCodes.tooManyRequests, disconnectCodes.tooManyRequests],
      [errorCodes.permissionDenied, disconnectCodes.permissionDenied],
    ]);
    for (const error of Object.values(errorCodes)) {
      const code = expected.get(error) ?? disconnectCodes.internalServerError;
      expect(unidirectionalDisconnect(error)).toBe(code);
      const fixture = new ManyChannelsFixture();
      const connection = openUnidirectional(fixture, `{"subs":{"a":{},"b":{}}}`);
      fixture.channels.acceptSubscribe("a");
      fixture.channels.refuseSubscribe("b", structuredClone(error));
      expect(connection.takeSent()).toStrictEqual(closes(code));
      expect(fixture.channels.known).toStrictEqual([]);
    }
  });
});

describe("a unidirectional client, where channels are named", () => {
  it("[C11] is subscribed to what the server gives it, and to what its connect names", () => {
    const options = { ...recoverable, allow_subscribe_for_client: true };
    const fixture = new ManyChannelsFixture({ options });
    const subs = `{"subs":{"b":{"recover":true,"epoch":"e","offset":1},"a":{"recover":true,"epoch":"e","offset":2}}}`;
    const connection = openUnidirectional(fixture, subs, naming("a"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    // The server states for its own subscriptions whether they can be recovered.
    expect(fixture.channels.optionsOf("a")).not.toHaveProperty("since");
    expect(fixture.channels.optionsOf("b")).toMatchObject({ since: { epoch: "e", offset: 1 } });
    fixture.channels.acceptSubscribe("a");
    fixture.channels.push("a", "1");
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("b", { position: { epoch: "e", offset: 1 }, recovered: true });
    const [first, ...others] = connection.takeSent();
    expect(first).toMatch(
      /^\{"connect":\{"client":"c1","version":"test","subs":\{"a":\{"was_recovering":true\},"b":\{/,
    );
    expect(others).toHaveLength(1);
    expect(connection.saved.subscriptions.map(({ serverSide }) => serverSide)).toStrictEqual([
      true,
      true,
    ]);
  });

  it("[C11] [A1] isn't subscribed to what it may not have, and isn't told", () => {
    const fixture = new ManyChannelsFixture({ options: { allow_user_limited_channels: true } });
    const connection = openUnidirectional(fixture, `{"subs":{"$a":{},"b":{},"c#7":{},"d#42":{}}}`);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join b", "join d#42"]);
    for (const channel of ["b", "d#42"]) fixture.channels.acceptSubscribe(channel);
    expect(connection.takeSent()).toStrictEqual([connected(`"b":{},"d#42":{}`)]);
    const closed = new ManyChannelsFixture({ options: { allow_subscribe_for_client: false } });
    expect(openUnidirectional(closed, `{"subs":{"b":{}}}`).takeSent()).toStrictEqual([connected()]);
  });

  it.each(["unknown:a", "", "x".repeat(300)])("[C11] closes 3501 for the name %j", (name) => {
    const fixture = new ManyChannelsFixture();
    const connection = openUnidirectional(fixture, JSON.stringify({ subs: { a: {}, [name]: {} } }));
    expect(connection.takeSent()).toStrictEqual(closedWith(3501, "bad request"));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[C11] [G1] closes 3505 for more channels than a connection may have, given ones included", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 3 } });
    const fits = openUnidirectional(fixture, `{"subs":{"a":{},"b":{},"c":{}}}`, naming("c"));
    for (const channel of ["c", "a", "b"]) fixture.channels.acceptSubscribe(channel);
    expect(fits.takeSent()).toStrictEqual([connected(`"c":{},"a":{},"b":{}`)]);
    fixture.channels.takeCalls();
    const tooMany = openUnidirectional(fixture, `{"subs":{"a":{},"b":{},"c":{}}}`, naming("d"));
    expect(tooMany.takeSent()).toStrictEqual(closedWith(3505, "channel limit"));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[C11] is ignored while its connect is carried out", () => {
    const fixture = new ManyChannelsFixture();
    const connection = openUnidirectional(fixture, `{"subs":{"a":{}}}`);
    expect(connection.session.ignoresCommands).toBe(true);
    send(connection, `{"subs":{"b":{}}}`, user);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([connected(`"a":{}`)]);
  });

  it("[C11] [L3] has to come again when something is missing", () => {
    const fixture = new ManyChannelsFixture();
    const connection = openUnidirectional(fixture, `{"subs":{"a":{}}}`);
    fixture.channels.acceptSubscribe("a");
    connection.takeSent();
    fixture.channels.subscription("a").insufficientState();
    expect(connection.takeSent()).toStrictEqual(closedWith(3010, "insufficient state"));
  });

  it("[C11] [G4] is subscribed to the channel of its address on a gateway, as on the channel's own object", () => {
    const { config } = new ManyChannelsFixture();
    const channels = new ScriptedChannels(config.channel);
    const fixture = new ManyChannelsFixture({ serverSubscriptions: false });
    const address = {
      config,
      channels,
      backlog: new Backlog({ sockets: () => [], nowMs: () => 0 }),
      subscriptionTypes,
      knownDeltas: new KnownDeltas(),
      namedChannels: new NamedChannels(1_000),
      version: "test",
      node: "gateway:x",
      channel: "a",
    };
    const connection = fixture.open({ codec: "one_way" });
    connection.wake({ ...address, serverSubscriptions: false, storesRows: true });
    expect(ask(connection, "{}", naming("b"))).toStrictEqual([]);
    expect(channels.takeCalls()).toStrictEqual(["join a"]);
    channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([connected(`"a":{}`)]);
  });
});

/** A new socket of a unidirectional client. */
function opened(
  setup: ConstructorParameters<typeof ChannelFixture>[0],
  more: Partial<SessionSnapshot> = {},
) {
  const fixture = new ChannelFixture(setup);
  return { fixture, connection: fixture.open({ codec: "one_way", ...more }) };
}

/** The same, after the first frame, with its reply. */
function connectUnidirectional(
  setup: ConstructorParameters<typeof ChannelFixture>[0] = {},
  frame = "",
  tokens = user,
) {
  const { fixture, connection } = opened(setup);
  return { fixture, connection, received: ask(connection, frame, tokens) };
}

/** A unidirectional client of many channels, after the first frame. */
function openUnidirectional(
  fixture: ManyChannelsFixture,
  frame: string,
  tokens = user,
): TestConnection {
  const connection = fixture.open({ codec: "one_way", client: "c1" });
  send(connection, frame, tokens);
  return connection;
}

function send(connection: TestConnection, frame: string, tokens: VerifiedTokens): void {
  const { commands, malformed } = unidirectionalCodec.decodeFrame(frame);
  if (malformed !== undefined) throw new Error(malformed);
  for (const command of commands) connection.session.receive(command, tokens, startMs);
}

function ask(connection: TestConnection, frame: string, tokens: VerifiedTokens): readonly string[] {
  send(connection, frame, tokens);
  return connection.takeSent();
}

/** The connect's push with this in its `subs`; without the field for none. */
function connected(subs?: string): string {
  const field = subs === undefined ? "" : `"subs":{${subs}},`;
  return `{"connect":{"client":"c1","version":"test",${field}"ping":25,"session":"c1"}}`;
}

/** The push of the disconnect, and the close after it (rule T10). */
function closedWith(code: number, reason: string): readonly string[] {
  return [`{"disconnect":{"code":${code},"reason":"${reason}"}}`, `close ${code} ${reason}`];
}

function closes(code: unknown): readonly string[] {
  for (const one of Object.values(disconnectCodes)) {
    if (one === code) return closedWith(one.code, one.reason);
  }
  throw new Error("not a disconnect code");
}
