import { expect, it } from "vitest";
import { subscribe } from "../../session/frames.ts";
import { HeldFixture } from "../../session/held-fixture.ts";
import { ask, at, newFixture } from "../maps/map-fixture.ts";
import { eventsOf, openedOutbox, typesIn } from "./session-events-fixture.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";
import type { TestConnection } from "../../session/test-connection.ts";
import { connectionToken } from "../../session/verified-tokens.ts";

const connect = `{"id":1,"connect":{}}`;

// What is sent after a row was written waits until the row is durable; what was sent before may reach a client although a
// crash undoes the row.

/** The newest event in the outbox at the time of each message to the client. */
function written(connection: TestConnection, newest: () => string | undefined): string[] {
  const events: string[] = [];
  connection.sending = () => events.push(newest() ?? "nothing");
  return events;
}

it("[E1] [E14] rows of events are written before the client is told", () => {
  const outbox = openedOutbox();
  const fixture = new ManyChannelsFixture(eventsOf(outbox));
  const connection = fixture.open();
  const events = written(connection, () => typesIn(outbox).at(-1));
  fixture.send(connection, connect, connectionToken("42"));
  fixture.send(connection, subscribe(2, "news"));
  fixture.channels.acceptSubscribe("news");
  expect(events).toStrictEqual(["connected", "subscribed news"]);
});

it("[E1] [E14] so are those of a session whose user's home is asked", () => {
  const outbox = openedOutbox();
  const fixture = new HeldFixture(eventsOf(outbox));
  const connection = fixture.open();
  const events = written(connection, () => typesIn(outbox).at(-1));
  fixture.send(connection, [connect, subscribe(2, "news")].join("\n"), connectionToken("42"));
  fixture.channels.acceptSubscribe("news");
  expect(events).toStrictEqual([]);
  fixture.home.answer(0);
  expect(events).toStrictEqual(["subscribed news", "subscribed news"]);
});

it("[E1] [E14] so are those of a subscription that a backend orders", () => {
  const outbox = openedOutbox();
  const fixture = new HeldFixture(eventsOf(outbox));
  const connection = fixture.admitted("42");
  const events = written(connection, () => typesIn(outbox).at(-1));
  const subscription = { channel: "news", override: {} };
  const order = { method: "subscribe", subscription, expireAtSeconds: 0 } as const;
  fixture.carryOut("42", [{ number: 1, order }], connection);
  fixture.channels.acceptSubscribe("news");
  expect(events).toStrictEqual(["subscribed news"]);
});

it("[E1] [E14] so are those of a subscription to a map", () => {
  const outbox = openedOutbox();
  const fixture = newFixture(eventsOf(outbox));
  const connection = fixture.connected();
  const events = written(connection, () => typesIn(outbox).at(-1));
  fixture.send(connection, ask(2, "kept:a"));
  const page = { publications: [], cursor: "", position: at(0) };
  fixture.channels.answerPage("kept:a", { outcome: "page", ...page });
  fixture.channels.acceptSubscribe("kept:a", { position: at(0), recovered: true });
  expect(events).toStrictEqual(["subscribed kept:a"]);
});
