import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Coverage, ReadonlyUserProofs } from "../../../../src/features/cursors/coverage.ts";
import {
  type KnownHere,
  type NotingObject,
  positionOf,
  SubscriberNotes,
} from "../../../../src/features/cursors/subscriber-notes.ts";
import type { Session } from "../../../../src/session/session.ts";
import { cursorLimits } from "../../../../src/features/cursors/limits.ts";
import type { ObjectPart } from "../../../../src/object/part.ts";
import { publishing } from "../../../contract/open-channel.ts";
import {
  ChannelFixture,
  type ChannelFixtureSetup,
  startMs,
} from "../../session/channel-fixture.ts";
import type { TestConnection } from "../../session/test-connection.ts";
import { connectionToken } from "../../session/verified-tokens.ts";

const intervalMs = 25_000;

/** A channel's object, whose subscriptions are noted. */
class NotedFixture extends ChannelFixture {
  protected override newParts(): readonly ObjectPart[] {
    const object: NotingObject = {
      nowMs: () => this.nowMs,
      isNoted: () => true,
      sent: () =>
        positionOf(this.channel.top, this.channel.hub.firstWaitingOffset, "from its beginning"),
    };
    return [new SubscriberNotes(object)];
  }

  get notes(): SubscriberNotes {
    const [notes] = this.parts;
    if (!(notes instanceof SubscriberNotes)) throw new Error("there are no notes");
    return notes;
  }

  /** What the users' connections prove. */
  get proven(): ReadonlyUserProofs {
    const sessions = this.connections.map(({ session }) => session);
    return this.gathered(sessions).proofs;
  }

  /** What these sessions are found to prove, and how many turns that takes. */
  gathered(sessions: readonly Session[]) {
    const turns: (() => void)[] = [];
    let found: KnownHere | undefined;
    const asked = { channel: "room", users: "all", upTo: undefined } as const;
    const object = {
      sockets: {
        *sessions() {
          yield* sessions;
        },
      },
      later: (_: number, work: () => void) => void turns.push(work),
    };
    this.notes.gather(asked, object, (known) => {
      found = known;
    });
    let count = 1;
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      turn();
      count++;
    }
    return { proofs: found?.proofs ?? new Map<string, readonly Coverage[]>(), turns: count };
  }

  /** The same for the only user, without the epoch. */
  get proof(): object | undefined {
    const [{ epoch: _, ...proof } = {}] = this.proven.get("42") ?? [];
    return Object.keys(proof).length === 0 ? undefined : proof;
  }
}

/** As the object is between two steps. */
const states = [
  ["awake", (): void => undefined],
  ["hibernating", (fixture: NotedFixture): void => fixture.hibernate()],
] as const;

const history = { history_size: 100, history_ttl: "24h", force_recovery: true };

function open(setup: ChannelFixtureSetup = {}): NotedFixture {
  return new NotedFixture({ options: { allow_subscribe_for_client: true, ...history }, ...setup });
}

/** The platform answers the client. */
function answer(fixture: NotedFixture, connection: TestConnection, afterMs = 10): void {
  fixture.nowMs += afterMs;
  connection.autoResponseMs = fixture.nowMs;
}

describe.each(states)("what an object that is %s between the steps knows", (_, rest) => {
  it("[CU12] [CU13] an answer proves what was handed to the socket before the ping", () => {
    const fixture = open();
    fixture.publish("1");
    const connection = fixture.subscribed();
    fixture.publish("2");
    rest(fixture);
    fixture.pass(intervalMs);
    rest(fixture);
    fixture.publish("3");
    expect(fixture.proof).toBeUndefined();
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proof).toStrictEqual({
      since: 1,
      offset: 2,
      by: "ping",
      atMs: startMs + intervalMs + 10,
    });
    fixture.pass(intervalMs);
    rest(fixture);
    expect(fixture.proof).toMatchObject({ since: 1, offset: 2 });
    answer(fixture, connection);
    expect(fixture.proof).toMatchObject({ since: 1, offset: 3 });
  });

  it("[CU12] a pong that reaches the object, as those of binary formats do, proves the same", () => {
    const fixture = open();
    const connection = fixture.subscribed();
    fixture.publish("1");
    fixture.pass(intervalMs);
    rest(fixture);
    expect(fixture.proof).toBeUndefined();
    fixture.nowMs += 10;
    fixture.send(connection, "{}");
    rest(fixture);
    expect(fixture.proof).toStrictEqual({
      since: 0,
      offset: 1,
      by: "ping",
      atMs: startMs + intervalMs + 10,
    });
  });

  it("[CU12] a subscription that began after the ping isn't proved by the answer", () => {
    const fixture = open();
    const connection = fixture.connected();
    fixture.pass(intervalMs);
    rest(fixture);
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room"}}`);
    fixture.publish("1");
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proof).toBeUndefined();
  });

  it("[CU12] a ping that isn't answered proves nothing, and neither does the end after it", () => {
    const fixture = open();
    const connection = fixture.subscribed();
    fixture.publish("1");
    fixture.pass(intervalMs);
    rest(fixture);
    const [subscription] = connection.session.subscriptions.all;
    fixture.pass(intervalMs);
    expect(connection.takeSent().join(" ")).toContain("3012");
    if (subscription === undefined) throw new Error("nothing is subscribed");
    expect(fixture.notes.proofOf(subscription)).toBeUndefined();
  });

  it("[CU12] what waits in the hub when the ping is sent isn't proved by the answer", () => {
    const fixture = open();
    const connection = fixture.subscribed();
    fixture.publish("1");
    // Its commit is under way, for example: it is collected, and no frame has begun.
    fixture.channel.publish(publishing("2"), undefined, fixture.nowMs);
    expect(fixture.channel.hub.collecting).toBe(true);
    fixture.nowMs += intervalMs;
    connection.session.tick(true, fixture.nowMs);
    fixture.channel.hub.begin();
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proof).toMatchObject({ since: 0, offset: 1 });
  });

  it("[CU12] a stream that begins later is known from its beginning", () => {
    const { force_recovery: __, ...unpositioned } = history;
    const options = { allow_subscribe_for_client: true, ...unpositioned };
    const fixture = open({ options });
    const connection = fixture.subscribed();
    rest(fixture);
    expect(fixture.channel.top).toBeUndefined();
    fixture.publish("1");
    fixture.pass(intervalMs);
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proof).toMatchObject({ since: 0, offset: 1 });
  });

  it("[CU12] [CU16] a client that recovers goes on from there, and is sent the rest", () => {
    const fixture = open();
    for (const data of ["1", "2", "3"]) fixture.publish(data);
    const { epoch = "" } = fixture.channel.top ?? {};
    const since = `"recover":true,"offset":2,"epoch":"${epoch}"`;
    const connection = fixture.subscribed("42", `{"channel":"room",${since}}`);
    rest(fixture);
    const recovered = { since: 2, offset: 2, by: "recovery", atMs: startMs };
    expect(fixture.proof).toStrictEqual(recovered);
    fixture.pass(intervalMs);
    rest(fixture);
    expect(fixture.proof).toStrictEqual(recovered);
    answer(fixture, connection);
    expect(fixture.proof).toMatchObject({ since: 2, offset: 3, by: "ping" });
  });

  it("[CU12] a client that can't recover begins where the channel is", () => {
    const fixture = open();
    fixture.publish("1");
    fixture.publish("2");
    const connection = fixture.subscribed(
      "42",
      `{"channel":"room","recover":true,"offset":1,"epoch":"other"}`,
    );
    fixture.publish("3");
    rest(fixture);
    expect(fixture.proof).toBeUndefined();
    fixture.pass(intervalMs);
    answer(fixture, connection);
    expect(fixture.proof).toMatchObject({ since: 2, offset: 3 });
  });

  it("[CU12] in cache mode only the newest publication comes with the reply", () => {
    const options = { allow_subscribe_for_client: true, ...history, force_recovery_mode: "cache" };
    const fixture = open({ options });
    for (const data of ["1", "2", "3"]) fixture.publish(data);
    const { epoch = "" } = fixture.channel.top ?? {};
    const request = `{"channel":"room","recover":true,"offset":1,"epoch":"${epoch}"}`;
    const connection = fixture.subscribed("42", request);
    fixture.pass(intervalMs);
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proof).toMatchObject({ since: 2, offset: 3, by: "ping" });
  });

  it("[CU12] clients that aren't asked for pongs, and those that ping, prove nothing by time", () => {
    for (const more of [{ keepalive: "client" }, { noPongs: true }] as const) {
      const fixture = open({ client: { pong: "never" } });
      const connection = fixture.connected("42", more);
      fixture.send(connection, `{"id":2,"subscribe":{"channel":"room"}}`);
      fixture.publish("1");
      for (let count = 0; count < 3; count++) {
        fixture.pass(intervalMs);
        answer(fixture, connection);
        rest(fixture);
        expect(fixture.proof).toBeUndefined();
      }
    }
  });

  it("[CU12] [CU16] a unidirectional client proves only from where it goes on", () => {
    const fixture = open();
    for (const data of ["1", "2", "3"]) fixture.publish(data);
    const { epoch = "" } = fixture.channel.top ?? {};
    const connection = fixture.open({ codec: "one_way" });
    const subs = `{"room":{"recover":true,"offset":2,"epoch":"${epoch}"}}`;
    fixture.send(connection, `{"id":1,"connect":{"subs":${subs}}}`, connectionToken("42"));
    rest(fixture);
    for (let count = 0; count < 2; count++) {
      fixture.pass(intervalMs);
      answer(fixture, connection);
      rest(fixture);
      expect(fixture.proof).toMatchObject({ since: 2, offset: 2, by: "recovery" });
    }
  });

  it("[CU12] on a stream a pong proves what was sent before the pong before it", () => {
    const fixture = open();
    const stream = { keepalive: "client", awaitingPong: true, secret: "s".repeat(64) } as const;
    const connection = fixture.connected("42", stream);
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room"}}`);
    /** The edge pings, and the client posts its answer. */
    const pong = (): void => {
      answer(fixture, connection);
      fixture.nowMs += 10;
      fixture.send(connection, "{}");
      rest(fixture);
    };
    fixture.publish("1");
    pong();
    fixture.publish("2");
    expect(fixture.proof).toBeUndefined();
    // The same pong once more, without a ping.
    fixture.nowMs += 10;
    fixture.send(connection, "{}");
    expect(fixture.proof).toBeUndefined();
    pong();
    const { nowMs: atMs } = fixture;
    fixture.publish("3");
    expect(fixture.proof).toStrictEqual({ since: 0, offset: 2, by: "ping", atMs });
  });

  it("[CU12] an answer of before isn't taken for one to the ping after the clock was set back", () => {
    const fixture = open();
    const connection = fixture.subscribed();
    fixture.pass(intervalMs);
    answer(fixture, connection, 35_000);
    fixture.publish("1");
    connection.takeSent();
    // The next ping seems earlier than the last answer.
    fixture.nowMs -= 11_000;
    fixture.pass(1_000);
    expect(connection.takeSent()).toStrictEqual(["{}"]);
    rest(fixture);
    fixture.nowMs += 12_000;
    expect(fixture.proof).toBeUndefined();
  });

  it("[CU12] anonymous clients aren't noted", () => {
    const options = {
      allow_subscribe_for_client: true,
      allow_subscribe_for_anonymous: true,
      ...history,
    };
    const fixture = open({ options });
    const connection = fixture.subscribed("");
    fixture.publish("1");
    fixture.pass(intervalMs);
    answer(fixture, connection);
    rest(fixture);
    expect(fixture.proven.size).toBe(0);
    expect(connection.attachment.noted).toBeUndefined();
  });
});

describe("the connections of an object", () => {
  const { censusSliceSessions } = cursorLimits;
  beforeEach(() => void Object.assign(cursorLimits, { censusSliceSessions: 2 }));
  afterEach(() => void Object.assign(cursorLimits, { censusSliceSessions }));

  it("[CU15] are looked at in slices, each once", () => {
    const fixture = open();
    fixture.publish("1");
    const users = ["ann", "bob", "eve", "joe", "sue"];
    const connections = users.map((user) => fixture.subscribed(user));
    fixture.publish("2");
    fixture.pass(intervalMs);
    for (const connection of connections) answer(fixture, connection);
    const sessions = connections.map(({ session }) => session);
    const { proofs, turns } = fixture.gathered(sessions);
    expect(turns).toBe(3);
    expect([...proofs.keys()]).toStrictEqual(users);
    expect(fixture.gathered(sessions.slice(0, 2)).turns).toBe(1);
  });
});
