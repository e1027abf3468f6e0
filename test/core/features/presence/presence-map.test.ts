import { describe, expect, it } from "vitest";
import type { MirrorToldReply } from "../../../../src/features/maps/mirror/mirror-map.ts";
import { mirrorChange, PresenceMap } from "../../../../src/features/presence/presence-map.ts";
import type { PresenceKind } from "../../../../src/contract/relay-request.ts";
import type { PresenceChange } from "../../../../src/features/presence/presence-teller.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { parseJsonText } from "../../../../src/protocol/json/text.ts";
import type { ClientInfo } from "../../../../src/protocol/publication.ts";
import { openMap, type OpenedMap, unset } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const keyTtlMs = 60_000;
const client = (name: string, user = `u-${name}`): ClientInfo => ({ user, client: name });
const here = (info: ClientInfo): PresenceChange => ({ type: "here", info });
const away = (info: ClientInfo): PresenceChange => ({ type: "away", info });

/** A presence map whose census lists one client after the other. */
class Fixture {
  readonly sql: NodeSql;
  readonly opened: OpenedMap;
  readonly map: PresenceMap;
  isHeld = true;
  nowMs: number;

  constructor(kind: PresenceKind = "clients", sql = new NodeSql(), nowMs = 0) {
    this.sql = sql;
    this.nowMs = nowMs;
    const subscriptionType = kind === "clients" ? "map_clients" : "map_users";
    const options = { mode: "ephemeral", keyTtlMs } as const;
    this.opened = openMap(sql, options, { options: { subscriptionType } });
    this.map = new PresenceMap(this.opened.map, {
      shown: { kind, channel: "room" },
      keyTtlMs,
      isHeld: () => this.isHeld,
      nowMs,
      sliceItems: 1,
    });
  }

  /** Asks for the first page. @returns the outcome, as far as there is one */
  ready(): string[] {
    const outcomes: string[] = [];
    this.map.ready(this.nowMs, (outcome) => outcomes.push(outcome));
    return outcomes;
  }

  /** Takes the list of a census that has begun. @param between called after each slice */
  list(clients: readonly ClientInfo[], complete = true, between?: (slice: number) => void): void {
    if (!this.map.counted({ items: clients, isComplete: complete }, this.nowMs))
      throw new Error("not listed");
    for (let slice = 0; !this.map.slice(this.nowMs); slice++) between?.(slice);
  }

  /** Takes what the other channel's object tells. */
  told(changes: readonly PresenceChange[], nowMs: number): MirrorToldReply {
    return this.map.takes(changes.map(mirrorChange), undefined, nowMs);
  }

  /** Makes a census when it is due. */
  count(clients: readonly ClientInfo[], complete = true): void {
    this.nowMs = Math.max(this.nowMs, this.map.dueAtMs(this.nowMs));
    if (!this.map.begins(this.nowMs)) throw new Error("no census is due");
    this.list(clients, complete);
  }

  /** The keys, once those that have ended are removed. */
  get keys(): readonly string[] {
    this.opened.map.expire(this.nowMs);
    return this.opened.map.keysAfter("", 100);
  }

  /** The changes since they were last asked for. */
  get changes(): readonly string[] {
    const read = this.opened.channel.readStream({ limit: -1, reverse: false }, this.nowMs);
    if (read.outcome !== "history") throw new Error("no changes");
    // The stream of an ephemeral map reaches back a minute.
    const newer = read.publications.filter(({ offset }) => offset > this.#seen);
    this.#seen = newer.at(-1)?.offset ?? this.#seen;
    return newer.map(({ key, removed }) => `${removed === true ? "-" : ""}${key}`);
  }

  #seen = 0;
}

describe("a census", () => {
  it("[Z21] is made before the first page, once for all who ask, and not again soon", () => {
    const fixture = new Fixture();
    expect(fixture.map.begins(0)).toBe(false);
    const one = fixture.ready();
    expect(fixture.map.begins(0)).toBe(true);
    const other = fixture.ready();
    expect(fixture.map.begins(0)).toBe(false);
    fixture.list([client("b"), client("a")]);
    expect([one, other]).toEqual([["ready"], ["ready"]]);
    expect(fixture.keys).toEqual(["a", "b"]);
    expect(fixture.opened.map.entry("a")).toMatchObject({
      info: client("a"),
      data: "",
    });
    expect(fixture.ready()).toEqual(["ready"]);
    expect(fixture.map.begins(keyTtlMs / 2 - 1)).toBe(false);
    fixture.nowMs = keyTtlMs / 2;
    expect(fixture.ready()).toEqual([]);
  });

  it("[Z22] is made twice in each key_ttl while somebody is subscribed, and changes what differs", () => {
    const fixture = new Fixture();
    const info = { ...client("c"), connInfo: parseJsonText("1") ?? fail() };
    fixture.count([client("a"), client("b"), info]);
    expect(fixture.changes).toEqual(["a", "b", "c"]);
    expect(fixture.map.dueAtMs(fixture.nowMs)).toBe(fixture.nowMs + keyTtlMs / 2);
    fixture.count([client("a"), client("b"), info]);
    expect(fixture.changes).toEqual([]);
    fixture.count([client("d"), client("b"), client("c")]);
    expect(fixture.changes).toEqual(["d", "c", "-a"]);
    expect(fixture.keys).toEqual(["b", "c", "d"]);
  });

  it("[Z22] [Z27] leaves alone what is told while it is under way, whichever of both came first", () => {
    const fixture = new Fixture();
    fixture.count([client("a"), client("b"), client("c")]);
    fixture.nowMs = fixture.map.dueAtMs(fixture.nowMs);
    fixture.map.begins(fixture.nowMs);
    fixture.told([away(client("a")), here(client("e"))], fixture.nowMs);
    fixture.list([client("a"), client("b"), client("c"), client("d")], true, (slice) => {
      if (slice === 2) fixture.told([away(client("b")), here(client("f"))], fixture.nowMs);
    });
    expect(fixture.keys).toEqual(["c", "d", "e", "f"]);
    fixture.count([client("a"), client("c")]);
    expect(fixture.keys).toEqual(["a", "c"]);
  });

  it("[Z23] in which a gateway hasn't answered removes nobody before key_ttl", () => {
    const fixture = new Fixture();
    fixture.count([client("a"), client("b"), client("c")]);
    fixture.count([client("a")], false);
    const missedMs = fixture.nowMs;
    expect(fixture.keys).toEqual(["a", "b", "c"]);
    fixture.count([client("a"), client("c")], false);
    expect(fixture.opened.channel.cleanupDueAtMs(fixture.nowMs)).toBe(missedMs + keyTtlMs);
    fixture.nowMs = missedMs + keyTtlMs - 1;
    expect(fixture.keys).toEqual(["a", "b", "c"]);
    fixture.nowMs = missedMs + keyTtlMs;
    expect(fixture.keys).toEqual(["a", "c"]);
    expect(fixture.changes).toEqual(["-b"]);
    fixture.count([client("a")]);
    expect(fixture.keys).toEqual(["a"]);
  });

  it("[Z24] that isn't answered is made again before long, and whoever waits is told", () => {
    const fixture = new Fixture();
    const outcomes = fixture.ready();
    fixture.map.begins(0);
    expect(fixture.map.counted(undefined, 0)).toBe(false);
    expect(outcomes).toEqual(["failed"]);
    expect(fixture.map.dueAtMs(fixture.nowMs)).toBe(keyTtlMs / 4);
    expect(fixture.map.begins(keyTtlMs / 4)).toBe(true);
    expect(fixture.map.counted(undefined, 0)).toBe(false);
  });
});

describe("what is told", () => {
  it("[Z22] is taken while somebody is subscribed, or has just read the map", () => {
    const fixture = new Fixture();
    expect(fixture.told([here(client("a"))], 0)).toEqual({ outcome: "taken" });
    expect(fixture.keys).toEqual(["a"]);
    const read = new Fixture();
    read.isHeld = false;
    expect(read.told([here(client("a"))], 0)).toEqual({ outcome: "left" });
    expect(read.keys).toEqual([]);
    read.ready();
    read.map.begins(0);
    read.list([]);
    expect(read.told([here(client("a"))], keyTtlMs / 2 - 1)).toEqual({ outcome: "taken" });
    expect(read.told([here(client("b"))], keyTtlMs / 2)).toEqual({ outcome: "left" });
    expect(read.keys).toEqual(["a"]);
  });

  it("[Z22] changes nothing twice", () => {
    const fixture = new Fixture();
    fixture.told([here(client("a")), here(client("a")), away(client("b"))], 0);
    fixture.told([away(client("a")), away(client("a"))], 0);
    expect(fixture.changes).toEqual(["a", "-a"]);
  });

  it("[Z21] [Z35] of users has no info, and no anonymous ones or others without a key", () => {
    const fixture = new Fixture("users");
    const long = "x".repeat(limits.mapKeyBytesMax);
    const users = ["ada", "", "ada", long, `${long}x`].map((user) => here({ user, client: "" }));
    fixture.told(users, 0);
    expect(fixture.keys).toEqual(["ada", long]);
    expect(fixture.opened.map.entry("ada")?.info).toBeUndefined();
  });
});

describe("a user", () => {
  it("[Z23] ends key_ttl after the first census that missed it, and stays if it comes back", () => {
    const fixture = new Fixture("users");
    const [ada, bob] = [client("", "ada"), client("", "bob")];
    fixture.count([ada, bob]);
    fixture.count([]);
    const missedMs = fixture.nowMs;
    fixture.nowMs += 1_000;
    fixture.told([here(ada)], fixture.nowMs);
    fixture.count([ada]);
    fixture.nowMs = missedMs + keyTtlMs;
    expect(fixture.keys).toEqual(["ada"]);
    expect(fixture.changes).toEqual(["-bob"]);
    fixture.count([]);
    fixture.nowMs += keyTtlMs;
    expect(fixture.keys).toEqual([]);
  });

  it("[Z23] [Z11] that was missed ends at the same time after a hibernation, and others don't", () => {
    const fixture = new Fixture("users");
    const [ada, bob] = [client("", "ada"), client("", "bob")];
    fixture.count([ada, bob]);
    fixture.count([ada]);
    const missedMs = fixture.nowMs;
    fixture.opened.map.rest(missedMs + mapLimits.mapRestMs);
    const woken = new Fixture("users", fixture.sql, missedMs + keyTtlMs - 1);
    expect(woken.keys).toEqual(["ada", "bob"]);
    woken.nowMs++;
    expect(woken.keys).toEqual(["ada"]);
    woken.nowMs += 10 * keyTtlMs;
    expect(woken.keys).toEqual(["ada"]);
  });
});

describe("an alarm", () => {
  it("[Z22] counts at once in an instance that it wakes, and otherwise when a census is due", () => {
    const fixture = new Fixture();
    fixture.map.ring(5);
    expect(fixture.map.begins(5)).toBe(true);
    fixture.list([client("a")]);
    fixture.map.ring(6);
    expect(fixture.map.begins(6)).toBe(false);
  });

  it("[Z28] has the map forget its keys, with its epoch, once nobody has looked for a while", () => {
    const fixture = new Fixture();
    fixture.count([client("a")]);
    const { epoch } = fixture.opened.channel.top ?? fail();
    fixture.isHeld = false;
    fixture.map.ring(fixture.nowMs + keyTtlMs / 2 - 1);
    expect(fixture.keys).toEqual(["a"]);
    expect(fixture.map.dueAtMs(fixture.nowMs)).toBe(fixture.nowMs + keyTtlMs / 2);
    fixture.map.ring(fixture.nowMs + keyTtlMs / 2);
    expect(fixture.keys).toEqual([]);
    expect(fixture.opened.channel.top?.epoch).not.toBe(epoch);
    expect(fixture.map.dueAtMs(fixture.nowMs)).toBe(Number.POSITIVE_INFINITY);
  });

  it("[Z22] has no alarm ring in vain after a census that took long", () => {
    const fixture = new Fixture();
    const { map } = fixture;
    fixture.isHeld = false;
    fixture.ready();
    expect(map.begins(fixture.nowMs)).toBe(true);
    fixture.nowMs += 3_000;
    fixture.list([client("a")]);
    expect(fixture.keys).toEqual(["a"]);
    fixture.nowMs = map.dueAtMs(fixture.nowMs);
    map.ring(fixture.nowMs);
    expect(fixture.keys).toEqual([]);
    expect(map.dueAtMs(fixture.nowMs)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("a presence map that is full", () => {
  it("[Z24] has those that came first, and the others as soon as there is room", () => {
    const fixture = new Fixture();
    const large = parseJsonText(JSON.stringify("x".repeat(1_000_000))) ?? fail();
    const all = Array.from({ length: 20 }, (_, index) => ({
      ...client(`c${10 + index}`),
      connInfo: large,
    }));
    const fits = Math.floor(mapLimits.ephemeralStateBytesMax / 1_000_500);
    fixture.count(all);
    expect(fixture.keys).toHaveLength(fits);
    const first = all[0] ?? fail();
    fixture.told([away(first)], fixture.nowMs);
    fixture.count(all.slice(1));
    expect(fixture.keys).toHaveLength(fits);
    expect(fixture.keys).toContain(`c${10 + fits}`);
  });
});

describe("a key that ends at a time of its own", () => {
  it("[Z23] ends then and not before, and not if it was changed or is to stay", () => {
    const { opened } = new Fixture();
    const fixture = new Fixture();
    const { map } = fixture.opened;
    fixture.told(
      ["a", "b", "c", "d"].map((name) => here(client(name))),
      0,
    );
    for (const key of ["a", "b", "c", "unknown"]) map.endAt(key, 5_000, 0);
    map.endAt("b", 9_000, 0);
    map.endAt("c", undefined, 0);
    fixture.nowMs = 5_000;
    expect(fixture.keys).toEqual(["b", "c", "d"]);
    unset(map, "b", { nowMs: 6_000 });
    fixture.told([here(client("b"))], 7_000);
    fixture.nowMs = 100_000;
    expect(fixture.keys).toEqual(["b", "c", "d"]);
    expect(opened.map.isEmpty).toBe(true);
  });
});

function fail(): never {
  throw new Error("not there");
}
