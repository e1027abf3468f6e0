import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { parseSnapshot } from "../../../src/session/snapshot.ts";
import { json } from "../api/channel-config.ts";
import { Room, startMs } from "./room.ts";
import type { Peer } from "./peer.ts";
import { connectionToken, subscriptionToken } from "./verdicts.ts";

const subscribe = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;

describe("an attachment", () => {
  it.each([
    [undefined],
    [null],
    [""],
    ['{"v":1}'],
    [1],
    [true],
    [[]],
    [[1]],
    [{}],
    [{ v: 2, phase: "connected" }],
    [{ v: 0 }],
    [{ v: "1" }],
    [{ v: null }],
    [{ version: 1 }],
    [new Map([["v", 1]])],
  ])(
    "[V1] that no release of ours wrote, or too new a one, is not understood: %j",
    (attachment) => {
      expect(parseSnapshot(attachment)).toBeUndefined();
    },
  );

  it("[V1] gives back what a session saved", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const { saved } = room.subscribed();
    expect(parseSnapshot(structuredClone(saved))).toStrictEqual(saved);
  });
});

describe("a snapshot of another release", () => {
  const options = {
    allow_subscribe_for_client: true,
    presence: true,
    join_leave: true,
    force_push_join_leave: true,
    allow_presence_for_client: true,
    allow_presence_for_anonymous: true,
  };
  /** What release 1 writes of a connected and subscribed session, with every optional field left out. */
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

  function wake(attachment: unknown): { room: Room; peer: Peer } {
    const snapshot = parseSnapshot(attachment);
    if (snapshot === undefined) throw new Error("not understood");
    const room = new Room({ options });
    return { room, peer: room.open(snapshot) };
  }

  it("[V1] may have fields that this one doesn't know, which are kept for the release that does", () => {
    const { room, peer } = wake({
      ...bare,
      delta: { base: 7 },
      claims: { user: "42", expireAtSeconds: 0, labels: ["a"] },
      subscription: { ...bare.subscription, filter: "x" },
    });
    expect(room.ask(peer, `{"id":3,"presence":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c1":{"user":"42","client":"c1"}}}}`,
    ]);
    room.pass(25_000);
    expect(peer.hears()).toStrictEqual(["{}"]);
    expect(peer.saved).toMatchObject({
      awaitingPong: true,
      delta: { base: 7 },
      claims: { labels: ["a"] },
      subscription: { filter: "x" },
    });
  });

  it("[V1] without claims is nobody's and doesn't end", () => {
    const { room, peer } = wake(bare);
    expect(room.ask(peer, `{"id":3,"presence":{"channel":"room"}}`)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c1":{"user":"","client":"c1"}}}}`,
    ]);
    expect(peer.session.dueAtMs).toBe(startMs + 25_000);
  });

  it("[V1] without a last ping is due an interval after the socket opened", () => {
    const { room, peer } = wake({ ...bare, claims: { user: "42", expireAtSeconds: 0 } });
    room.pass(24_999);
    expect(peer.hears()).toStrictEqual([]);
    room.pass(1);
    expect(peer.hears()).toStrictEqual(["{}"]);
  });

  it("[V1] that awaits no pong closes on one", () => {
    const { room, peer } = wake({ ...bare, pingedAtMs: startMs });
    expect(room.ask(peer, "{}")).toStrictEqual(["close 3501 bad request"]);
  });

  it("[V1] without a subscription isn't subscribed", () => {
    const { subscription: _, ...unsubscribed } = bare;
    const { room, peer } = wake(unsubscribed);
    room.publish("1");
    expect(peer.hears()).toStrictEqual([]);
    expect(room.channel.hub.size).toBe(0);
  });

  it("[S4] that is closed isn't subscribed, whatever it says of a subscription", () => {
    const { room, peer } = wake({ ...bare, phase: "closed" });
    room.publish("1");
    room.end(peer);
    expect(peer.hears()).toStrictEqual([]);
    expect(room.channel.hub.size).toBe(0);
  });
});

/**
 * The longest text of a character that a session takes for a claim, found by bisection.
 *
 * @param accepts whether a session takes a claim of so many characters
 */
function longest(accepts: (length: number) => boolean): number {
  let taken = 0;
  let refused: number = limits.sessionSnapshotBytesMax;
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (accepts(middle)) taken = middle;
    else refused = middle;
  }
  return taken;
}

describe("the largest snapshot that a session takes", () => {
  const options = { allow_subscribe_for_client: true };

  function connected(character: string, length: number): { room: Room; peer: Peer } {
    const room = new Room({ options });
    const peer = room.open({ client: "00000000-0000-4000-8000-000000000000" });
    const info = json(`"${character.repeat(length)}"`);
    const end = startMs / 1000 + 100_000;
    room.say(peer, `{"id":1,"connect":{}}`, connectionToken("42", { info, expireAtSeconds: end }));
    return { room, peer };
  }

  function subscribed(character: string, length: number): { room: Room; peer: Peer } {
    const { room, peer } = connected(character, 10);
    const info = json(`"${character.repeat(length)}"`);
    room.say(peer, subscribe, subscriptionToken({ info, expireAtSeconds: startMs / 1000 + 9 }));
    return { room, peer };
  }

  // What a character takes in an attachment: one byte if all of its text is Latin-1, else two.
  it.each([["x"], ["é"], ["ж"], ["😀"], ["\\n"]])(
    "[S1] is at most 8 KiB as an attachment, claims of %j included",
    (character) => {
      const { room, peer } = connected(
        character,
        longest((length) => connected(character, length).peer.saved.phase === "connected"),
      );
      room.say(peer, `{"id":2,"subscribe":{"channel":"room"}}`);
      room.pass(25_000);
      expect(peer.saved.awaitingPong).toBe(true);
      const bytes = serialize(peer.saved).byteLength;
      expect(bytes).toBeLessThanOrEqual(limits.sessionSnapshotBytesMax);
      // And the bound is no stricter than it must be by a factor that anybody would notice.
      expect(bytes).toBeGreaterThan(limits.sessionSnapshotBytesMax / 3);
    },
  );

  it.each([["x"], ["ж"]])(
    "[B1] is at most 8 KiB as an attachment, a subscription's info of %j included",
    (character) => {
      const { room, peer } = subscribed(
        character,
        longest((length) => subscribed(character, length).peer.saved.subscription !== undefined),
      );
      room.pass(25_000);
      const bytes = serialize(peer.saved).byteLength;
      expect(bytes).toBeLessThanOrEqual(limits.sessionSnapshotBytesMax);
      expect(bytes).toBeGreaterThan(limits.sessionSnapshotBytesMax / 3);
    },
  );
});
