import { describe, expect, it } from "vitest";
import type { Refusal } from "../../../../src/access/refusal.ts";
import { ChannelFixture, type ChannelFixtureSetup } from "../channel-fixture.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import type { TestConnection } from "../test-connection.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";

/** What a session keeps of the claim `caps` that allows this on the channel `room`. */
function caps(...allow: readonly string[]): { readonly capabilities: string } {
  return { capabilities: JSON.stringify([{ channels: ["room", "$room"], match: "", allow }]) };
}

const connect = `{"id":1,"connect":{}}`;
const subscribe = `{"id":2,"subscribe":{"channel":"room"}}`;
const refresh = `{"id":3,"refresh":{"token":"t"}}`;
const denied = (id: number) => `{"id":${id},"error":{"code":103,"message":"permission denied"}}`;

/** A connected client whose token has these capabilities; its frames so far are dropped. */
function capable(
  setup: ChannelFixtureSetup,
  ...allow: readonly string[]
): { readonly fixture: ChannelFixture; readonly connection: TestConnection } {
  const fixture = new ChannelFixture(setup);
  const connection = fixture.open();
  fixture.ask(connection, connect, connectionToken("42", caps(...allow)));
  return { fixture, connection };
}

/** The reasons why a client with these capabilities is refused. */
function reasons(setup: ChannelFixtureSetup, command: string, ...allow: readonly string[]) {
  const said: Refusal[] = [];
  const { fixture, connection } = capable(setup, ...allow);
  Object.assign(connection.session.context, { refused: (one: Refusal) => said.push(one) });
  fixture.ask(connection, command);
  return said.map(({ reason }) => reason);
}

describe("a client with capabilities", () => {
  it("[A16] does what they allow and the namespace doesn't, and nothing else, also after hibernation", () => {
    const options = { presence: true, history_size: 5, history_ttl: "1m" };
    const commands = {
      pub: `{"id":4,"publish":{"channel":"room","data":1}}`,
      prs: `{"id":4,"presence_stats":{"channel":"room"}}`,
      hst: `{"id":4,"history":{"channel":"room"}}`,
    };
    for (const [capability, command] of Object.entries(commands)) {
      const { fixture, connection } = capable({ options }, capability);
      for (const step of [() => undefined, () => fixture.hibernate()]) {
        step();
        expect(fixture.ask(connection, command)[0]).not.toContain("error");
        for (const other of Object.values(commands).filter((one) => one !== command))
          expect(fixture.ask(connection, other)).toStrictEqual([denied(4)]);
        expect(fixture.ask(connection, subscribe)).toStrictEqual([denied(2)]);
      }
    }
  });

  it("[A16] may have a position and recover with hst, and hear joins with prs", () => {
    const options = {
      presence: true,
      join_leave: true,
      history_size: 5,
      history_ttl: "1m",
      allow_subscribe_for_client: true,
    };
    const wish = `{"id":2,"subscribe":{"channel":"room","recoverable":true,"join_leave":true}}`;
    const plain = capable({ options }, "pub");
    expect(plain.fixture.ask(plain.connection, wish)).toStrictEqual([`{"id":2,"subscribe":{}}`]);
    const { fixture, connection } = capable({ options }, "hst", "prs");
    const [reply, ...joins] = fixture.ask(connection, wish);
    expect(reply).toContain(`"recoverable":true,"epoch":"epoch1","positioned":true`);
    expect(joins).toStrictEqual([
      `{"push":{"channel":"room","join":{"info":{"user":"42","client":"c1"}}}}`,
    ]);
  });

  it("[A16] isn't told of a presence or a history that is off", () => {
    const { fixture, connection } = capable({}, "sub", "pub", "prs", "hst");
    for (const method of ["presence", "presence_stats", "history"]) {
      const command = `{"id":4,"${method}":{"channel":"room"}}`;
      expect(fixture.ask(connection, command)[0]).toContain(`"code":108`);
    }
  });

  it("[A16] [A5] opens no private channel, and publishes to one as a subscriber only if the namespace says so", () => {
    const publish = `{"id":4,"publish":{"channel":"$room","data":1}}`;
    const limited = { limited_channels_for_subscribers_only: true };
    const name = "$room";
    const { fixture, connection } = capable({ name, options: limited }, "sub", "pub");
    const join = `{"id":2,"subscribe":{"channel":"$room"}}`;
    expect(fixture.ask(connection, join)).toStrictEqual([denied(2)]);
    expect(fixture.ask(connection, publish)).toStrictEqual([denied(4)]);
    fixture.ask(connection, join, subscriptionToken({ channel: "$room" }));
    expect(fixture.ask(connection, publish).at(-1)).toBe(`{"id":4,"publish":{}}`);
    const open = capable({ name }, "pub");
    expect(open.fixture.ask(open.connection, publish)).toStrictEqual([`{"id":4,"publish":{}}`]);
  });
});

describe("a refresh of a client with capabilities", () => {
  const gone = `{"push":{"channel":"room","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;

  it("[A34] replaces them, and ends the subscription that only they allowed", () => {
    for (const hibernates of [false, true]) {
      const { fixture, connection } = capable({}, "sub", "pub");
      expect(fixture.ask(connection, subscribe)).toStrictEqual([`{"id":2,"subscribe":{}}`]);
      if (hibernates) fixture.hibernate();
      const other = connectionToken("42", caps("sub"));
      expect(fixture.ask(connection, refresh, other)).toStrictEqual([`{"id":3,"refresh":{}}`]);
      if (hibernates) fixture.hibernate();
      const publish = `{"id":4,"publish":{"channel":"room","data":1}}`;
      expect(fixture.ask(connection, publish)).toStrictEqual([denied(4)]);
      fixture.publish("7");
      expect(connection.takeSent()).toStrictEqual([`{"push":{"channel":"room","pub":{"data":7}}}`]);
      expect(fixture.ask(connection, refresh, connectionToken("42"))).toStrictEqual([
        gone,
        `{"id":3,"refresh":{}}`,
      ]);
      expect(connection.saved.subscriptions).toStrictEqual([]);
      fixture.publish("8");
      expect(connection.takeSent()).toStrictEqual([]);
      expect(fixture.ask(connection, subscribe)).toStrictEqual([denied(2)]);
    }
  });

  it("[A34] leaves a subscription that the namespace or a subscription token allowed", () => {
    const open = capable({ options: { allow_subscribe_for_client: true } }, "sub");
    open.fixture.ask(open.connection, subscribe);
    expect(open.fixture.ask(open.connection, refresh, connectionToken("42"))).toStrictEqual([
      `{"id":3,"refresh":{}}`,
    ]);
    const { fixture, connection } = capable({}, "sub");
    fixture.ask(connection, subscribe, subscriptionToken());
    expect(fixture.ask(connection, refresh, connectionToken("42"))).toStrictEqual([
      `{"id":3,"refresh":{}}`,
    ]);
    expect(connection.saved.subscriptions).toHaveLength(1);
  });

  it("[A34] refuses a subscribe that waits for the channel's object meanwhile", () => {
    const fixture = new ManyChannelsFixture({ options: { allow_subscribe_for_client: false } });
    const connection = fixture.open();
    fixture.ask(connection, connect, connectionToken("42", caps("sub")));
    expect(fixture.ask(connection, subscribe)).toStrictEqual([]);
    fixture.ask(connection, refresh, connectionToken("42"));
    fixture.channels.acceptSubscribe("room");
    expect(connection.takeSent()).toStrictEqual([denied(2)]);
  });
});

describe("the log of a refusal", () => {
  it("[A16] [A13] names the capability that is missing", () => {
    const without = "channel.without_namespace";
    expect(reasons({}, subscribe, "pub")).toStrictEqual([
      `${without}: allow_subscribe_for_client is off and there is no token, and the caps of its token don't allow sub`,
    ]);
    const options = { presence: true, history_size: 5, history_ttl: "1m" };
    for (const [command, word, capability] of [
      [`"publish":{"channel":"room","data":1}`, "publish", "pub"],
      [`"presence_stats":{"channel":"room"}`, "presence", "prs"],
      [`"history":{"channel":"room"}`, "history", "hst"],
    ] as const) {
      expect(reasons({ options }, `{"id":4,${command}}`, "sub")).toStrictEqual([
        `${without}: no allow_${word}_for_… option lets this client, and the caps of its token don't allow ${capability}`,
      ]);
    }
    const limited = { name: "$room", options: { limited_channels_for_subscribers_only: true } };
    const publish = `{"id":4,"publish":{"channel":"$room","data":1}}`;
    expect(reasons(limited, publish, "pub")).toStrictEqual([
      `${without}: no allow_publish_for_… option lets this client, and the caps of its token count for subscribers only`,
    ]);
  });
});
