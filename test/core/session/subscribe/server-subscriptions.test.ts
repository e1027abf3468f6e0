import { describe, expect, it } from "vitest";
import { disconnectCodes, errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import { pushed } from "../frames.ts";
import { connect, connected, naming, opened } from "../named-subscriptions.ts";
import type { TestConnection } from "../test-connection.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

describe("the subscriptions that a token names", () => {
  it("[C9] come in the connect reply, once all of them have begun", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, naming("a", "b"))).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    fixture.channels.acceptSubscribe("b");
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([connected(`{"b":{},"a":{}}`)]);
    fixture.channels.push("a", "1");
    expect(connection.takeSent()).toStrictEqual([pushed("a", "1")]);
  });

  it("[C9] need no permission, but have the token's options", () => {
    const options = {
      history_size: 100,
      history_ttl: "60s",
      allow_subscribe_for_client: false,
      presence: true,
    };
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.open();
    const override = {
      presence: false,
      joinLeave: true,
      forcePushJoinLeave: true,
      forceRecovery: true,
    };
    const special = { channel: "$a", override, info: json("[1.0]"), data: json(`{"n":2.0}`) };
    fixture.send(connection, connect, naming(special, "b"));
    expect(fixture.channels.optionsOf("$a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: false,
    });
    fixture.channels.acceptSubscribe("$a", { position: { epoch: "e", offset: 3 } });
    fixture.channels.acceptSubscribe("b");
    expect(connection.takeSent()[0]).toBe(
      connected(
        `{"$a":{"recoverable":true,"epoch":"e","offset":3,"positioned":true,"data":{"n":2.0}},"b":{}}`,
      ),
    );
    expect(connection.saved.subscriptions).toStrictEqual([
      {
        channel: "$a",
        chanInfo: "[1.0]",
        expireAtSeconds: 0,
        present: false,
        hidden: true,
        announced: true,
        hearsJoinLeave: true,
        recoverable: true,
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
    expect(fixture.channels.subscription("$a").info.chanInfo).toBe("[1.0]");
  });

  it("[S1] are remembered instead of the claims that name them", () => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a", "b");
    expect(connection.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
    expect(connection.saved.subscriptions.map(({ serverSide }) => serverSide)).toStrictEqual([
      true,
      true,
    ]);
  });

  it("[G1] may be as many as a connection may have: more of them close 3505", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 2 } });
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, naming("a", "b", "c"))).toStrictEqual([
      "close 3505 channel limit",
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    expect(opened(fixture, "a", "b").session.closed).toBe(false);
  });

  it("[G1] count towards the channel limit", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 2 } });
    const connection = opened(fixture, "a", "b");
    expect(fixture.ask(connection, `{"id":3,"subscribe":{"channel":"c"}}`)).toStrictEqual([
      `{"id":3,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(fixture.ask(connection, `{"id":4,"subscribe":{"channel":"a"}}`)).toStrictEqual([
      `{"id":4,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
  });

  it("[B2] are refused with 106 when they can't be remembered, and none is made", () => {
    const fixture = new ManyChannelsFixture({ storesRows: false });
    const connection = fixture.open();
    const large = { channel: "a", override: {}, info: json(`"${"x".repeat(16_000)}"`) };
    expect(fixture.ask(connection, connect, naming(large))).toStrictEqual([
      `{"id":1,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it.each([
    ["nowhere:a", 102, "unknown channel"],
    ["röom", 107, "bad request"],
  ])("[C4] to %s are refused, and then nothing more is answered", (name, code, message) => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, naming("a", name))).toStrictEqual([
      `{"id":1,"error":{"code":${code},"message":"${message}"}}`,
    ]);
    expect(connection.saved.phase).toBe("refused");
    expect(
      fixture.ask(connection, `{"id":2,"subscribe":{"channel":"a"}}\n{"send":{}}`),
    ).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });
});

describe("pushes of a channel before the connect reply", () => {
  it("[C9] waits for the reply, and comes right after it, in order", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b", "c"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.push("a", "1");
    fixture.channels.acceptSubscribe("b");
    fixture.channels.push("b", "2");
    fixture.channels.push("a", "3");
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("c");
    fixture.channels.push("a", "4");
    const [reply, ...pushes] = connection.takeSent();
    expect(reply).toBe(connected(`{"a":{},"b":{},"c":{}}`));
    expect(pushes.filter((push) => push.includes(`"a"`))).toStrictEqual([
      pushed("a", "1"),
      pushed("a", "3"),
      pushed("a", "4"),
    ]);
    expect(pushes.filter((push) => push.includes(`"b"`))).toStrictEqual([pushed("b", "2")]);
  });

  it("[F4] counts as not taken, so that it can't grow without end", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b"));
    fixture.channels.acceptSubscribe("a");
    const subscription = fixture.channels.subscription("a");
    expect(subscription.backlogBytes()).toBe(0);
    fixture.channels.push("a", `"${"x".repeat(1_000)}"`);
    expect(subscription.backlogBytes()).toBeGreaterThan(1_000);
    fixture.channels.acceptSubscribe("b");
    expect(subscription.backlogBytes()).toBe(0);
  });

  it("[O5] include no join: joins are announced after the reply", () => {
    const fixture = new ManyChannelsFixture({
      options: { join_leave: true, force_push_join_leave: true },
    });
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b"));
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
    fixture.channels.acceptSubscribe("b");
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce a", "announce b"]);
    const info = `{"info":{"user":"42","client":"c1"}}`;
    expect(connection.takeSent()).toStrictEqual([
      connected(`{"a":{},"b":{}}`),
      `{"push":{"channel":"a","join":${info}}}`,
      `{"push":{"channel":"b","join":${info}}}`,
    ]);
  });

  it("[L7] may have to be noted: that is saved with the connect, not before", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b"));
    fixture.channels.acceptSubscribe("a");
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    expect(fixture.channels.subscription("a").keep(cursor)).toBe(true);
    expect(connection.saved).toMatchObject({ phase: "new", subscriptions: [] });
    fixture.channels.acceptSubscribe("b");
    expect(connection.saved.cursors).toStrictEqual(new Map([["a", cursor]]));
  });

  it("[L3] may be that it lost the stream: the connection closes 3010, and leaves everything", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.subscription("a").insufficientState();
    expect(connection.takeSent()).toStrictEqual(["close 3010 insufficient state"]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "join b", "leave a", "leave b"]);
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
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    expect(fixture.ask(connection, frame, naming("a"))).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce a", "join b", "join c"]);
    expect(connection.takeSent()).toStrictEqual([
      connected(`{"a":{}}`),
      `{"id":5,"error":{"code":108,"message":"not available"}}`,
    ]);
    fixture.channels.acceptSubscribe("b");
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce b", "publish b 4"]);
  });

  it("[C4] are not carried out when it is refused", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, frame, naming("a"));
    fixture.channels.refuseSubscribe("a", errorCodes.internal);
    expect(connection.takeSent()).toStrictEqual([
      `{"id":1,"error":{"code":100,"message":"internal server error","temporary":true}}`,
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    expect(connection.saved.phase).toBe("refused");
    connection.session.tick(false, fixture.nowMs + 10_000);
    expect(connection.takeSent()).toStrictEqual(["close 3502 stale"]);
  });

  it("[C1] may not be another connect", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a"));
    expect(fixture.ask(connection, `{"id":2,"connect":{}}`, naming("a"))).toStrictEqual([
      "close 3501 bad request",
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[C2] aren't stale: a connect that is under way is given its time", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a"));
    connection.session.tick(true, fixture.nowMs + 60_000);
    expect(connection.takeSent()).toStrictEqual([]);
  });
});

describe("a subscription of the server's that can't be made", () => {
  it("[C9] fails the connect, once the others are known, and everything is left again", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b", "c"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.refuseSubscribe("b", errorCodes.tooManyRequests);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("c");
    expect(connection.takeSent()).toStrictEqual([
      `{"id":1,"error":{"code":111,"message":"too many requests","temporary":true}}`,
    ]);
    expect(fixture.channels.takeCalls().slice(3)).toStrictEqual(["leave a", "leave c"]);
    expect(fixture.channels.known).toStrictEqual([]);
    expect(connection.saved).toMatchObject({ phase: "refused", subscriptions: [] });
  });

  it.each<[string, (connection: TestConnection) => void]>([
    ["the socket ends", (connection) => connection.session.ended()],
    ["it is closed", (connection) => connection.session.disconnect(disconnectCodes.slow)],
  ])("[G5] leaves nothing behind when %s meanwhile", (_, goes) => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a", "b"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.push("a", "1");
    goes(connection);
    connection.session.ended();
    expect(fixture.channels.takeCalls().slice(2).toSorted()).toStrictEqual(["leave a", "leave b"]);
    expect(fixture.channels.known).toStrictEqual([]);
    expect(connection.takeSent().filter((frame) => !frame.startsWith("close"))).toStrictEqual([]);
  });
});

describe("a stream that is lost", () => {
  it("[L3] closes 3010 when the server subscribed: the client must connect anew", () => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a", "b");
    fixture.channels.subscription("b").insufficientState();
    expect(connection.takeSent()).toStrictEqual(["close 3010 insufficient state"]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["leave a", "leave b"]);
  });

  it("[L3] is told with 2500 when the client subscribed", () => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a");
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"b"}}`);
    fixture.channels.acceptSubscribe("b");
    connection.takeSent();
    fixture.channels.subscription("b").insufficientState();
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"b","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`,
    ]);
    expect(connection.session.closed).toBe(false);
  });
});

describe("a socket that was opened for one channel", () => {
  it("[C6] has no subscriptions of the server's, whatever its token names", () => {
    // With `serverSubscriptions: false`, as the channel fixture's sessions have it.
    const fixture = new ManyChannelsFixture({ serverSubscriptions: false });
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, naming("a"))).toStrictEqual([connected()]);
    expect(fixture.ask(connection, `{"id":3,"refresh":{"token":"t"}}`, naming("b"))).toStrictEqual([
      `{"id":3,"refresh":{}}`,
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });
});
