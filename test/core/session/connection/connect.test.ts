import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture, startMs } from "../channel-fixture.ts";
import { connectionToken, expiredToken, invalidToken } from "../verified-tokens.ts";

const connect = `{"id":1,"connect":{}}`;
const connected = `{"id":1,"connect":{"client":"c1","version":"test","ping":25,"pong":true}}`;
const startSeconds = startMs / 1000;

describe("a connect", () => {
  it("[W1] with a good token is answered in the minimal form", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, connectionToken("42"))).toStrictEqual([connected]);
    expect(connection.saved).toMatchObject({ phase: "connected", claims: { user: "42" } });
  });

  it("[W1] with an expiring token gets the whole seconds that are left", () => {
    const fixture = new ChannelFixture();
    const end = connectionToken("42", { expireAtSeconds: startSeconds + 61 });
    fixture.nowMs += 400;
    expect(fixture.ask(fixture.open(), connect, end)).toStrictEqual([
      `{"id":1,"connect":{"client":"c1","version":"test","expires":true,"ttl":60,"ping":25,"pong":true}}`,
    ]);
  });

  it("[W1] never gets a ttl of 0, which would mean that the token doesn't expire", () => {
    const fixture = new ChannelFixture();
    const end = connectionToken("42", { expireAtSeconds: startSeconds + 1 });
    fixture.nowMs += 999;
    expect(fixture.ask(fixture.open(), connect, end)).toStrictEqual([
      `{"id":1,"connect":{"client":"c1","version":"test","expires":true,"ttl":1,"ping":25,"pong":true}}`,
    ]);
  });

  it("[W1] is told the interval of the pings, and the time where that is configured", () => {
    const client = { ping_interval: "120s", connect_include_server_time: true };
    const fixture = new ChannelFixture({ client });
    expect(fixture.ask(fixture.open(), connect, connectionToken("42"))).toStrictEqual([
      `{"id":1,"connect":{"client":"c1","version":"test","ping":120,"pong":true,"time":${startMs}}}`,
    ]);
  });

  it("[K3] with client-driven keep-alive expects no pongs", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open({ keepalive: "client" });
    expect(fixture.ask(connection, connect, connectionToken("42"))).toStrictEqual([
      `{"id":1,"connect":{"client":"c1","version":"test","ping":25}}`,
    ]);
  });

  it("[O6] may share its frame with what follows it", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const frame = `${connect}\n{"id":2,"subscribe":{"channel":"room"}}`;
    expect(fixture.ask(fixture.open(), frame, connectionToken("42"))).toStrictEqual([
      connected,
      `{"id":2,"subscribe":{}}`,
    ]);
  });
});

describe("the first command", () => {
  it.each([
    ["{}"],
    [`{"id":1,"subscribe":{"channel":"room"}}`],
    [`{"id":1,"unsubscribe":{"channel":"room"}}`],
    [`{"id":1,"publish":{"channel":"room","data":1}}`],
    [`{"id":1,"presence":{"channel":"room"}}`],
    [`{"id":1,"presence_stats":{"channel":"room"}}`],
    [`{"id":1,"history":{"channel":"room"}}`],
    [`{"id":1,"refresh":{"token":"t"}}`],
    [`{"id":1,"sub_refresh":{"channel":"room","token":"t"}}`],
    [`{"id":1,"rpc":{}}`],
    [`{"id":1,"ping":{}}`],
    [`{"send":{}}`],
  ])("[C1] closes 3501 when it is %s", (command) => {
    const fixture = new ChannelFixture();
    const connection = fixture.open();
    const received = fixture.ask(connection, `${command}\n${connect}`, connectionToken("42"));
    expect(received).toStrictEqual(["close 3501 bad request"]);
    expect(connection.saved.phase).toBe("closed");
  });

  it("[C1] may not come again", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    const received = fixture.ask(connection, `{"id":2,"connect":{}}`, connectionToken("42"));
    expect(received).toStrictEqual(["close 3501 bad request"]);
  });
});

describe("the credentials of a connect", () => {
  it("[C3] close 3501 when there are none", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.open(), connect)).toStrictEqual(["close 3501 bad request"]);
  });

  it("[A1] need not be there where the configuration says so: then the user is nobody", () => {
    const fixture = new ChannelFixture({ client: { allow_anonymous_connect_without_token: true } });
    const connection = fixture.open();
    expect(fixture.ask(connection, connect)).toStrictEqual([connected]);
    expect(connection.saved.claims).toStrictEqual({ user: "", expireAtSeconds: 0 });
  });

  it.each([[{}], [{ allow_anonymous_connect_without_token: true }]])(
    "[C3] close 3500 when the token is invalid, with %j",
    (client) => {
      const fixture = new ChannelFixture({ client });
      expect(fixture.ask(fixture.open(), connect, invalidToken)).toStrictEqual([
        "close 3500 invalid token",
      ]);
    },
  );

  it("[C3] are answered 109 when the token has expired", () => {
    const fixture = new ChannelFixture({ client: { allow_anonymous_connect_without_token: true } });
    const connection = fixture.open();
    expect(fixture.ask(connection, connect, expiredToken)).toStrictEqual([
      `{"id":1,"error":{"code":109,"message":"token expired"}}`,
    ]);
    expect(connection.saved.phase).toBe("refused");
  });

  it.each([[startSeconds], [startSeconds - 1_000]])(
    "[W1] are answered 110 when the token is good but names an end that has passed: %i",
    (expireAtSeconds) => {
      const fixture = new ChannelFixture();
      const connection = fixture.open();
      const token = connectionToken("42", { expireAtSeconds });
      expect(fixture.ask(connection, connect, token)).toStrictEqual([
        `{"id":1,"error":{"code":110,"message":"expired"}}`,
      ]);
      expect(connection.saved.phase).toBe("refused");
    },
  );

  it("[A1] may be a token without a user", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.open(), connect, connectionToken(""))).toStrictEqual([connected]);
  });

  it("[A1] may be a token with a user where one without isn't allowed", () => {
    const fixture = new ChannelFixture({ client: { disallow_anonymous_connection_tokens: true } });
    expect(fixture.ask(fixture.open(), connect, connectionToken("42"))).toStrictEqual([connected]);
  });

  it("[A1] close 3507 when they are a token of nobody where that is not allowed", () => {
    const fixture = new ChannelFixture({ client: { disallow_anonymous_connection_tokens: true } });
    expect(fixture.ask(fixture.open(), connect, connectionToken(""))).toStrictEqual([
      "close 3507 permission denied",
    ]);
  });
});

describe("the token of the upgrade", () => {
  const claims = { user: "42", expireAtSeconds: 0, info: json(`{"name":"Zoë"}`) };

  it("[A3] counts like one in the command", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open({ claims });
    expect(fixture.ask(connection, connect)).toStrictEqual([connected]);
    expect(connection.saved.claims).toStrictEqual(claims);
  });

  it("[A3] gives way to a token of the same user in the command", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open({ claims: { ...claims, expireAtSeconds: startSeconds - 1 } });
    expect(fixture.ask(connection, connect, connectionToken("42"))).toStrictEqual([connected]);
    expect(connection.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
  });

  it("[A3] closes 3500 if the token in the command is another user's", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open({ claims });
    expect(fixture.ask(connection, connect, connectionToken("43"))).toStrictEqual([
      "close 3500 invalid token",
    ]);
  });

  it("[A3] doesn't make up for a bad one in the command", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.open({ claims }), connect, invalidToken)).toStrictEqual([
      "close 3500 invalid token",
    ]);
    expect(fixture.ask(fixture.open({ claims }), connect, expiredToken)).toStrictEqual([
      `{"id":1,"error":{"code":109,"message":"token expired"}}`,
    ]);
  });

  it("[C3] is answered 109 when it has ended since", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open({ claims: { ...claims, expireAtSeconds: startSeconds + 5 } });
    fixture.nowMs += 5_000;
    expect(fixture.ask(connection, connect)).toStrictEqual([
      `{"id":1,"error":{"code":109,"message":"token expired"}}`,
    ]);
  });
});

describe("a connect whose claims don't fit an attachment", () => {
  it("[B2] is answered 106 and keeps nothing of them", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.open();
    const info = json(`"${"x".repeat(limits.sessionClaimsBytesMax)}"`);
    expect(fixture.ask(connection, connect, connectionToken("42", { info }))).toStrictEqual([
      `{"id":1,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(connection.saved).toStrictEqual({
      phase: "refused",
      client: "c1",
      openedAtMs: startMs,
      keepalive: "server",
      subscriptions: [],
    });
  });
});

describe("a refused connect", () => {
  it("[C4] is followed by nothing, whatever the client says", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const connection = fixture.open();
    fixture.ask(connection, connect, expiredToken);
    const more = [
      `{"id":2,"connect":{}}`,
      `{"id":3,"subscribe":{"channel":"room"}}`,
      `{"id":4,"rpc":{}}`,
      `{"id":5,"ping":{}}`,
      `{"send":{}}`,
      "{}",
    ];
    expect(fixture.ask(connection, more.join("\n"), connectionToken("42"))).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[C4] is closed 3502 by the stale delay, which runs since the socket opened", () => {
    const fixture = new ChannelFixture({ client: { stale_close_delay: "10s" } });
    const connection = fixture.open();
    fixture.nowMs += 4_000;
    fixture.ask(connection, connect, expiredToken);
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 10_000);
    fixture.pass(5_999);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3502 stale"]);
  });
});

describe("a socket that never connects", () => {
  it("[C2] is closed 3502 after the stale delay", () => {
    const fixture = new ChannelFixture({ client: { stale_close_delay: "3s" } });
    const connection = fixture.open();
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 3_000);
    fixture.pass(2_999);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3502 stale"]);
    expect(connection.session.dueAtMs(startMs)).toBe(Number.POSITIVE_INFINITY);
  });

  it("[C2] isn't stale any more once it connected", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    fixture.pass(10_000);
    expect(connection.takeSent()).toStrictEqual([]);
  });
});
