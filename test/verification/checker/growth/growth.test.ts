import { describe, expect, it } from "vitest";
import { Checker } from "../checker.ts";
import type { ViolationKind } from "../check-result.ts";
import type { GrowthEvent, TextTold } from "./growth-event.ts";

type Untimed<Each> = Each extends GrowthEvent ? Omit<Each, "time" | "channel"> : never;

/** What a producer and clients saw of texts that grow in one map. */
class Seen {
  readonly #checker = new Checker();
  #time = 0;

  get time(): number {
    return this.#time;
  }

  note(event: Untimed<GrowthEvent>): this {
    this.#checker.take({ ...event, time: ++this.#time, channel: "m" });
    return this;
  }

  /** A producer sends a piece. */
  send(at: number, text: string, final = false, key = "k"): this {
    return this.note({ process: "writer", type: "invoke", f: "append", key, at, text, final });
  }

  wait(seconds: number): this {
    this.#time += 1_000_000 * seconds;
    return this;
  }

  /** It is told that the text is there. */
  has(length: number, epoch = "e", key = "k"): this {
    return this.note({ process: "writer", type: "ok", f: "append", key, length, epoch });
  }

  /** It is told that the text isn't there, because the text has another length. */
  refuse(length: number, refused = "length_mismatch"): this {
    return this.note({ process: "writer", type: "ok", f: "append", key: "k", length, refused });
  }

  /** A client reads all texts. */
  follow(
    text: string,
    offset: number,
    more: Partial<{
      process: string;
      epoch: string;
      deltas: boolean;
      asked: number;
      of: number;
    }> = {},
  ): this {
    const { process = "c", epoch = "e", deltas = true, asked = this.#time, of = offset } = more;
    const texts = text === "" ? [] : [{ key: "k", kept: 0, added: text, offset: of }];
    const read = { type: "ok", f: "text-follow", asked, epoch, offset, deltas, texts } as const;
    return this.note({ process, ...read });
  }

  recover(offset: number, epoch = "e"): this {
    const read = { type: "ok", f: "text-follow", asked: this.#time, epoch, deltas: true } as const;
    return this.note({ process: "c", ...read, offset });
  }

  show(kept: number, added: string, offset?: number, process = "c", key = "k"): this {
    const told: TextTold = { key, kept, added, ...(offset !== undefined && { offset }) };
    return this.note({ process, type: "ok", f: "text-show", ...told });
  }

  /** A client is told that the key was removed. */
  lose(offset: number): this {
    const told = { key: "k", kept: 0, added: "", offset, removed: true };
    return this.note({ process: "c", type: "ok", f: "text-show", ...told });
  }

  leave(): this {
    return this.note({ process: "c", type: "info", f: "text-leave" });
  }

  /** A client can't apply what it was sent. */
  refuseDelta(): this {
    const problem = "bad checksum";
    return this.note({ process: "c", type: "info", f: "text-unusable", problem });
  }

  remove(offset: number): this {
    const removal = { process: "writer", f: "text-remove", key: "k" } as const;
    return this.note({ ...removal, type: "invoke" }).note({
      ...removal,
      type: "ok",
      epoch: "e",
      offset,
    });
  }

  read(text: string, asked = this.#time): this {
    const texts = [{ key: "k", text }];
    return this.note({ process: "b", type: "ok", f: "text-read", asked, epoch: "e", texts });
  }

  /** Everything has settled, and a backend reads what is stored. @returns the kinds of violations */
  settle(text: string, epoch = "e"): readonly ViolationKind[] {
    const texts = text === "" ? [] : [{ key: "k", text }];
    const read = { type: "ok", f: "text-read", asked: this.#time, epoch, texts } as const;
    this.note({ process: "b", ...read, last: true });
    this.#checker.take({ process: "world", type: "info", f: "settled", time: ++this.#time });
    return this.kinds();
  }

  /** Nothing follows. */
  kinds(): readonly ViolationKind[] {
    return [...this.#checker.finish().violationCounts.keys()].sort();
  }
}

/** A producer has sent "abcdef" and was told so; the first two letters are durable at 1, and "abcd" at 2. */
function grown(): Seen {
  return new Seen().send(0, "ab").has(2).follow("ab", 1).send(2, "cd").has(4).send(4, "ef").has(6);
}

/** The same, and the text has ended with another letter. */
function ended(): Seen {
  return grown().send(6, "g", true).has(7);
}

describe("a text that grows", () => {
  it("is shown in pieces, then with the change that makes them durable, and whole in the end", () => {
    const seen = grown().show(2, "cd").show(4, "", 2).show(4, "ef").send(6, "g", true).has(7);
    expect(seen.show(6, "g", 3).settle("abcdefg")).toEqual([]);
  });

  it("may be shorter after a crash, if the client reads it anew and the epoch is another one", () => {
    const seen = grown().show(2, "cd", 2).show(4, "ef").leave();
    seen.send(6, "g").refuse(4).send(4, "efg").has(7, "f");
    seen.follow("abcd", 2, { epoch: "f" }).show(4, "efg", 3);
    expect(seen.settle("abcdefg", "f")).toEqual([]);
  });

  it("may be shorter when a client that was away reads it in the middle of a window", () => {
    const seen = grown().show(2, "cd").leave().follow("ab", 1).show(2, "cdef", 2);
    expect(seen.settle("abcdef")).toEqual([]);
  });

  it("is recovered with its last change alone", () => {
    const seen = grown().leave().recover(3).show(2, "cdef", 3);
    expect(seen.settle("abcdef")).toEqual([]);
  });

  it("is told without deltas by the last of the changes that come together", () => {
    const seen = grown().follow("ab", 1, { process: "d", deltas: false });
    seen.show(2, "cd", 2).show(4, "ef", 3).show(2, "cdef", 3, "d");
    expect(seen.settle("abcdef")).toEqual([]);
  });

  it("ends with its removal", () => {
    const seen = new Seen().send(0, "ab", true).has(2).follow("ab", 1);
    expect(seen.remove(2).lose(2).settle("")).toEqual([]);
  });

  it("is counted, with how often some of it was taken back", () => {
    const checker = new Checker();
    const writer = { process: "w", channel: "m", f: "append", key: "k" } as const;
    checker.take({ ...writer, type: "invoke", at: 0, text: "ab", time: 1 });
    checker.take({ ...writer, type: "ok", length: 2, epoch: "e", time: 2 });
    checker.take({ ...writer, type: "invoke", at: 2, text: "c", time: 3 });
    checker.take({ ...writer, type: "ok", length: 1, refused: "length_mismatch", time: 4 });
    const { growth } = checker.finish().counts;
    expect(growth).toMatchObject({ texts: 1, appends: 1, takenBack: 1 });
  });
});

describe("what a client shows is found to be wrong if", () => {
  it.each<[string, Seen, ViolationKind]>([
    ["a character comes twice", grown().show(2, "ccd"), "doubled"],
    ["a piece comes twice", grown().show(2, "cd").show(4, "cd"), "doubled"],
    ["the last character comes twice", grown().show(2, "cdeff"), "doubled"],
    ["a piece is missing", grown().show(2, "ef"), "lost"],
    ["a character is missing", grown().show(2, "def"), "lost"],
    ["pieces are swapped", grown().send(6, "gh").has(8).show(2, "efghcd"), "swapped"],
    ["it has something that wasn't sent", grown().show(2, "xyz"), "invented"],
    ["it has something before it was sent", grown().show(2, "cdefg"), "invented"],
    ["it becomes shorter without a word", grown().show(2, "cd").show(3, ""), "forgotten"],
    [
      "it becomes shorter by a recovery",
      grown().show(2, "cd").leave().recover(2).show(3, "", 2),
      "forgotten",
    ],
    ["another text is at its offset", grown().show(2, "cd", 2).follow("abc", 2), "forgotten"],
    ["a change is missing", grown().show(2, "cd", 3), "hole"],
    [
      "a client without deltas gets the last change, and then nothing for a while",
      grown()
        .send(0, "ab", false, "other")
        .has(2, "e", "other")
        .follow("ab", 1, { process: "d", deltas: false })
        .show(2, "cd", 2)
        .show(0, "ab", 3, "c", "other")
        .show(0, "ab", 3, "d", "other")
        .wait(1)
        .show(2, "cdef", 4, "d"),
      "lost",
    ],
    ["a change comes twice", grown().show(2, "cd", 2).show(4, "", 2), "doubled"],
    ["it goes on after a crash as if there had been none", grown().leave().recover(1, "f"), "hole"],
    ["it goes on before where it was", grown().show(2, "cd", 2).leave().recover(1), "hole"],
    ["what it should have recovered doesn't come", grown().leave().recover(2).leave(), "lost"],
    [
      "pieces come instead of what it should have recovered",
      grown().leave().recover(2).show(2, "cd"),
      "lost",
    ],
    ["a delta doesn't fit", grown().refuseDelta(), "diverged"],
    ["it comes without a subscription", grown().leave().show(2, "cd"), "stray"],
    ["it is removed and nobody has asked", grown().lose(2), "lost"],
    [
      "it isn't durable and the client has no deltas",
      grown().follow("ab", 1, { process: "d", deltas: false }).show(2, "cd", undefined, "d"),
      "unpositioned",
    ],
  ])("%s", (_, seen, kind) => {
    expect(seen.kinds()).toContain(kind);
  });
});

describe("what a client reads is found to be wrong if", () => {
  it.each<[string, Seen, ViolationKind]>([
    [
      "it lacks what others know to be durable",
      grown().show(2, "cd", 2).follow("ab", 1, { process: "d", epoch: "f" }),
      "lost",
    ],
    ["it lacks the key", grown().follow("", 1, { process: "d", epoch: "f" }), "lost"],
    ["it was removed before", new Seen().send(0, "ab").remove(2).follow("ab", 3), "resurrected"],
    [
      "the position is after a change that it lacks",
      grown().show(2, "cd", 2).follow("ab", 2, { process: "d", asked: 0, of: 1 }),
      "lost",
    ],
    [
      "the position is after a removal",
      new Seen().send(0, "ab").has(2).follow("ab", 1).remove(2).lose(2).show(0, "ab"),
      "resurrected",
    ],
    ["a backend reads less than is durable", grown().show(2, "cd", 2).read("ab"), "lost"],
    ["a backend reads what wasn't sent", grown().read("abx"), "invented"],
  ])("%s", (_, seen, kind) => {
    expect(seen.kinds()).toContain(kind);
  });

  it("but not if it became durable after the client had asked", () => {
    const seen = grown();
    const asked = seen.time;
    const other = { process: "d", epoch: "f", asked };
    expect(seen.show(2, "cd", 2).follow("ab", 1, other).kinds()).toEqual([]);
  });
});

describe("what a producer is told is found to be wrong if", () => {
  it.each<[string, Seen, ViolationKind]>([
    ["less is there than is durable", grown().show(2, "cd", 2).send(6, "g").refuse(2), "forgotten"],
    [
      "the first piece is gone",
      new Seen().send(0, "ab").has(2).send(2, "c").refuse(0),
      "forgotten",
    ],
    [
      "some of it is gone in the same epoch",
      grown().send(6, "g").refuse(3).send(3, "defg").has(7),
      "forgotten",
    ],
    ["less is acknowledged than before", grown().send(4, "e").has(5), "forgotten"],
    ["more is there than was sent", grown().send(6, "g").refuse(9), "invented"],
    ["less is there than was appended", grown().send(6, "gh").has(7), "lost"],
    ["the value is no text any more", grown().send(6, "g").refuse(6, "not_text"), "diverged"],
    ["it ends before its end", grown().send(6, "g").refuse(6, "final"), "diverged"],
    [
      "it grows after its end",
      grown().send(6, "g", true).has(7).send(7, "h").has(8),
      "resurrected",
    ],
  ])("%s", (_, seen, kind) => {
    expect(seen.kinds()).toContain(kind);
  });

  it("but not if the text has ended", () => {
    const seen = grown().send(6, "g", true).has(7).send(7, "h").refuse(7, "final");
    expect(seen.kinds()).toEqual([]);
  });
});

describe("in the end it is found if", () => {
  it("a text that was ended isn't stored to its end", () => {
    expect(ended().follow("abcdef", 3).settle("abcdef")).toEqual(["lost"]);
  });

  it("more is stored than a text that was ended", () => {
    const seen = grown().send(6, "gh").has(8).send(6, "", true).has(6);
    expect(seen.follow("abcdef", 3).settle("abcdefg")).toContain("resurrected");
  });

  it("what was acknowledged isn't stored, and the epoch is the same", () => {
    expect(grown().follow("abcd", 3).settle("abcd")).toEqual(["lost"]);
    expect(grown().follow("abcd", 3, { epoch: "f" }).settle("abcd", "f")).toEqual([]);
  });

  it("a client shows less, more or nothing of what is stored", () => {
    expect(ended().show(2, "cdef", 2).settle("abcdefg")).toEqual(["diverged"]);
    expect(grown().show(2, "cdef", 2).settle("abcd", "f")).toContain("diverged");
    expect(ended().follow("", 4, { asked: 0 }).settle("abcdefg")).toEqual(["lost"]);
  });

  it("a client shows what was removed", () => {
    const seen = new Seen().send(0, "ab", true).has(2).follow("ab", 1).remove(2);
    expect(seen.settle("")).toEqual(["resurrected"]);
  });

  it("a client isn't there", () => {
    expect(ended().show(2, "cdefg", 2).leave().settle("abcdefg")).toEqual(["absent"]);
  });
});
