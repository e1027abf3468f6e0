import { describe, expect, it } from "vitest";
import type { SessionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";
import { connectionToken, expiredToken } from "../../session/verified-tokens.ts";

const endpoint = "https://backend.example/hooks";
const connectHook = { proxy: { connect: { enabled: true, endpoint } } };
const connect = '{"id":1,"connect":{}}';
const internal = '{"id":1,"error":{"code":100,"message":"internal server error","temporary":true}}';
const asking = { client: "c1", transport: "websocket", protocol: "json", encoding: "json" };

const newFixture = (client: object = connectHook, more: object = {}) =>
  new ManyChannelsFixture({ client, ...more });

describe("a connect without a token, with the hook", () => {
  it("[Q2] is accepted with the credentials that the backend gives", () => {
    const fixture = newFixture();
    const connection = fixture.open();
    const request = '{"name":"js","version":"5","data":{"k":1},"subs":{"a":{}}}';
    expect(fixture.ask(connection, `{"id":1,"connect":${request}}`)).toStrictEqual([]);
    expect(fixture.backend.takeAsked()).toStrictEqual([
      {
        hook: "connect",
        target: "client.proxy.connect",
        body: { ...asking, data: { k: 1 }, name: "js", version: "5", channels: ["a"] },
      },
    ]);
    const expire_at = fixture.nowMs / 1_000 + 60;
    fixture.backend.answer({
      result: { user: "7", expire_at, info: { n: 1 }, data: { hi: 1 }, channels: ["news"] },
    });
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("news");
    expect(connection.takeSent()).toStrictEqual([
      '{"id":1,"connect":{"client":"c1","version":"test","expires":true,"ttl":60,"data":{"hi":1},"subs":{"news":{}},"ping":25,"pong":true}}',
    ]);
    expect(connection.saved).toMatchObject({
      phase: "connected",
      claims: { user: "7", expireAtSeconds: expire_at, info: '{"n":1}' },
    });
    expect(connection.saved.asking).toBeUndefined();
    expect(connection.session.user).toBe("7");
  });

  it.each([
    [
      "an error",
      { error: { code: 1_000, message: "no" } },
      '{"id":1,"error":{"code":1000,"message":"no"}}',
    ],
    ["a result that can't be used", { result: { user: 1 } }, internal],
    [
      "credentials that have ended",
      { result: { user: "7", expire_at: 5 } },
      '{"id":1,"error":{"code":110,"message":"expired"}}',
    ],
    [
      "credentials that are too large",
      { result: { user: "7", info: "x".repeat(limits.sessionClaimsBytesMax) } },
      '{"id":1,"error":{"code":106,"message":"limit exceeded"}}',
    ],
  ])("[Q5] [C4] is refused after %s, and no command is answered then", (_, answer, expected) => {
    const fixture = newFixture();
    const connection = fixture.open();
    fixture.send(connection, `${connect}\n{"id":2,"subscribe":{"channel":"news"}}`);
    fixture.backend.answer(answer);
    expect(connection.takeSent()).toStrictEqual([expected]);
    expect(connection.saved.phase).toBe("refused");
    expect(fixture.ask(connection, '{"id":3,"subscribe":{"channel":"news"}}')).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.pass(connection, 10_000);
    expect(connection.takeSent()).toStrictEqual(["close 3502 stale"]);
  });

  it("[Q2] has no credentials without a result: 3501, or an anonymous connection if allowed", () => {
    const strict = newFixture();
    const refused = strict.open();
    strict.send(refused, connect);
    strict.backend.answer({});
    expect(refused.takeSent()).toStrictEqual(["close 3501 bad request"]);
    const open = newFixture({ ...connectHook, allow_anonymous_connect_without_token: true });
    const accepted = open.open();
    open.send(accepted, connect);
    open.backend.answer({ result: null });
    expect(accepted.takeSent()[0]).toContain('"connect":{"client":"c1"');
  });

  it.each([
    ["a token", {}, connectionToken("42")],
    ["a token of the upgrade", { claims: { user: "42", expireAtSeconds: 0 } }, {}],
    ["a bad token", {}, expiredToken],
  ])("[Q1] asks nobody with %s", (_, more, tokens) => {
    const fixture = newFixture();
    const connection = fixture.open(more);
    const [reply] = fixture.ask(connection, connect, tokens);
    expect(reply).toContain('"id":1');
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[Q3] has all further commands wait, and a second connect closes", () => {
    const fixture = newFixture();
    const connection = fixture.open();
    fixture.send(connection, `${connect}\n{"id":2,"subscribe":{"channel":"news"}}`);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.backend.answer({ result: { user: "7" } });
    expect(fixture.channels.takeCalls()).toStrictEqual(["join news"]);
    const other = fixture.open();
    fixture.send(other, connect);
    expect(fixture.ask(other, connect)).toStrictEqual(["close 3501 bad request"]);
    fixture.backend.answer({ result: { user: "7" } });
    expect(other.takeSent()).toStrictEqual([]);
  });

  it("[Q4] is closed when its object has lost it, also before anything was accepted", () => {
    const fixture = newFixture();
    const connection = fixture.open();
    fixture.send(connection, connect);
    fixture.pass(connection, 60_000);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.wake(connection);
    expect(connection.takeSent()).toStrictEqual(["close 3004 internal server error"]);
  });

  it("[Q7] is answered at once while the backend is down", () => {
    const fixture = newFixture();
    for (let count = 0; count < hookLimits.hookFailuresMax; count++) {
      const connection = fixture.open();
      fixture.send(connection, connect);
      fixture.backend.fail();
      expect(connection.takeSent()).toStrictEqual([internal]);
    }
    fixture.backend.takeAsked();
    const connection = fixture.open();
    expect(fixture.ask(connection, connect)).toStrictEqual([internal]);
    expect(connection.saved).toMatchObject({ phase: "refused" });
    expect(connection.saved.asking).toBeUndefined();
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it.each<[Partial<SessionSnapshot>, object]>([
    [{ codec: "one_way" }, { transport: "uni_websocket", protocol: "json" }],
    [{ secret: "s" }, { transport: "http_stream" }],
    [{ secret: "s", events: true }, { transport: "sse" }],
    [{ codec: "one_way", secret: "s", events: true }, { transport: "uni_sse" }],
    [{ codec: "one_way", secret: "s", passing: true }, { transport: "long_poll" }],
  ])("[Q2] says which transport it is: %j", (more, expected) => {
    const fixture = newFixture();
    fixture.send(fixture.open(more), connect);
    expect(fixture.backend.takeAsked()).toMatchObject([{ body: expected }]);
  });
});

describe("the headers of a connection", () => {
  const headers = { http_headers: ["Cookie"], emulated_headers: ["Authorization"] };
  const client = { proxy: { connect: { enabled: true, endpoint, ...headers } } };
  const rpc = {
    proxy: { endpoint, emulated_headers: ["authorization"] },
    without_namespace: { proxy_enabled: true },
  };
  const http = [["cookie", "a=b"]] as const;

  it("[Q8] reach the hooks that name them, also after hibernation", () => {
    const fixture = newFixture(client, { rpc });
    const connection = fixture.open({ headers: { http } });
    const request = '{"headers":{"Authorization":"t","Cookie":"forged","X":"y"}}';
    fixture.send(connection, `{"id":1,"connect":${request}}`);
    expect(fixture.backend.takeAsked()).toMatchObject([
      {
        headers: [
          ["cookie", "a=b"],
          ["authorization", "t"],
        ],
      },
    ]);
    fixture.backend.answer({ result: { user: "7" } });
    connection.takeSent();
    // The cookie was for the connect hook alone.
    expect(connection.saved.headers).toStrictEqual({ emulated: [["authorization", "t"]] });
    fixture.wake(connection);
    fixture.send(connection, '{"id":2,"rpc":{"method":"a"}}');
    expect(fixture.backend.takeAsked()).toMatchObject([{ headers: [["authorization", "t"]] }]);
  });

  it("[B2] are refused with 106 beyond their bound", () => {
    const fixture = newFixture(client, { rpc });
    const value = "x".repeat(hookLimits.hookHeadersLengthMax);
    const request = `{"id":1,"connect":{"headers":{"Authorization":"${value}"}}}`;
    expect(fixture.ask(fixture.open(), request)).toStrictEqual([
      '{"id":1,"error":{"code":106,"message":"limit exceeded"}}',
    ]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });
});

describe("the metadata of a connection", () => {
  const rpc = {
    proxy: { endpoint, include_connection_meta: true },
    without_namespace: { proxy_enabled: true },
  };

  it("[Q2] reaches the hooks that ask for it, from a token or from the connect hook", () => {
    const fixture = newFixture(connectHook, { rpc });
    const byToken = fixture.open();
    fixture.send(byToken, connect, connectionToken("42", { meta: json('{"role":"a"}') }));
    const byHook = fixture.open();
    fixture.send(byHook, connect);
    fixture.backend.answer({ result: { user: "7", meta: { role: "b" } } });
    fixture.backend.takeAsked();
    for (const connection of [byToken, byHook])
      fixture.send(connection, '{"id":2,"rpc":{"method":"a"}}');
    expect(fixture.backend.takeAsked()).toMatchObject([
      { body: { meta: { role: "a" } } },
      { body: { meta: { role: "b" } } },
    ]);
  });

  it("[Q2] takes no room where no hook asks for it", () => {
    const fixture = newFixture();
    const connection = fixture.open();
    fixture.send(connection, connect);
    fixture.backend.answer({ result: { user: "7", meta: { role: "b" } } });
    expect(connection.saved.claims).toStrictEqual({ user: "7", expireAtSeconds: 0 });
  });
});

describe("a connection that the server refreshes", () => {
  const refresh = { proxy: { refresh: { enabled: true, endpoint } } };

  /** A connection whose token ends in a minute. */
  function expiring(client: object = refresh) {
    const fixture = newFixture(client);
    const connection = fixture.open();
    const expireAtSeconds = fixture.nowMs / 1_000 + 60;
    const reply = fixture.ask(connection, connect, connectionToken("42", { expireAtSeconds }));
    return { fixture, connection, reply, expireAtSeconds };
  }

  it("[Q9] isn't told of an end, and has its backend asked at the end", () => {
    const { fixture, connection, reply, expireAtSeconds } = expiring();
    expect(reply.join()).not.toContain("expires");
    fixture.pass(connection, 59_999);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.pass(connection, 1);
    expect(fixture.backend.takeAsked()).toStrictEqual([
      { hook: "refresh", target: "client.proxy.refresh", body: { ...asking, user: "42" } },
    ]);
    expect(connection.session.dueAtMs(fixture.nowMs)).toBeGreaterThan(fixture.nowMs);
    fixture.pass(connection, 10);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.backend.answer({ result: { expire_at: expireAtSeconds + 60, info: { n: 2 } } });
    expect(connection.saved.claims).toStrictEqual({
      user: "42",
      expireAtSeconds: expireAtSeconds + 60,
      info: '{"n":2}',
    });
  });

  it.each([
    ["says so", { result: { expired: true } }],
    ["says nothing", {}],
    ["names a time that has passed", { result: { expire_at: 5 } }],
    ["names no time", { result: {} }],
    ["names no time and an info", { result: { expire_at: 0, info: { n: 3 } } }],
  ])("[Q9] [Q12] is closed with 3005 if the backend %s", (_, answer) => {
    const { fixture, connection } = expiring();
    connection.takeSent();
    fixture.pass(connection, 60_000);
    fixture.backend.answer(answer);
    expect(connection.takeSent().at(-1)).toBe("close 3005 connection expired");
  });

  it("[Q9] lives a minute longer if the backend can't be asked, and is asked about again", () => {
    const { fixture, connection, expireAtSeconds } = expiring();
    fixture.pass(connection, 60_000);
    fixture.backend.fail();
    expect(connection.saved.claims?.expireAtSeconds).toBe(
      expireAtSeconds + hookLimits.hookExtensionSeconds,
    );
    expect(fixture.refusals).toMatchObject([{ rule: "Q9", user: "42" }]);
    fixture.backend.takeAsked();
    fixture.pass(connection, 60_000);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
    fixture.backend.answer({ error: { code: 1_000, message: "" } });
    expect(connection.session.closed).toBe(false);
  });

  it("[Q9] is asked about again after hibernation", () => {
    const { fixture, connection } = expiring();
    fixture.pass(connection, 60_000);
    fixture.wake(connection);
    expect(connection.session.closed).toBe(false);
    fixture.backend.takeAsked();
    fixture.pass(connection, 0);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
  });

  it("[Q9] is closed by a disconnect of the backend, and with 3501 by a refresh of the client", () => {
    const { fixture, connection } = expiring();
    connection.takeSent();
    fixture.pass(connection, 60_000);
    fixture.backend.answer({ disconnect: { code: 4_000, reason: "bye" } });
    expect(connection.takeSent().at(-1)).toBe("close 4000 bye");
    const other = expiring();
    const command = '{"id":2,"refresh":{"token":"t"}}';
    expect(other.fixture.ask(other.connection, command, connectionToken("42")).at(-1)).toBe(
      "close 3501 bad request",
    );
  });
});

describe("a subscription that the server refreshes", () => {
  const channel = {
    proxy: { subscribe: { endpoint }, sub_refresh: { endpoint } },
    namespaces: [{ name: "asked", subscribe_proxy_enabled: true, sub_refresh_proxy_enabled: true }],
  };

  /** A subscription that ends in a minute. */
  function expiring() {
    const fixture = newFixture({}, { channel });
    const connection = fixture.connected();
    fixture.send(connection, '{"id":2,"subscribe":{"channel":"asked:a"}}');
    const expire_at = fixture.nowMs / 1_000 + 60;
    fixture.backend.answer({ result: { expire_at, info: { n: 1 } } });
    fixture.channels.acceptSubscribe("asked:a");
    fixture.backend.takeAsked();
    const reply = connection.takeSent();
    return { fixture, connection, reply, expire_at };
  }

  it("[Q9] isn't told of an end, and has its backend asked at the end", () => {
    const { fixture, connection, reply, expire_at } = expiring();
    expect(reply).toStrictEqual(['{"id":2,"subscribe":{}}']);
    fixture.wake(connection);
    fixture.pass(connection, 60_000);
    expect(fixture.backend.takeAsked()).toStrictEqual([
      {
        hook: "sub_refresh",
        target: "channel.proxy.sub_refresh",
        body: { ...asking, user: "42", channel: "asked:a" },
      },
    ]);
    fixture.pass(connection, 10);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.backend.answer({ result: { expire_at: expire_at + 60, info: { n: 2 } } });
    expect(connection.saved.subscriptions).toMatchObject([
      { channel: "asked:a", chanInfo: '{"n":2}', expireAtSeconds: expire_at + 60 },
    ]);
    fixture.pass(connection, 60_000);
    expect(fixture.backend.takeAsked()).toHaveLength(1);
    fixture.backend.fail();
    expect(connection.saved.subscriptions[0]?.expireAtSeconds).toBe(
      Math.floor(fixture.nowMs / 1_000) + hookLimits.hookExtensionSeconds,
    );
  });

  it.each([[{ result: { expired: true } }], [{}]])("[Q9] is ended with 2501 by %j", (answer) => {
    const { fixture, connection } = expiring();
    fixture.pass(connection, 60_000);
    connection.takeSent();
    fixture.backend.answer(answer);
    expect(connection.takeSent()).toStrictEqual([
      '{"push":{"channel":"asked:a","unsubscribe":{"code":2501,"reason":"subscription expired"}}}',
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[Q4] isn't changed by an answer that comes after it has ended", () => {
    const { fixture, connection } = expiring();
    fixture.pass(connection, 60_000);
    fixture.send(connection, '{"id":3,"unsubscribe":{"channel":"asked:a"}}');
    connection.takeSent();
    fixture.backend.answer({ result: { expired: true } });
    expect(connection.takeSent()).toStrictEqual([]);
  });
});
