import { describe, expect, it } from "vitest";
import { disconnectCodes, errorCodes } from "../../../src/protocol/codes.ts";
import { json } from "../api/channel-config.ts";
import { connect, connected, naming, opened, pushed } from "./named-subscriptions.ts";
import type { Peer } from "./peer.ts";
import { Switchboard } from "./gateway-fixture.ts";
import { connectionToken } from "./verified-tokens.ts";

describe("the subscriptions that a token names", () => {
  it("[C9] come in the connect reply, once all of them have begun", () => {
    const board = new Switchboard();
    const peer = board.open();
    expect(board.ask(peer, connect, naming("a", "b"))).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    board.channels.joined("b");
    expect(peer.hears()).toStrictEqual([]);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([connected(`{"b":{},"a":{}}`)]);
    board.channels.tell("a", "1");
    expect(peer.hears()).toStrictEqual([pushed("a", "1")]);
  });

  it("[C9] are of no matter to a client that isn't named any", () => {
    const board = new Switchboard();
    expect(board.ask(board.open(), connect, connectionToken("42"))).toStrictEqual([connected()]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });

  it("[C9] need no permission, but know what the token says of them", () => {
    const options = {
      history_size: 100,
      history_ttl: "60s",
      allow_subscribe_for_client: false,
      presence: true,
    };
    const board = new Switchboard({ options });
    const peer = board.open();
    const override = {
      presence: false,
      joinLeave: true,
      forcePushJoinLeave: true,
      forceRecovery: true,
    };
    const special = { channel: "$a", override, info: json("[1.0]"), data: json(`{"n":2.0}`) };
    board.say(peer, connect, naming(special, "b"));
    expect(board.channels.wish("$a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: false,
    });
    board.channels.joined("$a", { position: { epoch: "e", offset: 3 } });
    board.channels.joined("b");
    expect(peer.hears()[0]).toBe(
      connected(
        `{"$a":{"recoverable":true,"epoch":"e","offset":3,"positioned":true,"data":{"n":2.0}},"b":{}}`,
      ),
    );
    expect(peer.saved.subscriptions).toStrictEqual([
      {
        channel: "$a",
        chanInfo: "[1.0]",
        expireAtSeconds: 0,
        present: false,
        announced: true,
        hearsJoinLeave: true,
        serverSide: true,
      },
      {
        channel: "b",
        expireAtSeconds: 0,
        present: true,
        announced: false,
        hearsJoinLeave: false,
        serverSide: true,
      },
    ]);
    expect(board.channels.subscription("$a").info.chanInfo).toBe("[1.0]");
  });

  it("[S1] are remembered instead of the claims that name them", () => {
    const board = new Switchboard();
    const peer = opened(board, "a", "b");
    expect(peer.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
    expect(peer.saved.subscriptions.map(({ serverSide }) => serverSide)).toStrictEqual([
      true,
      true,
    ]);
  });

  it("[C9] may come with the token of the upgrade", () => {
    const board = new Switchboard();
    const subscriptions = [{ channel: "a", override: {} }];
    const peer = board.open({ claims: { user: "42", expireAtSeconds: 0, subscriptions } });
    board.say(peer, connect);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([connected(`{"a":{}}`)]);
  });

  it("[G1] may be as many as a connection may have: more of them close 3505", () => {
    const board = new Switchboard({ client: { channel_limit: 2 } });
    const peer = board.open();
    expect(board.ask(peer, connect, naming("a", "b", "c"))).toStrictEqual([
      "close 3505 channel limit",
    ]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
    expect(opened(board, "a", "b").session.closed).toBe(false);
  });

  it("[G1] take their part of what a client may have", () => {
    const board = new Switchboard({ client: { channel_limit: 2 } });
    const peer = opened(board, "a", "b");
    expect(board.ask(peer, `{"id":3,"subscribe":{"channel":"c"}}`)).toStrictEqual([
      `{"id":3,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(board.ask(peer, `{"id":4,"subscribe":{"channel":"a"}}`)).toStrictEqual([
      `{"id":4,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
  });

  it("[B2] are refused with 106 when they can't be remembered, and none is made", () => {
    const board = new Switchboard({ storesRows: false });
    const peer = board.open();
    const large = { channel: "a", override: {}, info: json(`"${"x".repeat(16_000)}"`) };
    expect(board.ask(peer, connect, naming(large))).toStrictEqual([
      `{"id":1,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });

  it.each([
    ["nowhere:a", 102, "unknown channel"],
    ["röom", 107, "bad request"],
  ])("[C4] to %s are refused, and then nothing more is answered", (name, code, message) => {
    const board = new Switchboard();
    const peer = board.open();
    expect(board.ask(peer, connect, naming("a", name))).toStrictEqual([
      `{"id":1,"error":{"code":${code},"message":"${message}"}}`,
    ]);
    expect(peer.saved.phase).toBe("refused");
    expect(board.ask(peer, `{"id":2,"subscribe":{"channel":"a"}}\n{"send":{}}`)).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });
});

describe("what a channel tells before the connect reply", () => {
  it("[C9] waits for the reply, and comes right after it, in order", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b", "c"));
    board.channels.joined("a");
    board.channels.tell("a", "1");
    board.channels.joined("b");
    board.channels.tell("b", "2");
    board.channels.tell("a", "3");
    expect(peer.hears()).toStrictEqual([]);
    board.channels.joined("c");
    board.channels.tell("a", "4");
    const [reply, ...pushes] = peer.hears();
    expect(reply).toBe(connected(`{"a":{},"b":{},"c":{}}`));
    expect(pushes.filter((push) => push.includes(`"a"`))).toStrictEqual([
      pushed("a", "1"),
      pushed("a", "3"),
      pushed("a", "4"),
    ]);
    expect(pushes.filter((push) => push.includes(`"b"`))).toStrictEqual([pushed("b", "2")]);
  });

  it("[F4] counts as not taken, so that it can't grow without end", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b"));
    board.channels.joined("a");
    const subscription = board.channels.subscription("a");
    expect(subscription.backlogBytes()).toBe(0);
    board.channels.tell("a", `"${"x".repeat(1_000)}"`);
    expect(subscription.backlogBytes()).toBeGreaterThan(1_000);
    board.channels.joined("b");
    expect(subscription.backlogBytes()).toBe(0);
  });

  it("[O5] is no join: those are announced after the reply", () => {
    const board = new Switchboard({ options: { join_leave: true, force_push_join_leave: true } });
    const peer = board.open();
    board.say(peer, connect, naming("a", "b"));
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    board.channels.joined("b");
    expect(board.channels.takeCalls()).toStrictEqual(["announce a", "announce b"]);
    const info = `{"info":{"user":"42","client":"c1"}}`;
    expect(peer.hears()).toStrictEqual([
      connected(`{"a":{},"b":{}}`),
      `{"push":{"channel":"a","join":${info}}}`,
      `{"push":{"channel":"b","join":${info}}}`,
    ]);
  });

  it("[L7] may have to be noted: that is saved with the connect, not before", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b"));
    board.channels.joined("a");
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    expect(board.channels.subscription("a").keep(cursor)).toBe(true);
    expect(peer.saved).toMatchObject({ phase: "new", subscriptions: [] });
    board.channels.joined("b");
    expect(peer.saved.cursors).toStrictEqual(new Map([["a", cursor]]));
  });

  it("[L3] may be that it lost the stream: the connection closes 3010, and leaves everything", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b"));
    board.channels.joined("a");
    board.channels.subscription("a").insufficientState();
    expect(peer.hears()).toStrictEqual(["close 3010 insufficient state"]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b", "leave a", "leave b"]);
  });
});

describe("commands that come before the connect reply", () => {
  const frame = [
    connect,
    `{"id":2,"subscribe":{"channel":"b"}}`,
    `{"id":3,"subscribe":{"channel":"c"}}`,
    `{"id":4,"publish":{"channel":"b","data":4}}`,
    `{"id":5,"rpc":{}}`,
  ].join("\n");

  it("[O6] wait for it, and are then carried out in order", () => {
    const board = new Switchboard();
    const peer = board.open();
    expect(board.ask(peer, frame, naming("a"))).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["announce a", "join b", "join c"]);
    expect(peer.hears()).toStrictEqual([
      connected(`{"a":{}}`),
      `{"id":5,"error":{"code":108,"message":"not available"}}`,
    ]);
    board.channels.joined("b");
    expect(board.channels.takeCalls()).toStrictEqual(["announce b", "publish b 4"]);
  });

  it("[C4] are not carried out when it is refused", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, frame, naming("a"));
    board.channels.refused("a", errorCodes.internal);
    expect(peer.hears()).toStrictEqual([
      `{"id":1,"error":{"code":100,"message":"internal server error","temporary":true}}`,
    ]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    expect(peer.saved.phase).toBe("refused");
    peer.session.tick(false, board.nowMs + 10_000);
    expect(peer.hears()).toStrictEqual(["close 3502 stale"]);
  });

  it("[C1] may not be another connect", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a"));
    expect(board.ask(peer, `{"id":2,"connect":{}}`, naming("a"))).toStrictEqual([
      "close 3501 bad request",
    ]);
    expect(board.channels.known).toStrictEqual([]);
  });

  it("[C2] aren't stale: a connect that is under way is given its time", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a"));
    peer.session.tick(true, board.nowMs + 60_000);
    expect(peer.hears()).toStrictEqual([]);
  });
});

describe("a subscription of the server's that can't be made", () => {
  it("[C9] fails the connect, once the others are known, and everything is left again", () => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b", "c"));
    board.channels.joined("a");
    board.channels.refused("b", errorCodes.tooManyRequests);
    expect(peer.hears()).toStrictEqual([]);
    board.channels.joined("c");
    expect(peer.hears()).toStrictEqual([
      `{"id":1,"error":{"code":111,"message":"too many requests","temporary":true}}`,
    ]);
    expect(board.channels.takeCalls().slice(3)).toStrictEqual(["leave a", "leave c"]);
    expect(board.channels.known).toStrictEqual([]);
    expect(peer.saved).toMatchObject({ phase: "refused", subscriptions: [] });
  });

  it.each<[string, (peer: Peer) => void]>([
    ["the socket ends", (peer) => peer.session.ended()],
    ["it is closed", (peer) => peer.session.disconnect(disconnectCodes.slow)],
  ])("[G5] leaves nothing behind when %s meanwhile", (_, goes) => {
    const board = new Switchboard();
    const peer = board.open();
    board.say(peer, connect, naming("a", "b"));
    board.channels.joined("a");
    board.channels.tell("a", "1");
    goes(peer);
    peer.session.ended();
    expect(board.channels.takeCalls().slice(2).toSorted()).toStrictEqual(["leave a", "leave b"]);
    expect(board.channels.known).toStrictEqual([]);
    expect(peer.hears().filter((frame) => !frame.startsWith("close"))).toStrictEqual([]);
  });
});

describe("a stream that is lost", () => {
  it("[L3] closes 3010 when the server subscribed: the client must connect anew", () => {
    const board = new Switchboard();
    const peer = opened(board, "a", "b");
    board.channels.subscription("b").insufficientState();
    expect(peer.hears()).toStrictEqual(["close 3010 insufficient state"]);
    expect(board.channels.takeCalls()).toStrictEqual(["leave a", "leave b"]);
  });

  it("[L3] closes 3010 after sleep, too", () => {
    const board = new Switchboard();
    const peer = opened(board, "a");
    board.wake(peer);
    board.channels.subscription("a").insufficientState();
    expect(peer.hears()).toStrictEqual(["close 3010 insufficient state"]);
  });

  it("[L3] is told with 2500 when the client subscribed", () => {
    const board = new Switchboard();
    const peer = opened(board, "a");
    board.say(peer, `{"id":2,"subscribe":{"channel":"b"}}`);
    board.channels.joined("b");
    peer.hears();
    board.channels.subscription("b").insufficientState();
    expect(peer.hears()).toStrictEqual([
      `{"push":{"channel":"b","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`,
    ]);
    expect(peer.session.closed).toBe(false);
  });
});

describe("a socket that was opened for one channel", () => {
  it("[C6] has no subscriptions of the server's, whatever its token names", () => {
    // As `serverSubscriptions: false` has it: the room's sessions are such.
    const board = new Switchboard({ serverSubscriptions: false });
    const peer = board.open();
    expect(board.ask(peer, connect, naming("a"))).toStrictEqual([connected()]);
    expect(board.ask(peer, `{"id":3,"refresh":{"token":"t"}}`, naming("b"))).toStrictEqual([
      `{"id":3,"refresh":{}}`,
    ]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
  });
});
