import { describe, expect, it } from "vitest";
import { type Heartbeat, heartbeat, pingDueAtMs } from "../../../../src/session/liveness.ts";
import { limits } from "../../../../src/limits.ts";
import type { SessionIdentity } from "../../../../src/contract/session-snapshot.ts";
import { ChannelFixture, startMs } from "../channel-fixture.ts";

const session: SessionIdentity = {
  phase: "connected",
  client: "c1",
  openedAtMs: startMs,
  keepalive: "server",
};
const pinged: Partial<SessionIdentity> = { pingedAtMs: startMs, awaitingPong: true };
const answered: Partial<SessionIdentity> = { pingedAtMs: startMs, awaitingPong: false };

describe("a session with server-driven keep-alive", () => {
  it.each<[string, Partial<SessionIdentity>, number, boolean, number, Heartbeat]>([
    ["before the first ping is due", {}, 25_000, false, 24_999, "nothing"],
    ["when the first ping is due", {}, 25_000, true, 25_000, "ping"],
    ["when another's is due, past half the interval", {}, 25_000, true, 12_500, "ping"],
    ["when another's is due, within half the interval", {}, 25_000, true, 12_499, "nothing"],
    ["when its ping was answered and the next is due", answered, 25_000, true, 25_000, "ping"],
    ["when its ping was answered and another's is due", answered, 25_000, true, 13_000, "ping"],
    ["when nobody is due, however late it is", answered, 25_000, false, 99_000, "nothing"],
    ["when its ping wasn't answered by the next", pinged, 25_000, true, 25_000, "no-pong"],
    ["when its ping wasn't answered by another's", pinged, 25_000, true, 12_500, "no-pong"],
    ["when its ping may be answered yet", pinged, 25_000, true, 12_499, "nothing"],
    ["when nobody is due, though it wasn't answered", pinged, 25_000, false, 25_000, "nothing"],
    ["8 s not being over yet", pinged, 10_000, true, 7_999, "nothing"],
    ["8 s being over", pinged, 10_000, true, 8_000, "no-pong"],
    ["an interval under 8 s not being over yet", pinged, 3_000, true, 2_999, "nothing"],
    ["an interval under 8 s being over", pinged, 3_000, true, 3_000, "no-pong"],
    ["before it connected", { phase: "new" }, 25_000, true, 25_000, "nothing"],
    ["after it was refused", { phase: "refused" }, 25_000, true, 25_000, "nothing"],
    ["after it was closed", { ...pinged, phase: "closed" }, 25_000, true, 25_000, "nothing"],
  ])("[K2] %s", (_, more, intervalMs, tick, afterMs, expected) => {
    const outcome = heartbeat(
      { ...session, ...more },
      intervalMs,
      tick,
      undefined,
      startMs + afterMs,
    );
    expect(outcome).toBe(expected);
  });
});

describe("a session with client-driven keep-alive", () => {
  it.each<[string, number | undefined, number, Heartbeat]>([
    ["never heard, for two intervals and 10 s", undefined, 60_000, "nothing"],
    ["never heard, for longer", undefined, 60_001, "gone"],
    ["heard two intervals and 10 s ago", startMs + 5_000, 65_000, "nothing"],
    ["heard longer ago", startMs + 5_000, 65_001, "gone"],
    [
      "heard before it opened, as a clock that was set makes it",
      startMs - 99_000,
      60_000,
      "nothing",
    ],
    ["heard a moment ago", startMs + 999_999, 1_000_000, "nothing"],
  ])("[K4] %s", (_, lastHeardMs, afterMs, expected) => {
    const client: SessionIdentity = { ...session, keepalive: "client" };
    for (const tick of [true, false]) {
      expect(heartbeat(client, 25_000, tick, lastHeardMs, startMs + afterMs)).toBe(expected);
    }
  });

  it("[K4] that hasn't connected is left to the stale delay", () => {
    const client: SessionIdentity = { ...session, keepalive: "client", phase: "new" };
    expect(heartbeat(client, 25_000, true, undefined, startMs + 999_999)).toBe("nothing");
  });
});

describe("a session whose client the platform answered", () => {
  it.each<[string, number | undefined, Heartbeat]>([
    [
      "2 s before its last ping, by a clock that may have been set back since",
      startMs - 2_000,
      "ping",
    ],
    ["longer before its last ping", startMs - 2_001, "no-pong"],
    ["as the ping was sent", startMs, "ping"],
    ["since its last ping", startMs + 24_999, "ping"],
    ["never", undefined, "no-pong"],
  ])("[K2] [K11] %s", (_, heardAtMs, expected) => {
    expect(heartbeat({ ...session, ...pinged }, 25_000, true, heardAtMs, startMs + 25_000)).toBe(
      expected,
    );
  });
});

it.each<[number, Heartbeat]>([
  [500, "ping"],
  [501, "no-pong"],
])("[K11] a client answered %i ms before its last ping, at an interval of 1 s", (ms, expected) => {
  const waiting = { ...session, ...pinged };
  expect(heartbeat(waiting, 1_000, true, startMs - ms, startMs + 1_000)).toBe(expected);
});

describe("when the next ping is due", () => {
  it.each<[string, Partial<SessionIdentity>, number]>([
    ["an interval after the socket opened", {}, startMs + 25_000],
    ["an interval after the last ping", { pingedAtMs: startMs + 7 }, startMs + 25_007],
    ["never before the connect", { phase: "new" }, Number.POSITIVE_INFINITY],
    ["never for a client that pings by itself", { keepalive: "client" }, Number.POSITIVE_INFINITY],
    ["never after the close", { phase: "closed" }, Number.POSITIVE_INFINITY],
  ])("[K1] %s", (_, more, dueMs) => {
    expect(pingDueAtMs({ ...session, ...more }, 25_000, startMs)).toBe(dueMs);
  });
});

describe("a session that we ping", () => {
  it("[K1] gets one each interval while it answers", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    for (let round = 0; round < 3; round++) {
      fixture.pass(24_999);
      expect(connection.takeSent()).toStrictEqual([]);
      fixture.pass(1);
      expect(connection.takeSent()).toStrictEqual(["{}"]);
      expect(fixture.ask(connection, "{}")).toStrictEqual([]);
    }
  });

  it("[K1] falls into step with the others, so that one alarm serves all", () => {
    const fixture = new ChannelFixture();
    const early = fixture.connected();
    fixture.nowMs += 12_500;
    const late = fixture.connected("7");
    fixture.nowMs += 1;
    const tooLate = fixture.connected("8");
    fixture.pass(12_499);
    expect(early.takeSent()).toStrictEqual(["{}"]);
    expect(late.takeSent()).toStrictEqual(["{}"]);
    expect(tooLate.takeSent()).toStrictEqual([]);
    expect(late.session.dueAtMs(startMs)).toBe(early.session.dueAtMs(startMs));
  });

  it("[K8] is closed 3501 when it answers before it was asked", () => {
    const fixture = new ChannelFixture();
    expect(fixture.ask(fixture.connected(), "{}")).toStrictEqual(["close 3501 bad request"]);
  });

  it("[K8] is closed 3501 when it answers twice", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    fixture.pass(25_000);
    connection.takeSent();
    expect(fixture.ask(connection, "{}\n{}")).toStrictEqual(["close 3501 bad request"]);
  });

  it("[K2] [K3] stays while the platform answers it, and is closed 3012 when that ends", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    for (let round = 0; round < 3; round++) {
      fixture.pass(25_000);
      expect(connection.takeSent()).toStrictEqual(["{}"]);
      connection.autoResponseMs = fixture.nowMs + 50;
      fixture.hibernate();
    }
    fixture.pass(25_000);
    fixture.hibernate();
    fixture.pass(25_000);
    expect(connection.takeSent()).toStrictEqual(["{}", "close 3012 no pong"]);
  });

  it("[K9] is answered by the object where the platform isn't, which counts as an answer to the ping", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    for (let round = 0; round < 2; round++) {
      fixture.pass(25_000);
      connection.session.answerKeepalive("answer", fixture.nowMs);
      connection.session.answerKeepalive("answer", fixture.nowMs);
      expect(connection.takeSent()).toStrictEqual(["{}", "answer", "answer"]);
      fixture.hibernate();
    }
  });

  it("[B7] is answered by the object no faster than commands are, and closed 3013 when it goes on", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    for (let count = 0; count < 3 * limits.commandsBurst; count++) {
      connection.session.answerKeepalive("answer", fixture.nowMs);
    }
    const answers = connection.takeSent();
    expect(answers).toHaveLength(limits.commandsBurst);
    expect(answers.at(-1)).toBe("close 3013 too many requests");
  });

  it("[S2] is pinged and answers across hibernation as without", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected();
    fixture.hibernate();
    fixture.pass(25_000);
    fixture.hibernate();
    expect(fixture.ask(connection, "{}")).toStrictEqual(["{}"]);
    fixture.hibernate();
    fixture.pass(25_000);
    fixture.hibernate();
    fixture.pass(25_000);
    expect(connection.takeSent()).toStrictEqual(["{}", "close 3012 no pong"]);
  });
});

describe("a session that pings by itself", () => {
  it("[K4] is closed when it was silent for two intervals and 10 s, and isn't present", () => {
    const options = {
      allow_subscribe_for_client: true,
      presence: true,
      allow_presence_for_client: true,
    };
    const fixture = new ChannelFixture({ options });
    const connection = fixture.connected("42", { keepalive: "client" });
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room"}}`);
    connection.takeSent();
    connection.autoResponseMs = startMs + 25_000;
    fixture.pass(85_000);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3012 no pong"]);
    const stats = fixture.ask(
      fixture.connected("7"),
      `{"id":2,"presence_stats":{"channel":"room"}}`,
    );
    expect(stats).toStrictEqual([`{"id":2,"presence_stats":{"num_clients":0,"num_users":0}}`]);
  });

  it("[K4] [S2] isn't gone while the object answers it, also after hibernation", () => {
    const fixture = new ChannelFixture();
    const connection = fixture.connected("42", { keepalive: "client" });
    for (let round = 0; round < 3; round++) {
      fixture.pass(60_000);
      connection.session.answerKeepalive("answer", fixture.nowMs);
      fixture.hibernate();
    }
    fixture.pass(60_000);
    expect(connection.takeSent()).toStrictEqual(["answer", "answer", "answer"]);
    fixture.pass(1);
    expect(connection.takeSent()).toStrictEqual(["close 3012 no pong"]);
  });
});
