import { describe, expect, it } from "vitest";
import { naming, opened } from "../named-subscriptions.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

describe("a refresh of a connection with server-side subscriptions", () => {
  const refresh = `{"id":3,"refresh":{"token":"t"}}`;
  const refreshed = `{"id":3,"refresh":{}}`;

  it("[C9] whose token names the same channels succeeds, in any order", () => {
    const fixture = new ManyChannelsFixture({
      client: { subscribe_to_user_personal_channel: { enabled: true } },
    });
    const connection = opened(fixture, "a", "b", "#42");
    expect(fixture.ask(connection, refresh, naming("b", "a"))).toStrictEqual([refreshed]);
    expect(connection.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
  });

  it.each([
    ["one less", ["a"]],
    ["one more", ["a", "b", "c"]],
    ["another", ["a", "c"]],
    ["none", []],
  ])("[C9] whose token names %s closes 3010: the client connects anew", (_, channels) => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a", "b");
    expect(fixture.ask(connection, refresh, naming(...channels))).toStrictEqual([
      "close 3010 insufficient state",
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[C9] doesn't concern client-side subscriptions", () => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a");
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"b"}}`);
    fixture.channels.acceptSubscribe("b");
    connection.takeSent();
    expect(fixture.ask(connection, refresh, naming("a"))).toStrictEqual([refreshed]);
    expect(fixture.ask(connection, refresh, naming("a", "b"))).toStrictEqual([
      "close 3010 insufficient state",
    ]);
  });

  it("[C9] is compared with the same channels after hibernation", () => {
    const fixture = new ManyChannelsFixture();
    const connection = opened(fixture, "a", "b");
    fixture.wake(connection);
    expect(fixture.ask(connection, refresh, naming("a", "b"))).toStrictEqual([refreshed]);
    expect(fixture.ask(connection, refresh, naming("a"))).toStrictEqual([
      "close 3010 insufficient state",
    ]);
  });
});
