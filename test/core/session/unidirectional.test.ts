import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { describe, expect, it } from "vitest";
import type { ServerSubscription } from "../../../src/access/claims.ts";
import { disconnectCodes, type ErrorCode, errorCodes } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { unidirectionalCodec } from "../../../src/protocol/json/unidirectional-codec.ts";
import { unidirectionalDisconnect } from "../../../src/session/unidirectional.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import type { VerifiedTokens } from "../../../src/session/ports.ts";
import { json } from "../api/channel-config.ts";
import { naming } from "./named-subscriptions.ts";
import type { Peer } from "./peer.ts";
import { Room, startMs } from "./channel-fixture.ts";
import { ScriptedChannels } from "./scripted-channels.ts";
import { Switchboard } from "./gateway-fixture.ts";
import { connectionToken, expiredToken, invalidToken } from "./verified-tokens.ts";

const open = { allow_subscribe_for_client: true };
const recoverable = { ...open, history_size: 10, history_ttl: "60s", allow_recovery: true };
const user = connectionToken("42");

describe("who only listens, on a channel's own address", () => {
  it("[C11] is subscribed along with its connect, and told what comes then", () => {
    const { room, peer, hears } = listening({ options: open });
    expect(hears).toStrictEqual([connected(`"room":{}`)]);
    room.publish("[1.0]");
    expect(peer.hears()).toStrictEqual([`{"channel":"room","pub":{"data":[1.0]}}`]);
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "room", serverSide: true }]);
  });

  it("[C11] [A1] is told 3507 when it may not listen, and is nobody's subscriber", () => {
    const { room, hears } = listening();
    expect(hears).toStrictEqual(["close 3507 permission denied"]);
    expect(room.channel.hub.size).toBe(0);
  });

  it.each(["$room", "room#7,8"])("[C11] [A5] needs a token for %s", (name) => {
    const options = { ...open, allow_user_limited_channels: true };
    const { hears } = listening({ name, options });
    expect(hears).toStrictEqual(["close 3507 permission denied"]);
    const told = listening({ name, options }, "{}", naming("other", name));
    expect(told.hears).toStrictEqual([connected(`"${name}":{}`)]);
  });

  it("[C11] has what its token says of the channel, and of no other", () => {
    const special: ServerSubscription = {
      channel: "room",
      override: { presence: true, joinLeave: true, forcePushJoinLeave: true },
      info: json("[1.0]"),
      data: json(`{"n":2.0}`),
    };
    const { peer, hears } = listening({}, "{}", naming(special, "elsewhere"));
    const info = `{"user":"42","client":"c1","chan_info":[1.0]}`;
    expect(hears).toStrictEqual([
      connected(`"room":{"data":{"n":2.0}}`),
      `{"channel":"room","join":{"info":${info}}}`,
    ]);
    expect(peer.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
  });

  it("[C11] [R2] recovers what its connect says, once, and hears what follows", () => {
    const { room, peer } = opened({ options: recoverable });
    for (const data of ["1", "2", "3"]) room.publish(data);
    const subs = `{"subs":{"room":{"recover":true,"epoch":"epoch1","offset":1}}}`;
    expect(ask(peer, subs, user)).toStrictEqual([
      connected(
        `"room":{"recoverable":true,"epoch":"epoch1","publications":[{"data":2,"offset":2},{"data":3,"offset":3}],"recovered":true,"offset":1,"positioned":true,"was_recovering":true}`,
      ),
    ]);
    room.publish("4");
    expect(peer.hears()).toStrictEqual([`{"channel":"room","pub":{"data":4,"offset":4}}`]);
  });

  it("[C11] [R5] is told that it missed something, and recovers nothing it may not", () => {
    const subs = `{"subs":{"room":{"recover":true,"epoch":"other","offset":1}}}`;
    const { hears } = listening({ options: recoverable }, subs);
    expect(hears).toStrictEqual([
      connected(
        `"room":{"recoverable":true,"epoch":"epoch1","positioned":true,"was_recovering":true}`,
      ),
    ]);
    const forbidden = listening({ options: { ...recoverable, allow_recovery: false } }, subs);
    expect(forbidden.hears).toStrictEqual([connected(`"room":{}`)]);
    // Nor anything that it doesn't ask for.
    const asksNothing = listening({ options: recoverable }, `{"subs":{"room":{}}}`);
    expect(asksNothing.hears).toStrictEqual([connected(`"room":{}`)]);
    expect(listening({ options: recoverable }).hears).toStrictEqual([connected(`"room":{}`)]);
  });

  it("[C11] [C6] may name no other channel", () => {
    const { room, hears } = listening({ options: open }, `{"subs":{"elsewhere":{}}}`);
    expect(hears).toStrictEqual(["close 3501 bad request"]);
    expect(room.channel.hub.size).toBe(0);
  });

  it("[C11] is heard no more after its connect", () => {
    const { room, peer } = listening({ options: { ...open, allow_publish_for_client: true } });
    expect(peer.session.ignoresCommands).toBe(true);
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
      peer.session.receive(command, user, room.nowMs);
    }
    for (let each = 0; each < 10_000; each++) say(peer, `{"token":"x"}`, invalidToken);
    expect(peer.hears()).toStrictEqual([]);
    room.publish("7");
    expect(peer.hears()).toHaveLength(1);
  });

  it("[C11] [K2] is pinged and never answers", () => {
    const { room, peer } = listening({ options: open });
    for (let each = 0; each < 10; each++) {
      room.pass(25_000);
      expect(peer.hears()).toStrictEqual(["{}"]);
    }
  });

  it("[C11] [S2] only listens after a sleep, too", () => {
    const { room, peer } = listening({ options: open });
    room.sleep();
    room.publish("1");
    expect(peer.hears()).toStrictEqual([`{"channel":"room","pub":{"data":1}}`]);
    say(peer, "{}", user);
    expect(peer.hears()).toStrictEqual([]);
    expect(peer.session.ignoresCommands).toBe(true);
  });

  it("[C11] [C5] goes when its token ends, for it can't renew it", () => {
    const ends = connectionToken("42", { expireAtSeconds: startMs / 1000 + 60 });
    const { room, peer, hears } = listening({ options: open }, "{}", ends);
    expect(hears).toStrictEqual([
      `{"connect":{"client":"c1","version":"test","expires":true,"ttl":60,"subs":{"room":{}},"ping":25}}`,
    ]);
    room.pass(60_000 + room.config.client.expiredCloseDelayMs);
    expect(peer.hears().at(-1)).toBe("close 3005 connection expired");
    expect(room.channel.hub.size).toBe(0);
  });

  it("[C11] is told by what secret its stream is known, and no place to post to", () => {
    const secret = "5".repeat(64);
    const { peer } = opened({ options: open }, { secret });
    expect(ask(peer, "{}", user)).toStrictEqual([
      `{"connect":{"client":"c1","version":"test","subs":{"room":{}},"ping":25,"session":"${secret}"}}`,
    ]);
  });
});

describe("a connect that fails, of somebody who can't be answered", () => {
  it.each<[string, VerifiedTokens, string]>([
    ["an expired token", expiredToken, "close 3005 connection expired"],
    [
      "an end in the past",
      connectionToken("42", { expireAtSeconds: 1 }),
      "close 3005 connection expired",
    ],
    ["an invalid token", invalidToken, "close 3500 invalid token"],
    ["no token", {}, "close 3501 bad request"],
    ["no keys", { connection: { outcome: "unavailable" } }, "close 3004 internal server error"],
  ])("[C11] [C3] for %s is a disconnect", (_, verdicts, close) => {
    const { peer, hears } = listening({ options: open }, "{}", verdicts);
    expect(hears).toStrictEqual([close]);
    expect(peer.saved.phase).toBe("closed");
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
      const board = new Switchboard();
      const peer = listener(board, `{"subs":{"a":{},"b":{}}}`);
      board.channels.joined("a");
      board.channels.refused("b", structuredClone(error));
      expect(peer.hears()).toStrictEqual([closes(code)]);
      expect(board.channels.known).toStrictEqual([]);
    }
  });
});

describe("who only listens, where channels are named", () => {
  it("[C11] is subscribed to what the server gives it, and to what its connect names", () => {
    const options = { ...recoverable, allow_subscribe_for_client: true };
    const board = new Switchboard({ options });
    const subs = `{"subs":{"b":{"recover":true,"epoch":"e","offset":1},"a":{"recover":true,"epoch":"e","offset":2}}}`;
    const peer = listener(board, subs, naming("a"));
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    // Of what the server gives, the server says whether it can be recovered.
    expect(board.channels.wish("a")).not.toHaveProperty("since");
    expect(board.channels.wish("b")).toMatchObject({ since: { epoch: "e", offset: 1 } });
    board.channels.joined("a");
    board.channels.tell("a", "1");
    expect(peer.hears()).toStrictEqual([]);
    board.channels.joined("b", { position: { epoch: "e", offset: 1 }, recovered: true });
    const [first, ...others] = peer.hears();
    expect(first).toMatch(/^\{"connect":\{"client":"c1","version":"test","subs":\{"a":\{\},"b":\{/);
    expect(others).toHaveLength(1);
    expect(peer.saved.subscriptions.map(({ serverSide }) => serverSide)).toStrictEqual([
      true,
      true,
    ]);
  });

  it("[C11] [A1] isn't subscribed to what it may not have, and isn't told", () => {
    const board = new Switchboard({ options: { allow_user_limited_channels: true } });
    const peer = listener(board, `{"subs":{"$a":{},"b":{},"c#7":{},"d#42":{}}}`);
    expect(board.channels.takeCalls()).toStrictEqual(["join b", "join d#42"]);
    for (const channel of ["b", "d#42"]) board.channels.joined(channel);
    expect(peer.hears()).toStrictEqual([connected(`"b":{},"d#42":{}`)]);
    const closed = new Switchboard({ options: { allow_subscribe_for_client: false } });
    expect(listener(closed, `{"subs":{"b":{}}}`).hears()).toStrictEqual([connected()]);
  });

  it("[C11] [A1] without a name is subscribed only to what is open to all", () => {
    const anonymous = connectionToken("");
    const board = new Switchboard();
    expect(listener(board, `{"subs":{"b":{}}}`, anonymous).hears()).toStrictEqual([connected()]);
    const public_ = new Switchboard({ options: { allow_subscribe_for_anonymous: true } });
    listener(public_, `{"subs":{"b":{}}}`, anonymous);
    expect(public_.channels.takeCalls()).toStrictEqual(["join b"]);
  });

  it.each(["unknown:a", "", "x".repeat(300)])("[C11] closes 3501 for the name %j", (name) => {
    const board = new Switchboard();
    const peer = listener(board, JSON.stringify({ subs: { a: {}, [name]: {} } }));
    expect(peer.hears()).toStrictEqual(["close 3501 bad request"]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });

  it("[C11] [G1] closes 3505 for more channels than a connection may have, given ones included", () => {
    const board = new Switchboard({ client: { channel_limit: 3 } });
    const fits = listener(board, `{"subs":{"a":{},"b":{},"c":{}}}`, naming("c"));
    for (const channel of ["c", "a", "b"]) board.channels.joined(channel);
    expect(fits.hears()).toStrictEqual([connected(`"c":{},"a":{},"b":{}`)]);
    board.channels.takeCalls();
    const tooMany = listener(board, `{"subs":{"a":{},"b":{},"c":{}}}`, naming("d"));
    expect(tooMany.hears()).toStrictEqual(["close 3505 channel limit"]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });

  it("[C11] is heard no more while its connect is carried out", () => {
    const board = new Switchboard();
    const peer = listener(board, `{"subs":{"a":{}}}`);
    expect(peer.session.ignoresCommands).toBe(true);
    say(peer, `{"subs":{"b":{}}}`, user);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([connected(`"a":{}`)]);
  });

  it("[C11] [L3] has to come again when something is missing", () => {
    const board = new Switchboard();
    const peer = listener(board, `{"subs":{"a":{}}}`);
    board.channels.joined("a");
    peer.hears();
    board.channels.subscription("a").insufficientState();
    expect(peer.hears()).toStrictEqual(["close 3010 insufficient state"]);
  });

  it("[C11] [G4] is subscribed to the channel of its address on a gateway, as on the channel's own object", () => {
    const { config } = new Switchboard();
    const channels = new ScriptedChannels(config.channel);
    const board = new Switchboard({ serverSubscriptions: false });
    const address = {
      config,
      channels,
      knownDeltas: new KnownDeltas(),
      version: "test",
      node: "gateway:x",
      channel: "a",
    };
    const peer = board.open({ codec: "one_way" });
    peer.wake({ ...address, serverSubscriptions: false, storesRows: true });
    expect(ask(peer, "{}", naming("b"))).toStrictEqual([]);
    expect(channels.takeCalls()).toStrictEqual(["join a"]);
    channels.joined("a");
    expect(peer.hears()).toStrictEqual([connected(`"a":{}`)]);
  });
});

/** A socket of somebody who only listens, in a room; nothing was said on it yet. */
function opened(setup: ConstructorParameters<typeof Room>[0], more: Partial<SessionSnapshot> = {}) {
  const room = new Room(setup);
  return { room, peer: room.open({ codec: "one_way", ...more }) };
}

/** The same, after the first frame, and what it heard of that. */
function listening(setup: ConstructorParameters<typeof Room>[0] = {}, frame = "", verdicts = user) {
  const { room, peer } = opened(setup);
  return { room, peer, hears: ask(peer, frame, verdicts) };
}

/** Somebody who only listens to many channels, after the first frame. */
function listener(board: Switchboard, frame: string, verdicts = user): Peer {
  const peer = board.open({ codec: "one_way", client: "c1" });
  say(peer, frame, verdicts);
  return peer;
}

function say(peer: Peer, frame: string, verdicts: VerifiedTokens): void {
  const { commands, malformed } = unidirectionalCodec.decodeFrame(frame);
  if (malformed !== undefined) throw new Error(malformed);
  for (const command of commands) peer.session.receive(command, verdicts, startMs);
}

function ask(peer: Peer, frame: string, verdicts: VerifiedTokens): readonly string[] {
  say(peer, frame, verdicts);
  return peer.hears();
}

/** The connect's push with this in its `subs`; without the field for none. */
function connected(subs?: string): string {
  const field = subs === undefined ? "" : `"subs":{${subs}},`;
  return `{"connect":{"client":"c1","version":"test",${field}"ping":25}}`;
}

function closes(code: unknown): string {
  for (const one of Object.values(disconnectCodes)) {
    if (one === code) return `close ${one.code} ${one.reason}`;
  }
  throw new Error("not a disconnect code");
}
