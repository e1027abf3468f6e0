import { describe, expect, it } from "vitest";
import { parseAttachment, writeSession } from "../../../src/contract/attachment.ts";
import type {
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../../../src/contract/session-snapshot.ts";
import { startMs } from "../session/channel-fixture.ts";

function sessionWith(
  more: Partial<SubscriptionSnapshot>,
  identity: Partial<SessionSnapshot> = {},
): SessionSnapshot {
  const flags = { present: true, announced: false, hearsJoinLeave: false };
  const subscription = { expireAtSeconds: 0, ...flags };
  return {
    phase: "connected",
    client: "00000000-0000-4000-8000-000000000000",
    openedAtMs: startMs,
    keepalive: "server",
    ...identity,
    subscriptions: [
      { channel: "a", ...subscription },
      { channel: "b", ...subscription, ...more },
    ],
  };
}

const filter = { op: "", key: "t", cmp: "eq", val: "a", vals: [], nodes: [] };

describe("a session that the release before this one", () => {
  it.each<[string, SessionSnapshot]>([
    ["in Protobuf", sessionWith({}, { codec: "protobuf" })],
    ["of who only listens", sessionWith({}, { codec: "one_way" })],
    ["on a stream", sessionWith({}, { secret: "5" })],
    ["with deltas", sessionWith({ delta: true })],
    ["with a filter", sessionWith({ filter })],
  ])("[V1] doesn't know isn't taken up there, so that its client comes back: %s", (_, snapshot) => {
    const { attachment } = writeSession(snapshot);
    // That release restores version 1, and closes sockets of any other version with 3010.
    expect(attachment.v).toBe(2);
    expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
  });

  it.each([
    ["from its own connection", { keepalive: "client" }],
    ["through the edge", { keepalive: "client", codec: "one_way", secret: "5" }],
  ] as const)("[V1] would close for its pings isn't taken up there: %s", (_, identity) => {
    const snapshot = sessionWith({}, identity);
    const { attachment } = writeSession(snapshot);
    // That release restores versions 1 and 2, and closes sockets of any other version with 3010.
    expect(attachment.v).toBe(3);
    expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
  });

  it.each([
    ["with the server's pings", {}],
    ["with the client's pings", { keepalive: "client" }],
  ] as const)(
    "[V1] [A17] wouldn't apply the server's filter to isn't taken up there: one %s",
    (_, identity) => {
      for (const more of [{ serverFilter: filter }, { filter, serverFilter: filter }]) {
        const snapshot = sessionWith(more, identity);
        const { attachment } = writeSession(snapshot);
        // That release restores versions 1 to 3, and closes sockets of any other version with 3010.
        expect(attachment.v).toBe(4);
        expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
      }
    },
  );

  it("[V1] [U10] [U11] wouldn't end with a revoked token isn't taken up there", () => {
    const claims = { user: "42", expireAtSeconds: 0, uid: "t1" };
    for (const [more, identity] of [
      [{ issuedAtSeconds: 0 }, {}],
      [{ issuedAtSeconds: 1, uid: "s1", serverFilter: filter }, {}],
      [{}, { claims }],
      [{}, { invalidated: true }],
    ] as const) {
      const snapshot = sessionWith(more, identity);
      const { attachment } = writeSession(snapshot);
      // That release restores versions 1 to 4, and closes sockets of any other version with 3010.
      expect(attachment.v).toBe(5);
      expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
    }
  });

  it("[V1] [SP8] would never send a value isn't taken up there", () => {
    for (const more of [{ pollEpoch: "" }, { pollEpoch: "e", tracks: true, uid: "s1" }] as const) {
      const snapshot = sessionWith(more);
      const { attachment } = writeSession(snapshot);
      // That release restores versions 1 to 5, and closes sockets of any other version with 3010.
      expect(attachment.v).toBe(6);
      expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
    }
  });

  it("[V1] [SP13] would send values in a form that the client can't read isn't taken up there", () => {
    const snapshot = sessionWith({ pollEpoch: "e", delta: true });
    const { attachment } = writeSession(snapshot);
    // That release restores versions 1 to 6, and closes sockets of any other version with 3010.
    expect(attachment.v).toBe(7);
    expect(parseAttachment(structuredClone(attachment))).toStrictEqual(snapshot);
  });

  it("[V1] knows is taken up there", () => {
    expect(writeSession(sessionWith({})).attachment.v).toBe(1);
  });
});
