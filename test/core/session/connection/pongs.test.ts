import { describe, expect, it } from "vitest";
import { connectionToken } from "../verified-tokens.ts";
import { ChannelFixture, type ChannelFixtureSetup } from "../channel-fixture.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

const connect = `{"id":1,"connect":{}}`;
/** Whether a connect reply asks for pongs. */
function asksForPongs(reply: string | undefined): boolean | undefined {
  return reply?.includes(`"pong":true`);
}

describe("a connection on a channel's own object", () => {
  it.each<[string, string, object, boolean]>([
    ["never, with presence", "never", { presence: true, join_leave: true }, false],
    ["always, without", "always", {}, true],
    ["auto, with presence", "auto", { presence: true }, true],
    ["auto, with joins and leaves", "auto", { join_leave: true }, true],
    ["auto, without", "auto", {}, false],
  ])("[K6] [K10] is asked for pongs or not: %s", (_, pong, options, expected) => {
    const fixture = new ChannelFixture({
      client: { pong },
      options,
      channel: { namespaces: [{ name: "other", presence: true }] },
    });
    const sent = fixture.ask(fixture.open(), connect, connectionToken("42"));
    expect(sent.map(asksForPongs)).toStrictEqual([expected]);
  });

  it.each(["client", "server"] as const)(
    "[K6] isn't asked where it can't answer or pings itself: %s",
    (keepalive) => {
      const fixture = new ChannelFixture({ options: { presence: true } });
      const more =
        keepalive === "server" ? ({ keepalive, codec: "one_way" } as const) : { keepalive };
      const connection = fixture.open(more);
      const sent = fixture.ask(connection, connect, connectionToken("42"));
      expect(sent.map(asksForPongs)).not.toContain(true);
      expect(connection.saved).not.toHaveProperty("noPongs");
    },
  );

  it("[K6] [K1] [S2] is pinged and stays without an answer, across hibernation too", () => {
    const fixture = new ChannelFixture({ client: { pong: "auto" } });
    const connection = fixture.connected();
    expect(connection.saved.noPongs).toBe(true);
    for (let round = 0; round < 3; round++) {
      fixture.pass(25_000);
      expect(connection.takeSent()).toStrictEqual(["{}"]);
      fixture.hibernate();
    }
  });

  it("[V1] [K2] that a release without this option stored was asked, and has to answer", () => {
    const fixture = new ChannelFixture({ client: { pong: "never" } });
    const connection = fixture.open({ phase: "connected" });
    fixture.pass(25_000);
    fixture.pass(25_000);
    expect(connection.takeSent()).toStrictEqual(["{}", "close 3012 no pong"]);
  });
});

describe("a connection whose user is counted or watched", () => {
  it.each<[string, ChannelFixtureSetup, boolean]>([
    ["users are neither", { client: { users: { enabled: true } } }, false],
    [
      "their connections are limited",
      { client: { users: { enabled: true }, user_connection_limit: 1 } },
      true,
    ],
    [
      "their presence is a map",
      {
        options: { map_clients_presence_channel_prefix: "clients:" },
        channel: {
          namespaces: [
            { name: "clients", subscription_type: "map_clients", map: { key_ttl: "1m" } },
          ],
        },
      },
      true,
    ],
  ])("[K10] is asked for pongs or not with auto: %s", (_, setup, expected) => {
    const fixture = new ChannelFixture({ ...setup, client: { ...setup.client, pong: "auto" } });
    const sent = fixture.ask(fixture.open(), connect, connectionToken("42"));
    expect(sent.map(asksForPongs)).toStrictEqual([expected]);
  });
});

describe("a connection on a gateway", () => {
  it.each<[string, object, object[], object, boolean]>([
    ["no namespace shows its subscribers", {}, [{ name: "one" }], {}, false],
    ["channels without a namespace do", { presence: true }, [], {}, true],
    ["one namespace does", {}, [{ name: "one" }, { name: "two", join_leave: true }], {}, true],
    ["its token's subscription does", {}, [], { presence: true }, true],
    ["its token's subscription is announced", {}, [], { joinLeave: true }, true],
    ["its token's subscription doesn't", {}, [], {}, false],
  ])(
    "[K10] is asked for pongs or not with auto: %s",
    (_, options, namespaces, override, expected) => {
      const fixture = new ManyChannelsFixture({
        client: { pong: "auto" },
        options,
        channel: { namespaces },
      });
      const connection = fixture.open();
      const subscriptions = [{ channel: "given", override }];
      fixture.send(connection, connect, connectionToken("42", { subscriptions }));
      fixture.channels.acceptSubscribe("given", {});
      expect(asksForPongs(connection.takeSent()[0])).toBe(expected);
    },
  );
});
