import { describe, expect, it } from "vitest";
import type { VerifiedTokens } from "../../../../src/session/ports.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import { subscriptionToken } from "../verified-tokens.ts";

describe("unavailable features", () => {
  it("[W1] is answered 108 when it is rpc", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), `{"id":2,"rpc":{"method":"ping"}}`)).toStrictEqual([
      `{"id":2,"error":{"code":108,"message":"not available"}}`,
    ]);
  });

  it("[W1] closes 3508 when it is send", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), `{"send":{"data":1}}`)).toStrictEqual([
      "close 3508 not available",
    ]);
  });

  it("[W1] closes 3501 when it is the ping command: only the empty message is one", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), `{"id":2,"ping":{}}`)).toStrictEqual([
      "close 3501 bad request",
    ]);
  });
});

describe("an rpc", () => {
  const ping = `{"id":2,"rpc":{"method":"ping","data":{"n":1}}}`;

  it("[W1] named ping is answered with nothing where that is configured", () => {
    const fixture = new ChannelFixture({ rpc: { ping: { enabled: true } } });
    expect(fixture.ask(fixture.connected(), ping)).toStrictEqual([`{"id":2,"rpc":{}}`]);
  });

  it.each([
    ["of another name", { ping: { enabled: true } }, `{"id":2,"rpc":{"method":"pong"}}`],
    ["without a name", { ping: { enabled: true } }, `{"id":2,"rpc":{}}`],
    ["named ping where it isn't configured", { ping: { enabled: false } }, ping],
  ])("[W1] %s is answered 108", (_, rpc, command) => {
    const fixture = new ChannelFixture({ rpc });
    expect(fixture.ask(fixture.connected(), command)).toStrictEqual([
      `{"id":2,"error":{"code":108,"message":"not available"}}`,
    ]);
  });
});

const internal = (id: number): string =>
  `{"id":${id},"error":{"code":100,"message":"internal server error","temporary":true}}`;

describe("a token that can't be verified now", () => {
  const unavailable = {
    connection: { outcome: "unavailable" },
    subscription: { outcome: "unavailable" },
  } as const satisfies VerifiedTokens;
  it("[A9] lets nobody in, and invites to come again", () => {
    const fixture = new ChannelFixture({ client: { allow_anonymous_connect_without_token: true } });
    const connection = fixture.open({ claims: { user: "42", expireAtSeconds: 0 } });
    expect(fixture.ask(connection, `{"id":1,"connect":{"token":"t"}}`, unavailable)).toStrictEqual([
      internal(1),
    ]);
    expect(connection.saved.phase).toBe("refused");
  });

  it("[A9] opens no channel, not even an open one, and closes nothing", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const connection = fixture.connected();
    const ask = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;
    expect(fixture.ask(connection, ask, unavailable)).toStrictEqual([internal(2)]);
    expect(fixture.channel.hub.size).toBe(0);
    expect(fixture.ask(connection, ask, subscriptionToken())).toStrictEqual([
      `{"id":2,"subscribe":{}}`,
    ]);
  });

  it.each([
    [`{"id":3,"refresh":{"token":"t"}}`],
    [`{"id":3,"sub_refresh":{"channel":"room","token":"t"}}`],
  ])("[A9] closes no connection, and changes nothing: %s", (command) => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const connection = fixture.subscribed();
    const before = connection.saved;
    expect(fixture.ask(connection, command, unavailable)).toStrictEqual([internal(3)]);
    expect(connection.saved).toStrictEqual(before);
    expect(connection.session.closed).toBe(false);
  });
});

describe("a closed session", () => {
  it("[S4] does nothing more, whatever is said or due", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const connection = fixture.connected();
    fixture.ask(connection, `{"send":{}}`);
    const received = fixture.ask(
      connection,
      `{"id":3,"subscribe":{"channel":"room"}}\n{}\n{"id":4,"rpc":{}}`,
    );
    expect(received).toStrictEqual([]);
    fixture.pass(100_000);
    fixture.end(connection);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[S4] is still closed after hibernation, although its socket is listed", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const connection = fixture.subscribed();
    fixture.ask(connection, `{"send":{}}`);
    fixture.hibernate();
    expect(connection.session.closed).toBe(true);
    expect(fixture.channel.hub.size).toBe(0);
    fixture.publish("1");
    expect(fixture.ask(connection, `{"id":3,"rpc":{}}`)).toStrictEqual([]);
    fixture.pass(100_000);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(connection.session.dueAtMs(0)).toBe(Number.POSITIVE_INFINITY);
  });
});
