import { describe, expect, it } from "vitest";
import { connect, connected, naming } from "../named-subscriptions.ts";
import type { TestConnection } from "../test-connection.ts";
import { ManyChannelsFixture, type ManyChannelsSetup } from "../many-channels-fixture.ts";
import { connectionToken } from "../verified-tokens.ts";

/** With personal channels, in a namespace or in none. */
function personal(more: object = {}, namespaces: readonly object[] = []): ManyChannelsSetup {
  const section = { enabled: true, ...more };
  return { client: { subscribe_to_user_personal_channel: section }, channel: { namespaces } };
}

describe("the personal channel", () => {
  it("[C9] is one of the server's subscriptions", () => {
    const fixture = new ManyChannelsFixture(personal());
    const connection = fixture.open();
    fixture.send(connection, connect, connectionToken("42"));
    fixture.channels.acceptSubscribe("#42");
    expect(connection.takeSent()).toStrictEqual([connected(`{"#42":{}}`)]);
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "#42", serverSide: true }]);
  });

  it("[C9] may be in a namespace, whose options it has", () => {
    const namespaces = [{ name: "me", presence: true }];
    const fixture = new ManyChannelsFixture(
      personal({ personal_channel_namespace: "me" }, namespaces),
    );
    const connection = fixture.open();
    fixture.send(connection, connect, connectionToken("42"));
    fixture.channels.acceptSubscribe("me:#42");
    expect(connection.takeSent()).toStrictEqual([connected(`{"me:#42":{}}`)]);
    expect(connection.saved.subscriptions).toMatchObject([{ present: true }]);
  });

  it("[C9] isn't for clients without a user", () => {
    const fixture = new ManyChannelsFixture(personal());
    expect(fixture.ask(fixture.open(), connect, connectionToken(""))).toStrictEqual([connected()]);
  });

  it("[C9] is one subscription when the token names it as well, as the token has it", () => {
    const fixture = new ManyChannelsFixture(personal());
    const connection = fixture.open();
    const named = { channel: "#42", override: { presence: true } };
    fixture.send(connection, connect, naming(named, "a"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["join #42", "join a"]);
    fixture.channels.acceptSubscribe("#42");
    fixture.channels.acceptSubscribe("a");
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "#42", present: true }, {}]);
  });
});

function open(fixture: ManyChannelsFixture): TestConnection {
  const connection = fixture.open();
  fixture.send(connection, connect, connectionToken("42"));
  return connection;
}

/** The channel announces this connection as the exclusive one. */
function announceExclusive(
  fixture: ManyChannelsFixture,
  client: string,
  ...others: readonly string[]
): void {
  for (const other of [client, ...others]) {
    fixture.channels.subscription("#42", other).replacedBy(client);
  }
}

describe("a single connection of a user", () => {
  const { client, ...rest } = personal({ single_connection: true });
  // Where users have homes, these see to it.
  const single = { ...rest, client: { ...client, users: { enabled: false } } };
  it("[C10] doesn't concern its personal channel where the user has a home", () => {
    const fixture = new ManyChannelsFixture({ ...rest, client: { ...client } });
    const connection = fixture.open();
    fixture.send(connection, connect, connectionToken("42"));
    fixture.channels.acceptSubscribe("#42");
    expect(connection.saved.subscriptions.map(({ sole }) => sole)).toStrictEqual([undefined]);
  });

  const replaced = ["close 3504 connection limit"];

  it("[C10] wants to be the only one on its personal channel, and nowhere else", () => {
    const fixture = new ManyChannelsFixture(single);
    const connection = fixture.open();
    fixture.send(connection, connect, naming("a"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.acceptSubscribe("#42");
    expect(fixture.channels.subscription("#42").exclusive).toBe(true);
    expect(fixture.channels.subscription("a").exclusive).toBe(false);
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "a" }, { sole: true }]);
    expect(connection.saved.subscriptions[0]).not.toHaveProperty("sole");
  });

  it("[C10] isn't wanted where it isn't configured", () => {
    const fixture = new ManyChannelsFixture(personal());
    open(fixture);
    fixture.channels.acceptSubscribe("#42");
    expect(fixture.channels.subscription("#42").exclusive).toBe(false);
  });

  it("[C10] closes the older one with 3504", () => {
    const fixture = new ManyChannelsFixture(single);
    const older = open(fixture);
    fixture.channels.acceptSubscribe("#42");
    announceExclusive(fixture, "c1");
    const newer = open(fixture);
    fixture.channels.acceptSubscribe("#42");
    older.takeSent();
    newer.takeSent();
    announceExclusive(fixture, "c2", "c1");
    expect(older.takeSent()).toStrictEqual(replaced);
    expect(newer.takeSent()).toStrictEqual([]);
    expect(fixture.channels.known).toStrictEqual(["c2 #42"]);
  });

  it("[C10] is the later one when two come at once", () => {
    const fixture = new ManyChannelsFixture(single);
    const [first, second] = [open(fixture), open(fixture)];
    fixture.channels.acceptSubscribe("#42");
    fixture.channels.acceptSubscribe("#42");
    first.takeSent();
    second.takeSent();
    announceExclusive(fixture, "c1", "c2");
    expect([first.takeSent(), second.takeSent()]).toStrictEqual([[], []]);
    announceExclusive(fixture, "c2", "c1");
    expect([first.takeSent(), second.takeSent()]).toStrictEqual([replaced, []]);
  });

  it("[C10] closes one after hibernation, without another announcement", () => {
    const fixture = new ManyChannelsFixture(single);
    const older = open(fixture);
    fixture.channels.acceptSubscribe("#42");
    older.takeSent();
    fixture.wake(older);
    expect(fixture.channels.takeCalls()).toStrictEqual(["restore #42"]);
    fixture.channels.subscription("#42", "c1").replacedBy("c2");
    expect(older.takeSent()).toStrictEqual(replaced);
  });
});
