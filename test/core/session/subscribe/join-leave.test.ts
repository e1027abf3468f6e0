import { describe, expect, it } from "vitest";
import { json } from "../../api/channel-config.ts";
import type { TestConnection } from "../test-connection.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";

const emitting = { allow_subscribe_for_client: true, join_leave: true };
const forced = { ...emitting, force_push_join_leave: true };
const subscribe = `{"id":2,"subscribe":{"channel":"room"}}`;

function subscribeAs(user: string, client: string): string {
  return `{"push":{"channel":"room","join":{"info":{"user":"${user}","client":"${client}"}}}}`;
}

function leave(user: string, client: string): string {
  return `{"push":{"channel":"room","leave":{"info":{"user":"${user}","client":"${client}"}}}}`;
}

describe("a join", () => {
  it("[O5] of one's own comes after the subscribe reply", () => {
    const fixture = new ChannelFixture({ options: forced });
    expect(fixture.ask(fixture.connected(), subscribe)).toStrictEqual([
      `{"id":2,"subscribe":{}}`,
      subscribeAs("42", "c1"),
    ]);
  });

  it("[P2] shows what both tokens say of the client", () => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    const connection = fixture.open();
    const connInfo = json("[1.0]");
    fixture.send(connection, `{"id":1,"connect":{}}`, connectionToken("42", { info: connInfo }));
    fixture.send(
      connection,
      `{"id":2,"subscribe":{"channel":"room","token":"t"}}`,
      subscriptionToken({ info: json(`{"a":"b"}`) }),
    );
    const info = `{"user":"42","client":"c2","conn_info":[1.0],"chan_info":{"a":"b"}}`;
    expect(observer.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","join":{"info":${info}}}}`,
    ]);
    fixture.end(connection);
    expect(observer.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","leave":{"info":${info}}}}`,
    ]);
  });

  it("[O5] isn't sent for a refused client", () => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    fixture.send(fixture.connected(""), subscribe);
    expect(observer.takeSent()).toStrictEqual([]);
  });
});

describe("who is told of joins and leaves", () => {
  const asks = `{"channel":"room","join_leave":true}`;

  it.each([
    [
      "not where the namespace doesn't emit them",
      { allow_subscribe_for_client: true },
      asks,
      false,
    ],
    ["not without asking", emitting, `{"channel":"room"}`, false],
    ["not by asking without leave to see presence", emitting, asks, false],
    ["by asking with it", { ...emitting, allow_presence_for_client: true }, asks, true],
    ["by asking, a subscriber", { ...emitting, allow_presence_for_subscriber: true }, asks, true],
    [
      "not by leave alone",
      { ...emitting, allow_presence_for_client: true },
      `{"channel":"room"}`,
      false,
    ],
    ["by force", forced, `{"channel":"room"}`, true],
  ])("[P2] %s", (_, options, request, received) => {
    const fixture = new ChannelFixture({ options });
    const observer = fixture.subscribed("7", request);
    const connection = fixture.subscribed("42");
    fixture.send(connection, `{"id":3,"unsubscribe":{"channel":"room"}}`);
    fixture.send(connection, `{"id":4,"subscribe":{"channel":"room"}}`);
    expect(observer.takeSent()).toStrictEqual(
      received ? [leave("42", "c2"), subscribeAs("42", "c2")] : [],
    );
  });

  it("[P2] isn't sent for a client whose token forbids the announcement", () => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    const hidden = subscriptionToken({ override: { joinLeave: false } });
    const connection = fixture.connected();
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room","token":"t"}}`, hidden);
    fixture.end(connection);
    expect(observer.takeSent()).toStrictEqual([]);
  });
});

/** Every way to leave a channel, and the frames for the leaving client. */
const waysOut: readonly (readonly [
  string,
  (fixture: ChannelFixture, connection: TestConnection) => void,
  readonly string[],
])[] = [
  [
    "it unsubscribes",
    (fixture, connection) => fixture.send(connection, `{"id":3,"unsubscribe":{"channel":"room"}}`),
    [`{"id":3,"unsubscribe":{}}`],
  ],
  ["its socket ends", (fixture, connection) => fixture.end(connection), []],
  [
    "it breaks the protocol",
    (fixture, connection) =>
      fixture.send(connection, `{"id":3,"connect":{}}`, connectionToken("42")),
    ["close 3501 bad request"],
  ],
  [
    "it refreshes with somebody else's token",
    (fixture, connection) =>
      fixture.send(connection, `{"id":3,"refresh":{"token":"t"}}`, connectionToken("43")),
    ["close 3500 invalid token"],
  ],
  [
    "it reads too slowly",
    (fixture, connection) => {
      connection.backlog = 2_000_000;
      fixture.publish("1");
    },
    ["close 3008 slow"],
  ],
  [
    "it doesn't answer pings",
    (fixture, connection) => {
      fixture.pass(25_000);
      for (const other of fixture.connections) if (other !== connection) fixture.send(other, "{}");
      fixture.pass(25_000);
    },
    ["{}", "close 3012 no pong"],
  ],
];

describe("a leave", () => {
  it.each(waysOut)("[O5] reaches the others, once, when %s", (_, goes, received) => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    const connection = fixture.subscribed("42");
    goes(fixture, connection);
    fixture.end(connection);
    fixture.end(connection);
    expect(connection.takeSent()).toStrictEqual(received);
    fixture.channel.hub.begin();
    const lines = observer.takeSent().flatMap((frame) => frame.split("\n"));
    const pushes = lines.filter((line) => line.includes(`"leave"`));
    expect(pushes).toStrictEqual([leave("42", "c2")]);
    expect(fixture.channel.hub.size).toBe(1);
  });

  it.each(waysOut)("[S2] is sent once across hibernation too, when %s", (_, goes) => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    const connection = fixture.subscribed("42");
    fixture.hibernate();
    goes(fixture, connection);
    fixture.hibernate();
    fixture.end(connection);
    fixture.hibernate();
    fixture.channel.hub.begin();
    const lines = observer.takeSent().flatMap((frame) => frame.split("\n"));
    const pushes = lines.filter((line) => line.includes(`"leave"`));
    expect(pushes).toStrictEqual([leave("42", "c2")]);
  });

  it("[O5] of several slow readers at once is sent for each, once, to the others", () => {
    const fixture = new ChannelFixture({ options: forced });
    const observer = fixture.subscribed("7");
    const slow = [fixture.subscribed("1"), fixture.subscribed("2"), fixture.subscribed("3")];
    for (const connection of slow) {
      connection.takeSent();
      connection.backlog = 2_000_000;
    }
    fixture.dropSent();
    fixture.publish("1");
    fixture.channel.hub.begin();
    const lines = observer.takeSent().flatMap((frame) => frame.split("\n"));
    const pushes = lines.filter((line) => line.includes(`"leave"`));
    expect(pushes.toSorted()).toStrictEqual([leave("1", "c2"), leave("2", "c3"), leave("3", "c4")]);
    for (const connection of slow) expect(connection.takeSent()).toStrictEqual(["close 3008 slow"]);
    expect(fixture.channel.hub.size).toBe(1);
  });
});
