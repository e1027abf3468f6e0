import { describe, expect, it } from "vitest";
import { Checker } from "./checker.ts";
import type { ViolationKind } from "./check-result.ts";
import type { MapEntryTold, MapEvent } from "./map-event.ts";

type Untimed<Each> = Each extends MapEvent ? Omit<Each, "time" | "channel"> : never;

/** What clients and a backend saw of one map. */
class Seen {
  readonly #checker = new Checker();
  #time = 0;

  constructor(mode: "persistent" | "ephemeral" = "persistent") {
    this.note({ process: "world", type: "info", f: "map", mode });
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
