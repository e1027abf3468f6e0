import { afterEach, describe, expect, it } from "vitest";
import { KeptUsers } from "../../../../src/features/cursors/forgetting/kept-users.ts";
import { cursorLimits } from "../../../../src/features/cursors/limits.ts";
import {
  mirrorChange,
  ReceiptsMap,
} from "../../../../src/features/cursors/receipts/receipts-driver.ts";
import type { ReceiptKey } from "../../../../src/features/cursors/calls.ts";
import { ReceiptsSource } from "../../../../src/features/cursors/receipts/receipts-source.ts";
import type { MirrorTelling } from "../../../../src/features/maps/mirror/mirror-line.ts";
import type { StreamPosition } from "../../../../src/protocol/publication.ts";
import { openMap } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const limitsBefore = { ...cursorLimits };
afterEach(() => void Object.assign(cursorLimits, limitsBefore));

const keyTtlMs = 60_000;

/** A channel that keeps marks, and its receipts: the calls between the two objects are made by the test. */
class Fixture {
  readonly kept = new KeptUsers(new NodeSql());
  top: StreamPosition = { epoch: "one", offset: 9 };
  readonly source = new ReceiptsSource(this.kept.marks, () => this.top);
  readonly #map = openMap(
    new NodeSql(),
    { mode: "ephemeral", keyTtlMs },
    { options: { subscriptionType: "map_receipts" } },
  ).map;
  readonly receipts = new ReceiptsMap(this.#map, "room:7", {
    keyTtlMs,
    isHeld: () => this.isHeld,
    nowMs: 0,
  });
  isHeld = true;
  nowMs = 0;

  constructor() {
    this.kept.watcher = this.source;
  }

  mark(user: string, read: number, readMs = 5): void {
    const { epoch } = this.top;
    const mark = { epoch, read, readMs, start: 0, isReset: false, covered: undefined };
    this.kept.mark({ user, ...mark }, this.kept.marks.find(user), this.nowMs);
  }

  /** Makes the call that tells the receipts, if one is due. @returns its changes, undefined for no call */
  tell(): readonly string[] | undefined {
    this.source.checkEpoch();
    const telling = this.source.line.next(this.nowMs);
    if (telling === undefined) return undefined;
    this.#arrive(telling, this.source.edition);
    return telling.changes.map(({ key, data }) => (data === undefined ? `-${key}` : key));
  }

  /** Makes that call. @returns a function that lets it arrive */
  send(): () => void {
    const telling = this.source.line.next(this.nowMs);
    const { edition } = this.source;
    if (telling === undefined) throw new Error("no call is due");
    return () => this.#arrive(telling, edition);
  }

  #arrive(telling: MirrorTelling<ReceiptKey>, edition: string): void {
    const reply = this.receipts.takes(telling.changes.map(mirrorChange), edition, this.nowMs);
    this.source.line.answered(telling, reply.outcome, this.nowMs);
  }

  /**
   * Makes a census if one is due.
   *
   * @param between called while the list is made, and before it is taken
   * @param before  called before the source's object is asked
   */
  count(between?: () => void, before?: () => void): boolean {
    if (!this.receipts.begins(this.nowMs)) return false;
    before?.();
    this.source.line.asked();
    let list = this.source.list();
    for (; list === undefined; list = this.source.list()) between?.();
    const { edition, keys: items } = list;
    between?.();
    this.receipts.counted({ items, isComplete: true, edition }, this.nowMs);
    for (let over = false; !over;) over = this.receipts.slice(this.nowMs);
    return true;
  }

  /** What the receipts show. */
  get shown(): object {
    return Object.fromEntries(
      this.#map.keysAfter("", 100).map((key) => {
        const value: object = JSON.parse(String(this.#map.entry(key)?.data));
        return [key, value];
      }),
    );
  }
}

/** A channel with marks, whose receipts have been counted. */
function looked(marks: Readonly<Record<string, number>>): Fixture {
  const fixture = new Fixture();
  for (const [user, read] of Object.entries(marks)) fixture.mark(user, read);
  fixture.receipts.ready(0, () => {});
  fixture.count();
  // The first mark of an instance has made the receipts ask anew.
  fixture.tell();
  fixture.count();
  return fixture;
}

const at = (read: number, epoch = "one") => ({ read, at_ms: 5, epoch });
const counted = (read: number, users: number) => ({ read, users, epoch: "one" });

describe("receipts", () => {
  it("[CU36] [CU39] show each user who has read something, and marks that go forward", () => {
    const fixture = looked({ ann: 2, bob: 3 });
    expect(fixture.shown).toEqual({ ann: at(2), bob: at(3) });
    fixture.mark("ann", 4);
    fixture.mark("cyd", 1);
    fixture.mark("ann", 5);
    expect(fixture.tell()).toEqual(["cyd", "ann"]);
    expect(fixture.shown).toEqual({ ann: at(5), bob: at(3), cyd: at(1) });
    fixture.kept.forget("bob");
    expect(fixture.tell()).toEqual(["-bob"]);
    expect(fixture.shown).toEqual({ ann: at(5), cyd: at(1) });
  });

  it("[CU39] aren't told of what changes nothing in them", () => {
    const fixture = looked({ ann: 2 });
    const mark = fixture.kept.marks.find("ann");
    if (mark === undefined) throw new Error("no mark");
    const covered = { epoch: "one", since: 0, offset: 3, by: "ping", atMs: 7 } as const;
    fixture.kept.mark({ ...mark, covered }, mark, 8);
    fixture.kept.mark({ ...mark, user: "bob", read: undefined, readMs: undefined }, undefined, 8);
    fixture.kept.forget("bob");
    expect(fixture.tell()).toBeUndefined();
  });

  it("[CU5] [CU39] begin anew with the channel's epoch, also before a mark", () => {
    const fixture = looked({ ann: 2 });
    fixture.top = { epoch: "two", offset: 1 };
    expect(fixture.tell()).toEqual([]);
    expect(fixture.count()).toBe(true);
    expect(fixture.shown).toEqual({});
    fixture.mark("ann", 1);
    expect(fixture.tell()).toEqual(["ann"]);
    expect(fixture.shown).toEqual({ ann: at(1, "two") });
    expect(fixture.count()).toBe(false);
  });

  it("[CU39] ask anew when what they are told is of another list, also while they count", () => {
    const fixture = looked({ ann: 2 });
    fixture.nowMs += keyTtlMs;
    fixture.count(() => {
      fixture.top = { epoch: "two", offset: 3 };
      fixture.mark("bob", 3);
      expect(fixture.tell()).toEqual([]);
    });
    expect(fixture.shown).toEqual({ ann: at(2) });
    expect(fixture.count()).toBe(true);
    expect(fixture.shown).toEqual({ bob: at(3, "two") });
    expect(fixture.count()).toBe(false);
  });

  it("[CU39] show a list of a new epoch, whatever they were told of the one before", () => {
    const fixture = looked({ ann: 2 });
    fixture.nowMs += keyTtlMs;
    fixture.count(undefined, () => {
      fixture.mark("ann", 3);
      expect(fixture.tell()).toEqual(["ann"]);
      fixture.top = { epoch: "two", offset: 1 };
      fixture.mark("ann", 1);
    });
    expect(fixture.shown).toEqual({ ann: at(1, "two") });
  });

  it("[CU39] have what is told while they count, which is newer than the list", () => {
    const fixture = looked({ ann: 2, bob: 2 });
    fixture.nowMs += keyTtlMs;
    fixture.count(() => {
      fixture.mark("ann", 3);
      fixture.kept.forget("bob");
      expect(fixture.tell()).toEqual(["ann", "-bob"]);
    });
    expect(fixture.shown).toEqual({ ann: at(3) });
  });

  it("[CU43] don't go back when what they were told of a user comes later than a newer list", () => {
    const fixture = looked({ ann: 2 });
    fixture.mark("ann", 3);
    const arrive = fixture.send();
    fixture.nowMs += keyTtlMs;
    fixture.mark("ann", 4);
    fixture.count();
    expect(fixture.shown).toEqual({ ann: at(4) });
    arrive();
    expect(fixture.shown).toEqual({ ann: at(4) });
    expect(fixture.tell()).toEqual(["ann"]);
    expect(fixture.shown).toEqual({ ann: at(4) });
  });

  it("[CU43] show less of a user who was forgotten and has begun anew", () => {
    const fixture = looked({ ann: 4 });
    fixture.kept.forget("ann");
    fixture.mark("ann", 3, 6);
    expect(fixture.tell()).toEqual(["ann"]);
    expect(fixture.shown).toEqual({ ann: { ...at(3), at_ms: 6 } });
  });

  it("[CU39] are told nothing while nobody looks, and keep nothing in memory", () => {
    const fixture = new Fixture();
    fixture.isHeld = false;
    fixture.mark("ann", 1);
    expect(fixture.tell()).toEqual([]);
    fixture.mark("ann", 2);
    expect(fixture.tell()).toBeUndefined();
    expect(fixture.source.edition).toBe("");
    fixture.isHeld = true;
    fixture.nowMs += keyTtlMs;
    expect(fixture.count()).toBe(true);
    fixture.mark("bob", 2);
    expect(fixture.tell()).toEqual(["bob"]);
    expect(fixture.shown).toEqual({ ann: at(2), bob: at(2) });
  });
});

describe("receipts of more users than they show one by one", () => {
  it("[CU38] show how many have read up to an offset and no further", () => {
    Object.assign(cursorLimits, { receiptKeysMax: 3 });
    const fixture = looked({ ann: 8, bob: 8, cyd: 9 });
    expect(fixture.shown).toEqual({ ann: at(8), bob: at(8), cyd: at(9) });
    fixture.mark("dan", 9);
    expect(fixture.tell()).toEqual([]);
    expect(fixture.count()).toBe(true);
    expect(fixture.shown).toEqual({ 8: counted(8, 2), 9: counted(9, 2) });
    fixture.mark("ann", 9);
    fixture.mark("eve", 8);
    expect(fixture.tell()).toEqual(["9", "8"]);
    expect(fixture.shown).toEqual({ 8: counted(8, 2), 9: counted(9, 3) });
    fixture.kept.forget("bob");
    fixture.kept.forget("eve");
    expect(fixture.tell()).toEqual(["-8"]);
    fixture.nowMs += keyTtlMs;
    fixture.count();
    expect(fixture.shown).toEqual({ ann: at(9), cyd: at(9), dan: at(9) });
  });

  it("[CU38] show them of the newest publications only", () => {
    Object.assign(cursorLimits, { receiptKeysMax: 2 });
    const fixture = looked({ ann: 7, bob: 8, cyd: 9, dan: 0 });
    expect(fixture.shown).toEqual({ 8: counted(8, 1), 9: counted(9, 1) });
    fixture.mark("dan", 5);
    expect(fixture.tell()).toBeUndefined();
    fixture.top = { epoch: "one", offset: 10 };
    fixture.mark("dan", 10);
    expect(fixture.tell()).toEqual(["10"]);
  });

  it("[CU38] are counted in slices, and right whatever is marked or forgotten meanwhile", () => {
    Object.assign(cursorLimits, { receiptKeysMax: 2, markRowsMax: 2 });
    const fixture = new Fixture();
    const users = ["a", "b", "c", "d", "e", "f", "\u{1F600}", "\uFF5E"];
    for (const user of users) fixture.mark(user, 8);
    fixture.tell();
    const steps = [
      () => {
        fixture.mark("a", 9);
        fixture.mark("\u{1F600}", 9);
      },
      () => fixture.kept.forget("f"),
      () => fixture.kept.forget("b"),
      () => fixture.mark("\uFF5E", 9),
    ];
    fixture.count(() => steps.shift()?.());
    expect(steps).toEqual([]);
    while (fixture.tell() !== undefined);
    expect(fixture.shown).toEqual({ 8: counted(8, 3), 9: counted(9, 3) });
  });
});
