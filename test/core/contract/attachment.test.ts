import * as fc from "fast-check";
import { serialize } from "node:v8";
import { describe, expect, it, vi } from "vitest";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import { hookLimits } from "../../../src/features/hooks/limits.ts";
import { limits } from "../../../src/limits.ts";
import {
  type Attachment,
  fitsAttachment,
  fitsInside,
  fitsCursors,
  fitsRow,
  fitsUntilConnect,
  parseAttachment,
  writeSession,
} from "../../../src/contract/attachment.ts";
import type {
  Cursor,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../../../src/contract/session-snapshot.ts";
import { json } from "../api/channel-config.ts";
import { filterNode } from "../protocol/any-filter.ts";
import { anySnapshot } from "../session/random-session.ts";
import { startMs } from "../session/channel-fixture.ts";

/** The platform's documented limit. */
const platformBytesMax = 16_384;

const identity = {
  phase: "connected",
  client: "00000000-0000-4000-8000-000000000000",
  openedAtMs: startMs,
  keepalive: "server",
  claims: { user: "42", expireAtSeconds: 0 },
} as const;

function subscribedTo(
  channel: string,
  more: Partial<SubscriptionSnapshot> = {},
): SubscriptionSnapshot {
  const flags = { present: true, announced: false, hearsJoinLeave: false };
  return { channel, expireAtSeconds: 0, ...flags, ...more };
}

function sessionWith(count: number, more: Partial<SessionSnapshot> = {}): SessionSnapshot {
  const subscriptions = Array.from({ length: count }, (_, index) => subscribedTo(`news:${index}`));
  return { ...identity, subscriptions, ...more };
}

const cursor: Cursor = {
  instance: startMs,
  sequence: 2 ** 40,
  position: { epoch: "abcdefgh", offset: 2 ** 40 },
};

/** Written down, carried as the platform does, and read. */
function afterHibernation(snapshot: SessionSnapshot): SessionSnapshot | undefined {
  const { attachment, row } = writeSession(snapshot);
  return parseAttachment(structuredClone(attachment), (client) =>
    client === snapshot.client ? row : undefined,
  );
}

/** As the platform counts. */
function bytesOf(attachment: Attachment): number {
  return serialize(attachment).byteLength;
}

/** Cursors are dropped if the claims leave no space for them, and for subscriptions that ended. */
function withoutCursors(snapshot: SessionSnapshot): SessionSnapshot {
  const { cursors: _, ...rest } = snapshot;
  return rest;
}

/** Notes are dropped as far as there is no room for them. */
function withNotesOf(
  { notes, ...rest }: SessionSnapshot,
  read: SessionSnapshot | undefined,
): SessionSnapshot {
  const kept = [...(notes ?? [])].filter(([channel]) => read?.notes?.has(channel) === true);
  return kept.length === 0 ? rest : { ...rest, notes: new Map(kept) };
}

describe("a stored session", () => {
  it("[S1] [L7] is read as it was, whatever it is, and takes at most what an attachment can hold", () => {
    const places = { attachment: 0, packed: 0, row: 0 };
    fc.assert(
      fc.property(anySnapshot(60), (snapshot) => {
        const { attachment } = writeSession(snapshot);
        const { packed, stored } = attachment;
        expect(bytesOf(attachment)).toBeLessThan(limits.attachmentBytesMax);
        if (packed !== undefined) places.packed++;
        else if (stored === true) places.row++;
        else places.attachment++;
        const fits = fitsCursors(snapshot, snapshot.cursors?.size ?? 0);
        const read = afterHibernation(snapshot);
        const kept = withNotesOf(snapshot, read);
        expect(read).toStrictEqual(fits ? kept : withoutCursors(kept));
      }),
      { seed: 20_261_121, numRuns: 400 },
    );
    expect(Math.min(...Object.values(places))).toBeGreaterThan(10);
  });

  it.each([
    ["a small user", { user: "42", expireAtSeconds: 0 }, "x"],
    ["large claims", { user: "42", expireAtSeconds: 0, info: json(`"${"x".repeat(8_000)}"`) }, "x"],
    ["text that isn't Latin", { user: "42", expireAtSeconds: 0 }, "😀"],
  ])("[Q14] holds what a backend gave until the connect, up to a bound: %s", (_, claims, unit) => {
    const http = [["cookie", "c".repeat(hookLimits.hookHeadersLengthMax - 6)]] as const;
    const withData = (count: number) => ({
      ...identity,
      claims,
      headers: { http },
      atUpgrade: { data: json(`"${unit.repeat(count)}"`) },
    });
    let most = 0;
    while (most < limits.attachmentBytesMax && fitsUntilConnect(withData(most + 1))) most++;
    const snapshot = { ...withData(most), phase: "new", byHook: true, subscriptions: [] } as const;
    expect(most).toBeGreaterThan(1_000);
    expect(bytesOf(writeSession(snapshot).attachment)).toBeLessThan(platformBytesMax);
    expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
  });

  it.each([[0], [1], [2], [3], [20], [100], [128], [129], [1_000], [limits.channelLimitMax]])(
    "[G2] is read as it was with %i subscriptions, each with a position",
    (count) => {
      const channels = sessionWith(count).subscriptions.map(({ channel }) => channel);
      const cursors = new Map(channels.slice(0, 200).map((channel) => [channel, cursor]));
      const snapshot = sessionWith(count, count === 0 ? {} : { cursors });
      expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
      expect(bytesOf(writeSession(snapshot).attachment)).toBeLessThan(platformBytesMax);
    },
  );

  it.each([
    [1, 1],
    [2, 2],
    [50, 50],
    [100, 90],
    [1_000, 0],
  ])(
    "[CU13] keeps the notes of %i subscriptions as far as there is room, beside all cursors",
    (count, keptMin) => {
      const { subscriptions } = sessionWith(count);
      const offset = 2 ** 40;
      const note = { since: offset, offset, atMs: startMs, sent: offset, recovered: true };
      const notes = new Map(
        subscriptions.map(({ channel }) => [channel, { ...note, epoch: "abcdefgh" }]),
      );
      const cursors = new Map(subscriptions.slice(0, 50).map(({ channel }) => [channel, cursor]));
      const snapshot = sessionWith(count, { cursors, notes });
      const read = afterHibernation(snapshot);
      expect(read).toStrictEqual(withNotesOf(snapshot, read));
      expect(read?.notes?.size ?? 0).toBeGreaterThanOrEqual(keptMin);
      expect(bytesOf(writeSession(snapshot).attachment)).toBeLessThan(platformBytesMax);
    },
  );

  it("[S1] [X1] has room for the trace of its handshake, and less for the rest", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const counts = Array.from({ length: 1_000 }, (_, index) => index);
    const mostWith = (more: Partial<SessionSnapshot>): number =>
      counts.filter((count) => fitsCursors({ ...identity, ...more }, count)).length;
    const most = mostWith({});
    expect(mostWith({ traceparent })).toBeLessThan(most);
    expect(
      bytesOf({ v: 1, ...identity, traceparent }) - bytesOf({ v: 1, ...identity }),
    ).toBeLessThan(80);
  });

  it("[G2] lies in a row, all of it, when it has 1,000 subscriptions", () => {
    const snapshot = sessionWith(1_000);
    const { attachment, row } = writeSession(snapshot);
    expect(attachment).toStrictEqual({ v: 1, ...identity, stored: true });
    expect(bytesOf(attachment)).toBeLessThan(300);
    expect(row).toContain(`["news:999",1,0]`);
    expect(fitsRow(snapshot.subscriptions)).toBe(true);
  });

  it("[G2] lies in no row as soon as it is small enough", () => {
    const { attachment, row } = writeSession(sessionWith(2));
    expect(row).toBeUndefined();
    expect(attachment).toStrictEqual({
      v: 1,
      ...identity,
      packed: `[["news:0",1,0],["news:1",1,0]]`,
    });
  });

  it("[G2] lies in a row for a single subscription that is too large beside the claims", () => {
    const claims = { user: "42", expireAtSeconds: 0, info: json(`"${"x".repeat(8_000)}"`) };
    const chanInfo = json(`"${"x".repeat(9_000)}"`);
    const subscriptions = [subscribedTo("room", { chanInfo })];
    const snapshot = { ...identity, claims, subscriptions };
    expect(fitsAttachment(claims)).toBe(true);
    expect(writeSession(snapshot).attachment.stored).toBe(true);
    expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
  });

  it("[S1] keeps each permission and origin of a subscription apart", () => {
    const flags = [
      "present",
      "announced",
      "hearsJoinLeave",
      "serverSide",
      "sole",
      "delta",
    ] as const;
    const off = { present: false, announced: false, hearsJoinLeave: false };
    const subscriptions = flags.map((flag) => subscribedTo(flag, { ...off, [flag]: true }));
    const snapshot = { ...identity, subscriptions };
    expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
    expect(writeSession(snapshot).attachment.packed).toBe(
      `[["present",1,0],["announced",2,0],["hearsJoinLeave",4,0],["serverSide",8,0],["sole",16,0],["delta",32,0]]`,
    );
  });

  it("[S1] keeps each announcement and filter apart", () => {
    const filter = filterNode({ key: "k", cmp: "eq", val: "v" });
    const chanInfo = json(`{"n":1}`);
    const subscriptions = [
      subscribedTo("neither"),
      subscribedTo("info", { chanInfo }),
      subscribedTo("filter", { filter }),
      subscribedTo("both", { chanInfo, filter }),
    ];
    const snapshot = { ...identity, subscriptions };
    expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
    const [, info, filtered, both] = JSON.parse(writeSession(snapshot).attachment.packed ?? "");
    expect(info).toStrictEqual(["info", 1, 0, chanInfo]);
    expect(filtered).toStrictEqual(["filter", 1, 0, null, filter]);
    expect(both).toStrictEqual(["both", 1, 0, chanInfo, filter]);
  });

  it("[B1] fits into the attachment with the largest filter that is taken with it", () => {
    let count = 1;
    while (fitsInside(withConditions(count + 1))) count++;
    const { attachment, row } = writeSession(withConditions(count));
    expect(row).toBeUndefined();
    expect(bytesOf(attachment)).toBeLessThanOrEqual(limits.attachmentBytesMax);
    expect(bytesOf(attachment)).toBeGreaterThan(limits.attachmentBytesMax / 2);
    expect(writeSession(withConditions(count + 1)).row).toBeDefined();
  });

  it("[V1] stores a cursor as place, epoch, offset, instance and sequence, with history and without", () => {
    const cursors = new Map<string, Cursor>([
      ["news:0", cursor],
      ["news:1", { instance: 5, sequence: 7 }],
    ]);
    const snapshot = sessionWith(2, { cursors });
    expect(writeSession(snapshot).attachment.kept).toStrictEqual([
      [0, "abcdefgh", 2 ** 40, startMs, 2 ** 40],
      [1, "", 0, 5, 7],
    ]);
    expect(afterHibernation(snapshot)?.cursors).toStrictEqual(cursors);
  });

  it("[L7] forgets the position of a channel that it isn't subscribed to any more", () => {
    const cursors = new Map([
      ["news:1", cursor],
      ["gone", cursor],
    ]);
    const snapshot = sessionWith(2, { cursors });
    expect(afterHibernation(snapshot)?.cursors).toStrictEqual(new Map([["news:1", cursor]]));
  });
});

/** A session whose only subscription has a filter of so many conditions. */
function withConditions(count: number): SessionSnapshot {
  const nodes = Array.from({ length: count }, () => filterNode({ key: "k", cmp: "ex" }));
  const filter = filterNode({ op: "or", nodes });
  return { ...identity, subscriptions: [subscribedTo("room", { filter })] };
}

/** The longest text that is accepted, found by bisection. */
function longest(character: string, accepts: (text: string) => boolean): string {
  let taken = 0;
  let refused: number = limits.attachmentBytesMax;
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (accepts(character.repeat(middle))) taken = middle;
    else refused = middle;
  }
  return character.repeat(taken);
}

function claimsWith(text: string): ConnectionClaims {
  return { user: "42", expireAtSeconds: 2 ** 40, info: json(`"${text}"`) };
}

it("[S1] isn't measured anew each time it is written down", () => {
  const claims = claimsWith("what a token says of its bearer");
  const snapshot = { ...sessionWith(1_000), claims };
  const looks = vi.spyOn(String.prototype, "charCodeAt");
  writeSession(snapshot);
  const first = looks.mock.calls.length;
  for (let times = 0; times < 10; times++) writeSession({ ...snapshot });
  const more = looks.mock.calls.length - first;
  looks.mockRestore();
  expect([first > 1_000, more]).toEqual([true, 0]);
});

describe("the largest accepted session", () => {
  // The bytes of a character in an attachment: one if all of its text is Latin-1, else two.
  const anyCharacter = [["x"], ["é"], ["ж"], ["😀"], ["\\n"]];

  it.each(anyCharacter)("[B1] has claims of at most 8 KiB, made of %j", (character) => {
    const text = longest(character, (each) => fitsAttachment(claimsWith(each)));
    const bytes = serialize(claimsWith(text)).byteLength;
    expect(bytes).toBeLessThanOrEqual(limits.sessionClaimsBytesMax + 64);
    // And the bound isn't much stricter than necessary.
    expect(bytes).toBeGreaterThan(limits.sessionClaimsBytesMax / 3);
  });

  it.each(anyCharacter)(
    "[S1] fits into the attachment with everything, made of %j",
    (character) => {
      const claims = claimsWith(longest(character, (each) => fitsAttachment(claimsWith(each))));
      const pings = { pingedAtMs: startMs, noPongs: true, awaitingPong: true } as const;
      const pinged = { ...identity, claims, ...pings };
      const withInfo = (text: string): SessionSnapshot => {
        const chanInfo = json(`"${text}"`);
        const room = subscribedTo("room", { chanInfo, serverSide: true, sole: true });
        return { ...pinged, subscriptions: [room], cursors: new Map([["room", cursor]]) };
      };
      const snapshot = withInfo(longest(character, (each) => fitsInside(withInfo(each))));
      const { attachment, row } = writeSession(snapshot);
      expect(row).toBeUndefined();
      expect(attachment.subscription).toStrictEqual(snapshot.subscriptions[0]);
      expect(bytesOf(attachment)).toBeLessThanOrEqual(limits.attachmentBytesMax);
      expect(bytesOf(attachment)).toBeGreaterThan(limits.attachmentBytesMax / 3);
    },
  );

  it.each([["x"], ["ж"]])(
    "[S1] fits into the attachment with as many subscriptions as can be, of %j",
    (character) => {
      const many = (count: number): SessionSnapshot => {
        const subscriptions = Array.from({ length: count }, (_, index) =>
          subscribedTo(`${character}${index}`),
        );
        const cursors = new Map(subscriptions.map(({ channel }) => [channel, cursor]));
        return { ...identity, subscriptions, cursors };
      };
      let count = 2;
      while (fitsInside(many(count + 1))) count++;
      const { attachment, row } = writeSession(many(count));
      expect(row).toBeUndefined();
      expect(attachment.kept).toHaveLength(count);
      expect(bytesOf(attachment)).toBeLessThanOrEqual(limits.attachmentBytesMax);
      expect(writeSession(many(count + 1)).row).toBeDefined();
    },
  );

  it("[B1] has no more subscriptions than fit into its row", () => {
    const chanInfo = json(`"${"x".repeat(10_000)}"`);
    const large = (count: number) =>
      Array.from({ length: count }, (_, index) => subscribedTo(`news:${index}`, { chanInfo }));
    expect(fitsRow(large(100))).toBe(true);
    expect(fitsRow(large(105))).toBe(false);
  });

  it("[L7] has as many positions as fit, wherever its subscriptions are", () => {
    let count = 0;
    while (fitsCursors(identity, count + 1)) count++;
    const { subscriptions } = sessionWith(1_000);
    const cursors = new Map(subscriptions.slice(-count).map(({ channel }) => [channel, cursor]));
    const snapshot = { ...identity, subscriptions, cursors };
    expect(count).toBeGreaterThan(200);
    expect(bytesOf(writeSession(snapshot).attachment)).toBeLessThan(platformBytesMax);
    expect(afterHibernation(snapshot)).toStrictEqual(snapshot);
  });
});

describe("the attachment of another release", () => {
  const subscription = {
    channel: "room",
    chanInfo: `{"n":1.0}`,
    expireAtSeconds: 1_700_000_100,
    present: true,
    announced: true,
    hearsJoinLeave: false,
  };
  const rest = {
    phase: "connected",
    client: "c1",
    openedAtMs: startMs,
    keepalive: "server",
    claims: { user: "42", expireAtSeconds: 1_700_000_200, info: `{"name":"Zoë"}` },
  };
  const before = { v: 1, ...rest, subscription };

  it("[V1] is understood", () => {
    expect(parseAttachment(before)).toStrictEqual({ ...rest, subscriptions: [subscription] });
  });

  it("[V1] is the form of a single subscription, so that another release can read it", () => {
    const snapshot = parseAttachment(before);
    expect(snapshot && writeSession(snapshot)).toStrictEqual({ attachment: before });
  });

  it("[V1] is understood with several subscriptions", () => {
    const { subscription: _, ...alone } = before;
    const packed = `[["room",3,1700000100,"{\\"n\\":1.0}"],["news",9,0],["solo",16,0]]`;
    const off = { expireAtSeconds: 0, present: false, announced: false, hearsJoinLeave: false };
    const subscriptions = [
      subscription,
      { ...off, channel: "news", present: true, serverSide: true },
      { ...off, channel: "solo", sole: true },
    ];
    const snapshot = parseAttachment({ ...alone, packed });
    expect(snapshot).toStrictEqual({ ...rest, subscriptions });
    expect(snapshot && writeSession(snapshot)).toStrictEqual({ attachment: { ...alone, packed } });
  });

  it("[V1] is the form of a session without a subscription", () => {
    const { subscription: _, ...alone } = before;
    const snapshot = parseAttachment({ ...alone, pingedAtMs: startMs, awaitingPong: true });
    expect(snapshot && writeSession(snapshot)).toStrictEqual({
      attachment: { ...alone, pingedAtMs: startMs, awaitingPong: true },
    });
  });
});

describe("an attachment that can't be understood", () => {
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
    [{ v: 1, phase: "connected", client: "c1", codec: "later" }],
    [{ v: 0 }],
    [{ v: "1" }],
    [{ v: null }],
    [{ version: 1 }],
    [new Map([["v", 1]])],
  ])("[V1] is one that no release of ours wrote, or too new a one: %j", (attachment) => {
    expect(parseAttachment(attachment)).toBeUndefined();
  });

  it("[G2] includes one whose row is gone, rather than a session without its subscriptions", () => {
    const { attachment } = writeSession(sessionWith(1_000));
    expect(parseAttachment(attachment, () => undefined)).toBeUndefined();
    expect(parseAttachment(attachment)).toBeUndefined();
  });
});
