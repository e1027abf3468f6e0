import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { placesIn } from "./places.ts";
import { foundAgain, sample } from "./sample.ts";
import { withSwitches } from "./switches.ts";

const source = `
class Queue {
  isFull(size: number): boolean {
    if (this.#closed && size > 1) return true;
    this.#count(size + 1);
    return size >= this.#max;
  }
}
const wait = async () => {
  await told();
};
`;

const found = (text: string) =>
  placesIn("queue.ts", text).map(({ within, kind, text: before, fault }) => [
    within,
    kind,
    before,
    fault,
  ]);

describe("the places for faults", () => {
  it("are conditions, bounds, calls, logical operators and returned booleans", () => {
    const expected = [
      ["Queue.isFull", "bound", "size > 1", "(size) >= (1)"],
      ["Queue.isFull", "turned", "this.#closed && size > 1", "!(this.#closed && size > 1)"],
      ["Queue.isFull", "swapped", "this.#closed && size > 1", "(this.#closed) || (size > 1)"],
      ["Queue.isFull", "negated", "true", "!(true)"],
      ["Queue.isFull", "left out", "this.#count(size + 1)", "undefined"],
      ["Queue.isFull", "bound", "size + 1", "(size) + 1 + 1"],
      ["Queue.isFull", "bound", "size >= this.#max", "(size) > (this.#max)"],
      ["Queue.isFull", "negated", "size >= this.#max", "!(size >= this.#max)"],
      ["wait", "left out", "await told()", "undefined"],
    ];
    expect(new Set(found(source))).toEqual(new Set(expected));
  });

  it("are none in types, in a constructor's call of the one above, and around ??", () => {
    expect(found("type One<T> = T extends string ? true : false;")).toEqual([]);
    expect(found("class One extends Other { constructor() { super(1); } }")).toEqual([]);
    expect(found("const one = given ?? other;")).toEqual([]);
  });
});

/** What the code leaves in its variable `result`. */
const result = (code: string, given: number, active: number): unknown =>
  runInNewContext(`let result; ${code}; result`, {
    given,
    mutated: (id: number) => id === active,
  });

describe("the switches of the faults", () => {
  it("leave the code as it is, and take the fault of the one that is on", () => {
    const text = "result = ((size) => size > 1 && size < 4 || size === 7)(given);";
    const mutants = placesIn("x.ts", text).map((place, id) => ({ place, id }));
    const run = (given: number, active: number) =>
      result(withSwitches(text, mutants), given, active);
    const truth = [0, 1, 2, 3, 4, 5, 6, 7];
    expect(truth.map((given) => run(given, -1))).toEqual(
      truth.map((given) => [2, 3, 7].includes(given)),
    );
    for (const { id, place } of mutants) {
      const alone = text.slice(0, place.start) + place.fault + text.slice(place.end);
      const expected = truth.map((given) => result(alone, given, -1));
      expect(truth.map((given) => run(given, id))).toEqual(expected);
    }
    expect(mutants).toHaveLength(5);
  });
});

describe("the chosen faults", () => {
  const places = placesIn("queue.ts", source);

  it("are the same for the same seed, and of each kind as many", () => {
    expect(sample(places, 3, 5)).toEqual(sample(places, 3, 5));
    expect(new Set(sample(places, 3, 5).map(({ place }) => place.kind)).size).toBe(5);
    expect(sample(places, 3, 100)).toHaveLength(places.length);
  });

  it("are found again after lines have moved, in another file, and not when they are gone", () => {
    const moved = placesIn("queue.ts", `// More.\n\n${source}`);
    expect(foundAgain(places, moved)).toEqual(moved);
    const elsewhere = placesIn("rows/queue.ts", source);
    expect(foundAgain(places, elsewhere)).toEqual(elsewhere);
    const changed = placesIn("queue.ts", source.replace("size > 1", "size > 2"));
    expect(foundAgain(places, changed).filter((place) => place === undefined)).toHaveLength(3);
  });
});
