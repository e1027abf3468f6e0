import { describe, expect, it } from "vitest";
import { type UnsubscribeCode, unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { unidirectionalCodec } from "../../../../src/protocol/json/codec.ts";
import { startMs } from "../../session/channel-fixture.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";
import { naming } from "../../session/named-subscriptions.ts";
import type { TestConnection } from "../../session/test-connection.ts";
import { connectionToken, subscriptionToken } from "../../session/verified-tokens.ts";

const history = { history_size: 5, history_ttl: "1m" };
const cursors = { enabled: true, receipts_channel_prefix: "receipts:" };
const receipts = { name: "receipts", subscription_type: "map_receipts", map: { key_ttl: "1m" } };

/** Sessions with many channels: who may see the receipts of `room` says the option. */
function receiptsOf(option: string, options: object = {}): ManyChannelsFixture {
  return new ManyChannelsFixture({
    options: { ...history, cursors: { ...cursors, receipts: option }, ...options },
    channel: { namespaces: [{ ...receipts, allow_subscribe_for_client: true }] },
  });
}

const watch = (id: number, phase = 2) =>
  `{"id":${id},"subscribe":{"channel":"receipts:room","type":1,"phase":${phase}}}`;
const denied = (id: number, temporary = "") =>
  `{"id":${id},"error":{"code":103,"message":"permission denied"${temporary}}}`;
const later = `,"temporary":true`;
const ended = (channel: string, { code, reason }: UnsubscribeCode = unsubscribeCodes.server) =>
  `{"push":{"channel":"${channel}","unsubscribe":{"code":${code},"reason":"${reason}"}}}`;

/** Lets the client subscribe to the receipts, whose state is empty. */
function watching(fixture: ManyChannelsFixture, connection: TestConnection): TestConnection {
  fixture.send(connection, watch(5));
  const position = { epoch: "e", offset: 0 };
  fixture.channels.answerPage("receipts:room", {
    outcome: "page",
    publications: [],
    cursor: "",
    position,
  });
  fixture.channels.acceptSubscribe("receipts:room", { position });
  expect(connection.takeSent()).toEqual([expect.stringContaining(`{"id":5,"subscribe":`)]);
  return connection;
}

const caps = (...allow: readonly string[]) => ({
  capabilities: JSON.stringify([{ channels: ["room"], match: "", allow }]),
});

describe("a client", () => {
  it("[CU37] may not subscribe to receipts that are for backends, also by a token", () => {
    const fixture = receiptsOf("backend");
    const connection = fixture.subscribed("room");
    expect(fixture.ask(connection, watch(3))).toEqual([denied(3)]);
    const token = subscriptionToken({ channel: "receipts:room" });
    expect(fixture.ask(connection, watch(4), token)).toEqual([denied(4)]);
  });

  it("[CU37] may when it is subscribed, and has a user", () => {
    const fixture = receiptsOf("subscriber", { allow_subscribe_for_anonymous: true });
    expect(fixture.ask(fixture.connected(), watch(3))).toEqual([denied(3, later)]);
    const anonymous = fixture.connected("");
    expect(fixture.ask(anonymous, watch(3))).toEqual([denied(3)]);
    watching(fixture, fixture.subscribed("room"));
  });

  it("[CU37] may when it may publish, by an option or by its token", () => {
    const open = receiptsOf("publisher");
    watching(open, open.connected());
    const closed = receiptsOf("publisher", { allow_publish_for_client: false });
    expect(closed.ask(closed.connected(), watch(3))).toEqual([denied(3)]);
    const subscribers = receiptsOf("publisher", {
      allow_publish_for_client: false,
      allow_publish_for_subscriber: true,
    });
    expect(subscribers.ask(subscribers.connected(), watch(3))).toEqual([denied(3, later)]);
  });

  it("[CU37] has its subscribe wait for the one to the channel, and what follows it, too", () => {
    const fixture = receiptsOf("subscriber");
    const connection = fixture.connected();
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room"}}`);
    fixture.send(connection, watch(3));
    fixture.send(connection, `{"id":4,"unsubscribe":{"channel":"receipts:room"}}`);
    expect(connection.takeSent()).toEqual([]);
    fixture.channels.acceptSubscribe("room");
    fixture.channels.answerPage("receipts:room", {
      outcome: "page",
      publications: [],
      cursor: "",
      position: { epoch: "e", offset: 0 },
    });
    fixture.channels.acceptSubscribe("receipts:room", { position: { epoch: "e", offset: 0 } });
    expect(connection.takeSent().map((line) => line.slice(0, 20))).toEqual([
      `{"id":2,"subscribe":`,
      `{"id":3,"subscribe":`,
      `{"id":4,"unsubscribe`,
    ]);
    expect(connection.session.subscriptions.has("receipts:room")).toBe(false);
  });

  it("[CU41] loses its subscription with the one to the channel, by the same code", () => {
    const fixture = receiptsOf("subscriber");
    const left = watching(fixture, fixture.subscribed("room"));
    expect(fixture.ask(left, `{"id":6,"unsubscribe":{"channel":"room"}}`)).toEqual([
      ended("receipts:room"),
      `{"id":6,"unsubscribe":{}}`,
    ]);
    const behind = watching(fixture, fixture.subscribed("room"));
    behind.session.unsubscribe("room", unsubscribeCodes.insufficientState);
    expect(behind.takeSent()).toEqual([
      ended("room", unsubscribeCodes.insufficientState),
      ended("receipts:room", unsubscribeCodes.insufficientState),
    ]);
    expect(behind.saved.subscriptions).toEqual([]);
  });

  it("[CU41] is refused if its right ends while it reads the receipts", () => {
    const fixture = receiptsOf("subscriber");
    const connection = fixture.subscribed("room");
    fixture.send(connection, watch(5));
    fixture.ask(connection, `{"id":6,"unsubscribe":{"channel":"room"}}`);
    connection.takeSent();
    fixture.channels.answerPage("receipts:room", {
      outcome: "page",
      publications: [],
      cursor: "",
      position: { epoch: "e", offset: 0 },
    });
    expect(connection.takeSent()).toEqual([denied(5)]);
    expect(connection.session.subscriptions.has("receipts:room")).toBe(false);
  });

  it("[CU41] loses its subscription when its token doesn't let it publish any more", () => {
    const fixture = receiptsOf("publisher", { allow_publish_for_client: false });
    const connection = fixture.open();
    fixture.ask(connection, `{"id":1,"connect":{}}`, connectionToken("42", caps("pub", "sub")));
    watching(fixture, connection);
    const refresh = `{"id":6,"refresh":{"token":"t"}}`;
    expect(fixture.ask(connection, refresh, connectionToken("42", caps("pub")))).toEqual([
      `{"id":6,"refresh":{}}`,
    ]);
    expect(fixture.ask(connection, refresh, connectionToken("42", caps("sub")))).toEqual([
      ended("receipts:room"),
      `{"id":6,"refresh":{}}`,
    ]);
  });

  it("[CU41] is refused if its token doesn't let it publish any more when the receipts are read", () => {
    const fixture = receiptsOf("publisher", { allow_publish_for_client: false });
    const connection = fixture.open();
    fixture.ask(connection, `{"id":1,"connect":{}}`, connectionToken("42", caps("pub")));
    fixture.send(connection, watch(5));
    fixture.ask(connection, `{"id":6,"refresh":{"token":"t"}}`, connectionToken("42"));
    const position = { epoch: "e", offset: 0 };
    const page = { outcome: "page", publications: [], cursor: "", position } as const;
    fixture.channels.answerPage("receipts:room", page);
    expect(connection.takeSent()).toEqual([denied(5)]);
  });

  it("[CU41] that is unidirectional isn't given receipts that it names, unless its token does", () => {
    const fixture = receiptsOf("publisher");
    for (const [token, channels] of [
      [connectionToken("42"), []],
      [naming("receipts:room"), ["receipts:room"]],
    ] as const) {
      const connection = fixture.open({ codec: "one_way" });
      const { commands } = unidirectionalCodec.decodeFrame(`{"subs":{"receipts:room":{}}}`);
      for (const command of commands) connection.session.receive(command, token, startMs);
      const found = connection.session.subscriptions.all.map(({ channel }) => channel);
      expect(found).toEqual(channels);
    }
  });
});
