import { describe, expect, it } from "vitest";
import { Checker } from "../checker.ts";
import type { ViolationKind } from "../check-result.ts";
import type { MapEntryTold, MapEvent } from "./map-event.ts";

type Untimed<Each> = Each extends MapEvent ? Omit<Each, "time" | "channel"> : never;

/** What clients and a backend saw of one map. */
class Seen {
  readonly #checker = new Checker();
  #time = 0;

  /** @param keyTtlMs how long keys live, if the checker is to judge their ends */
  constructor(mode: "persistent" | "recoverable" | "ephemeral" = "persistent", keyTtlMs?: number) {
    const judged = keyTtlMs === undefined ? {} : { keyTtlMs };
    this.note({ process: "world", type: "info", f: "map", mode, ...judged });
  }

  wait(ms: number): this {
    this.#time += 1_000 * ms;
    return this;
  }

  note(event: Untimed<MapEvent>): this {
    this.#checker.take({ ...event, time: ++this.#time, channel: "m" });
    return this;
  }

  /** A backend sets a key at this offset. */
  set(key: string, value: string, offset: number): this {
    return this.change({ change: value, key, value }, offset);
  }

  remove(key: string, offset: number): this {
    return this.change({ change: `removal ${offset}`, key }, offset);
  }

  /** A backend sets a key under a condition, and it is made. */
  ask(
    key: string,
    value: string,
    condition: { readonly version?: number; readonly ifOffset?: number },
    offset: number,
  ): this {
    return this.change({ change: value, key, value, ...condition }, offset);
  }

  change(
    what: { readonly change: string; readonly key: string; readonly value?: string },
    offset: number,
  ): this {
    const told = { process: "backend", f: "map-change", ...what } as const;
    return this.note({ ...told, type: "invoke" }).note({ ...told, type: "ok", epoch: "e", offset });
  }

  /** A client has read the state as of an offset. */
  begin(state: readonly MapEntryTold[], offset: number, process = "c1"): this {
    const begun = { process, type: "ok", f: "map-subscribe", epoch: "e" } as const;
    return this.note({ ...begun, state, changes: [], since: offset, offset });
  }

  recover(since: number, changes: readonly MapEntryTold[], offset: number): this {
    const begun = { process: "c1", type: "ok", f: "map-subscribe", epoch: "e" } as const;
    return this.note({ ...begun, since, changes, offset });
  }

  deliver(entry: MapEntryTold, process = "c1"): this {
    return this.note({ process, type: "ok", f: "map-deliver", ...entry });
  }

  end(leaves = false): this {
    return this.note({ process: "c1", type: "info", f: "map-end", leaves });
  }

  /** Everything has settled, and the backend reads the state. @returns the kinds of violations */
  read(entries: readonly MapEntryTold[], offset: number): readonly ViolationKind[] {
    this.note({ process: "backend", type: "ok", f: "map-read", epoch: "e", offset, entries });
    this.#checker.take({ process: "world", type: "info", f: "settled", time: ++this.#time });
    return [...this.#checker.finish().violationCounts.keys()].sort();
  }
}

const a1 = { key: "a", value: "v1", offset: 1 };
const b2 = { key: "b", value: "v2", offset: 2 };
const a3 = { key: "a", offset: 3 };
const a3set = { key: "a", value: "v3", offset: 3 };
const a4 = { key: "a", value: "v4", offset: 4 };

/** Two keys, of which a client was told. */
function two(): Seen {
  return new Seen().begin([], 0).set("a", "v1", 1).deliver(a1).set("b", "v2", 2).deliver(b2);
}

describe("the checker of maps", () => {
  it("[Z2] finds nothing where every copy is the map at its offset", () => {
    const seen = two().remove("a", 3).deliver(a3).begin([b2], 3, "c2");
    expect(seen.read([b2], 3)).toEqual([]);
  });

  it("[Z2] finds a key that a client lacks", () => {
    expect(two().begin([b2], 2, "c2").read([a1, b2], 2)).toEqual(["lost"]);
  });

  it("[Z2] finds a key that a client still has although it was removed", () => {
    const seen = two().remove("a", 3).deliver(a3).begin([a1, b2], 3, "c2");
    expect(seen.read([b2], 3)).toEqual(["resurrected"]);
  });

  it("[Z2] finds an old value", () => {
    const a3new = { key: "a", value: "v3", offset: 3 };
    const seen = two().set("a", "v3", 3).deliver(a3new).begin([a1, b2], 3, "c2");
    expect(seen.read([a3new, b2], 3)).toEqual(["diverged"]);
  });

  it("[Z3] finds a key on two pages, and one that was changed after the first page", () => {
    expect(two().begin([a1, a1, b2], 2, "c2").read([a1, b2], 2)).toEqual(["doubled"]);
    expect(new Seen().set("a", "v1", 1).begin([a1], 0).deliver(a1).read([a1], 1)).toEqual([
      "doubled",
      "invented",
    ]);
  });

  it("[Z1] finds changes that are missing, repeated or of nobody", () => {
    expect(
      new Seen().set("a", "v1", 1).set("b", "v2", 2).begin([], 0).deliver(b2).read([a1, b2], 2),
    ).toEqual(["hole", "lost"]);
    expect(two().deliver(b2).read([a1, b2], 2)).toContain("doubled");
    expect(two().deliver({ key: "c", value: "?", offset: 3 }).read([a1, b2], 2)).toContain(
      "invented",
    );
  });

  it("[Z6] finds an end that is told twice", () => {
    const seen = two().deliver(a3).deliver({ key: "a", offset: 4 });
    expect(seen.read([b2], 4)).toEqual(["doubled"]);
  });

  it("[Z7] finds a value that was suppressed", () => {
    const told = {
      process: "backend",
      f: "map-change",
      change: "x",
      key: "a",
      value: "x",
    } as const;
    const seen = two()
      .note({ ...told, type: "invoke" })
      .note({ ...told, type: "ok", suppressed: "version" })
      .deliver({ key: "a", value: "x", offset: 3 });
    expect(seen.read([{ key: "a", value: "x", offset: 3 }, b2], 3)).toContain("resurrected");
  });

  it("[O1] finds a change that comes before one that was acknowledged earlier", () => {
    expect(new Seen().set("b", "v2", 2).set("a", "v1", 1).read([a1, b2], 2)).toEqual(["swapped"]);
  });

  it("[Z7] [Z8] finds a version that isn't newer than the key's, also after a removal", () => {
    const seen = new Seen().ask("a", "v1", { version: 2 }, 1).ask("a", "v2", { version: 3 }, 2);
    expect(seen.remove("a", 3).ask("a", "v4", {}, 4).read([a4], 4)).toEqual([]);
    const late = new Seen().ask("a", "v1", { version: 2 }, 1).remove("a", 2);
    expect(late.ask("a", "v3", { version: 2 }, 3).read([a3set], 3)).toEqual(["resurrected"]);
  });

  it("[Z9] finds a change whose offset isn't the key's", () => {
    const seen = new Seen().ask("a", "v1", { ifOffset: 0 }, 1).ask("a", "v2", { ifOffset: 1 }, 2);
    expect(seen.remove("a", 3).ask("a", "v4", { ifOffset: 0 }, 4).read([a4], 4)).toEqual([]);
    const wrong = new Seen().set("a", "v1", 1).ask("a", "v2", { ifOffset: 0 }, 2);
    expect(wrong.read([{ key: "a", value: "v2", offset: 2 }], 2)).toEqual(["resurrected"]);
    const old = new Seen().set("a", "v1", 1).set("a", "v2", 2).ask("a", "v3", { ifOffset: 1 }, 3);
    expect(old.read([a3set], 3)).toEqual(["resurrected"]);
    // What nobody was told of may have been the removal of the key.
    const unsure = new Seen().set("a", "v1", 1).ask("a", "v3", { ifOffset: 0 }, 3);
    expect(unsure.read([a3set], 3)).toEqual([]);
  });

  it("[Z6] finds keys that end too early, or not in their turn", () => {
    const ends = (first: "a" | "b", keyTtlMs: number) =>
      new Seen("recoverable", keyTtlMs)
        .begin([], 0)
        .set("a", "v1", 1)
        .deliver(a1)
        .set("b", "v2", 2)
        .deliver(b2)
        .wait(2_000)
        .deliver({ key: first, offset: 3 })
        .deliver({ key: first === "a" ? "b" : "a", offset: 4 })
        .read([], 4);
    expect(ends("a", 1_000)).toEqual([]);
    expect(ends("b", 1_000)).toEqual(["swapped"]);
    expect(ends("a", 3_000)).toEqual(["lost"]);
    const asked = { process: "c1", f: "map-change", change: "removal", key: "b" } as const;
    const removed = new Seen("recoverable", 1_000).begin([], 0).set("a", "v1", 1).deliver(a1);
    removed
      .set("b", "v2", 2)
      .deliver(b2)
      .note({ ...asked, type: "invoke" });
    expect(removed.deliver({ key: "b", offset: 3 }).read([a1], 3)).toEqual([]);
  });

  it("[Z4] finds a client that goes on from elsewhere, and lets one recover", () => {
    expect(two().end().remove("a", 3).recover(2, [a3], 3).read([b2], 3)).toEqual([]);
    expect(two().end().remove("a", 3).recover(1, [a3], 3).read([b2], 3)).toContain("hole");
  });

  it("[Z2] finds a client that isn't told in the end, or isn't subscribed", () => {
    expect(two().remove("a", 3).read([b2], 3)).toEqual(["lost", "resurrected"]);
    expect(two().end().read([a1, b2], 2)).toEqual(["absent"]);
    expect(two().end(true).read([a1, b2], 2)).toEqual([]);
  });

  it("[Z2] judges no key that an unknown change may have changed", () => {
    const c4 = { key: "c", value: "v4", offset: 4 };
    const seen = new Seen().set("a", "v1", 1).set("c", "v4", 4).begin([c4], 4);
    expect(seen.read([c4], 4)).toEqual([]);
  });

  it("[Z14] compares a client that is told no offsets in the end", () => {
    const bare = { process: "c1", type: "ok", f: "map-subscribe", epoch: "e" } as const;
    const seen = (value: string) =>
      new Seen("ephemeral")
        .note({ ...bare, state: [], changes: [] })
        .set("a", "v1", 1)
        .set("a", "v2", 2)
        .deliver({ key: "a", value });
    const read = [{ key: "a", value: "v2", offset: 2 }];
    expect(seen("v2").read(read, 2)).toEqual([]);
    expect(seen("v1").read(read, 2)).toEqual(["diverged"]);
  });
});
