import { describe, expect, it } from "vitest";
import { parseAttachment } from "../../../src/contract/attachment.ts";
import { ChannelFixture, startMs } from "../session/channel-fixture.ts";
import type { TestConnection } from "../session/test-connection.ts";

describe("a snapshot of another release", () => {
  const options = {
    allow_subscribe_for_client: true,
    presence: true,
    join_leave: true,
    force_push_join_leave: true,
    allow_presence_for_client: true,
    allow_presence_for_anonymous: true,
  };
  /** The attachment that release 1 writes for a connected and subscribed session, without any optional field. */
  const bare = {
    v: 1,
    phase: "connected",
    client: "c1",
    openedAtMs: startMs,
    keepalive: "server",
    subscription: {
      channel: "room",
      expireAtSeconds: 0,
      present: true,
      announced: true,
      hearsJoinLeave: true,
    },
  };

  function wake(attachment: unknown): { fixture: ChannelFixture; connection: TestConnection } {
    const snapshot = parseAttachment(attachment);
    if (snapshot === undefined) throw new Error("not understood");
    const fixture = new ChannelFixture({ options });
    return { fixture, connection: fixture.open(snapshot) };
  }

  it("[V1] may have fields that this one doesn't know, which are kept for the release that does", () => {
    const { fixture, connection } = wake({
      ...bare,
      weather: { wind: 7 },
      claims: { user: "42", expireAtSeconds: 0, labels: ["a"] },
      subscription: { ...bare.subscription, mood: "x" },
    });
    expect(fixture.ask(connection, `{"id":3,"presence":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c1":{"user":"42","client":"c1"}}}}`,
    ]);
    fixture.pass(25_000);
    expect(connection.takeSent()).toStrictEqual(["{}"]);
    expect(connection.attachment).toMatchObject({
      v: 1,
      awaitingPong: true,
      weather: { wind: 7 },
      claims: { labels: ["a"] },
      subscription: { mood: "x" },
    });
  });

  it("[V1] without claims has no user and doesn't end", () => {
    const { fixture, connection } = wake(bare);
    expect(fixture.ask(connection, `{"id":3,"presence":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c1":{"user":"","client":"c1"}}}}`,
    ]);
    expect(connection.session.dueAtMs(startMs)).toBe(startMs + 25_000);
  });

  it("[V1] without a last ping is due an interval after the socket opened", () => {
    const { fixture, connection } = wake({ ...bare, claims: { user: "42", expireAtSeconds: 0 } });
    fixture.pass(24_999);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["{}"]);
  });

  it("[V1] that awaits no pong closes on one", () => {
    const { fixture, connection } = wake({ ...bare, pingedAtMs: startMs });
    expect(fixture.ask(connection, "{}")).toStrictEqual(["close 3501 bad request"]);
  });

  it("[V1] without a subscription isn't subscribed", () => {
    const { subscription: _, ...unsubscribed } = bare;
    const { fixture, connection } = wake(unsubscribed);
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[S4] that is closed isn't subscribed, whatever it says of a subscription", () => {
    const { fixture, connection } = wake({ ...bare, phase: "closed" });
    fixture.publish("1");
    fixture.end(connection);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
  });
});
