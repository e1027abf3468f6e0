import { describe, expect, it } from "vitest";
import { trailLimits } from "../../../../src/features/why/limits.ts";
import { ClientTrail } from "../../../../src/features/why/client-trail.ts";
import type { SubscribeOptions } from "../../../../src/channel/channel-outcomes.ts";

const options: SubscribeOptions = { positioned: true, mode: "stream", orFail: false };
const position = { epoch: "e", offset: 5 };
const subscribed = { outcome: "subscribed", position, recovered: false, publications: [] } as const;
const of = (user: string, client = `client-of-${user}`, channel = "room") => ({
  channel,
  info: { user, client },
});
const session = (user: string, client = `client-of-${user}`) => ({
  client,
  user,
  hasConnected: true,
  identity: { openedAtMs: 7 },
});

function opened(): ClientTrail {
  let nowMs = 1_000;
  return new ClientTrail({ nowMs: () => nowMs++ });
}

describe("the trail of an object's clients", () => {
  it("[Y2] tells of subscriptions that began and ended, by user and by connection", () => {
    const trail = opened();
    trail.subscribed(of("ada"), options, subscribed);
    trail.subscribed(of("bob"), { ...options, since: position }, subscribed);
    trail.subscribed(of("ada", "c2"), options, {
      outcome: "failed",
      error: { code: 111, message: "", temporary: true },
    });
    trail.subscribed(of("ada", "c2", "other"), options, subscribed);
    trail.unsubscribed(of("ada"), 2_500);
    const one = { client: "client-of-ada", user: "ada" };
    expect(trail.notesOf("room", { user: "ada" })).toEqual([
      { ...one, atMs: 1_000, event: "subscribed", position },
      { ...one, atMs: 1_003, event: "unsubscribed", code: 2_500 },
    ]);
    expect(trail.notesOf("room", { client: "client-of-bob" })).toMatchObject([
      { sinceOffset: 5, recovered: false, recoveredPublications: 0 },
    ]);
    expect(trail.notesOf("room", { user: "ada", client: "client-of-bob" })).toEqual([]);
    expect(trail.notesOf("room", {})).toEqual([]);
  });

  it("[Y2] tells of connections that ended, and how", () => {
    const trail = opened();
    trail.ended(session("ada"), 3_012, "server");
    trail.ended(session("bob"), 1_006, "client");
    const times = { openedAtMs: 7, hadConnected: true };
    const ada = { client: "client-of-ada", user: "ada", atMs: 1_000, code: 3_012, by: "server" };
    expect(trail.closesOf({ user: "ada" })).toEqual([{ ...ada, ...times }]);
    expect(trail.lastCloses.map(({ user }) => user)).toEqual(["bob", "ada"]);
    expect(trail.closesSinceMs).toBeUndefined();
  });

  it("[Y2] [B1] remembers the last ones, oldest first, and says since when", () => {
    const trail = opened();
    const { trailClosesMax, trailNotesMax, inspectedConnectionsMax } = trailLimits;
    for (let count = 0; count < trailClosesMax; count++)
      trail.ended(session("ada", `${count}`), 1_006, "client");
    expect([trail.closesOf({ user: "ada" }).length, trail.closesSinceMs]).toEqual([
      trailClosesMax,
      undefined,
    ]);
    trail.ended(session("ada", "last"), 1_006, "client");
    const closes = trail.closesOf({ user: "ada" });
    expect(closes).toHaveLength(trailClosesMax);
    expect([closes[0]?.client, closes.at(-1)?.client]).toEqual(["1", "last"]);
    expect(trail.closesSinceMs).toBe(1_001);
    expect(trail.lastCloses).toHaveLength(inspectedConnectionsMax);
    const notes = opened();
    for (let count = 0; count < trailNotesMax; count++) notes.unsubscribed(of("ada"), 0);
    expect(notes.notesSinceMs).toBeUndefined();
    notes.unsubscribed(of("ada"), 0);
    expect(notes.notesSinceMs).toBe(1_001);
    expect(notes.notesOf("room", { user: "ada" })).toHaveLength(trailNotesMax);
  });

  it("[Y2] [B1] keeps no longer ID of a user than it may", () => {
    const trail = opened();
    const user = "x".repeat(trailLimits.trailUserCharactersMax);
    trail.ended(session(user, "a"), 1_000, "client");
    trail.ended(session(`${user}x`, "b"), 1_000, "client");
    expect(trail.closesOf({ user })).toHaveLength(1);
    expect(trail.closesOf({ user: `${user}x` })).toEqual([]);
    expect(trail.closesOf({ client: "b" })).toMatchObject([{ user: "" }]);
  });
});
