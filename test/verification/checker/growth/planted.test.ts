import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../../support/random.ts";
import { Checker } from "../checker.ts";
import type { CheckResult, ViolationKind } from "../check-result.ts";
import type { HistoryEvent } from "../history-event.ts";
import type { GrowthEvent, TextShown } from "./growth-event.ts";

type Untimed<Each> = Each extends GrowthEvent ? Omit<Each, "time" | "channel"> : never;

interface Follower {
  readonly name: string;
  readonly deltas: boolean;
  isAttached: boolean;
  /** Whether it came within the window, and is told nothing before its end. */
  isLate: boolean;
  shown: string;
  epoch: number;
  offset: number;
}

/** A map that keeps its promises: one text, which is told in pieces and made durable in windows, and its clients. */
class Model {
  readonly #random: Random;
  readonly #events: HistoryEvent[] = [];
  readonly #followers: readonly Follower[];
  #text = "";
  #durable = "";
  #epoch = 1;
  #offset = 0;
  #hasWindow = false;
  #words = 0;
  #acknowledged = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#followers = ["c1", "c2", "plain"].map((name) => {
      const deltas = name !== "plain";
      return { name, deltas, isAttached: false, isLate: false, shown: "", epoch: 0, offset: 0 };
    });
    this.#append(false);
    for (const follower of this.#followers) this.#come(follower);
  }

  history(actions: number): readonly HistoryEvent[] {
    for (let action = 0; action < actions; action++) this.#do();
    for (const follower of this.#followers) if (!follower.isAttached) this.#come(follower);
    // Ensures that there is something to plant a fault in, which all are told.
    while (this.#hasWindow) this.#endWindow();
    for (let count = 0; count < 4; count++) this.#append(false);
    this.#append(true);
    const texts = [{ key: "k", text: this.#durable }];
    const read = { type: "ok", f: "text-read", asked: this.#events.length, texts } as const;
    this.#note({ process: "b", ...read, epoch: `e${this.#epoch}`, last: true });
    const time = this.#events.length + 1;
    return [...this.#events, { process: "world", type: "info", f: "settled", time }];
  }

  #do(): void {
    const follower = this.#random.pick(this.#followers);
    const choice = this.#random.between(0, 9);
    if (choice < 5) this.#append(false);
    else if (choice < 7) this.#endWindow();
    else if (choice < 8) this.#crash();
    else if (follower.isAttached) this.#leave(follower);
    else this.#come(follower);
  }

  #append(final: boolean): void {
    const writer = { process: "w", f: "append", key: "k" } as const;
    const epoch = `e${this.#epoch}`;
    const length = this.#text.length;
    if (this.#acknowledged > length) {
      this.#note({ ...writer, type: "invoke", at: this.#acknowledged, text: "" });
      this.#note({ ...writer, type: "ok", length, refused: "length_mismatch" });
    }
    const piece = wordOf(++this.#words);
    this.#note({ ...writer, type: "invoke", at: length, text: piece, final });
    this.#text += piece;
    if (this.#hasWindow && !final) this.#tellPiece();
    else this.#store();
    this.#hasWindow = !final;
    this.#acknowledged = this.#text.length;
    this.#note({ ...writer, type: "ok", length: this.#acknowledged, epoch });
  }

  #tellPiece(): void {
    for (const follower of this.#followers) {
      if (follower.isAttached && follower.deltas && !follower.isLate)
        this.#show(follower, this.#text);
    }
  }

  #store(): void {
    this.#durable = this.#text;
    this.#offset++;
    for (const follower of this.#followers)
      if (follower.isAttached) this.#show(follower, this.#text, this.#offset);
  }

  #endWindow(): void {
    if (this.#durable.length < this.#text.length) this.#store();
    else this.#hasWindow = false;
  }

  /** What isn't durable is lost, and its words are sent again. */
  #crash(): void {
    if (this.#durable.length < this.#text.length) this.#epoch++;
    this.#text = this.#durable;
    this.#words = this.#durable.split(" ").length - 1;
    this.#hasWindow = false;
    for (const follower of this.#followers) if (follower.isAttached) this.#leave(follower);
  }

  #leave(follower: Follower): void {
    follower.isAttached = false;
    this.#note({ process: follower.name, type: "info", f: "text-leave" });
  }

  #come(follower: Follower): void {
    const { name: process, deltas } = follower;
    const offset = this.#offset;
    const asked = this.#events.length;
    const came = { process, type: "ok", f: "text-follow", deltas, asked, offset } as const;
    follower.isAttached = true;
    follower.isLate = this.#hasWindow;
    if (follower.epoch === this.#epoch) {
      this.#note({ ...came, epoch: `e${this.#epoch}` });
      if (follower.offset < offset) this.#show(follower, this.#durable, offset);
      return;
    }
    const texts = [{ key: "k", kept: 0, added: this.#durable, offset }];
    this.#note({ ...came, epoch: `e${this.#epoch}`, texts });
    follower.shown = this.#durable;
    follower.epoch = this.#epoch;
    follower.offset = offset;
  }

  #show(follower: Follower, text: string, offset?: number): void {
    const kept = follower.shown.length;
    const told = {
      key: "k",
      kept,
      added: text.slice(kept),
      ...(offset !== undefined && { offset }),
    };
    follower.shown = text;
    if (offset !== undefined) {
      follower.offset = offset;
      follower.isLate = false;
    }
    this.#note({ process: follower.name, type: "ok", f: "text-show", ...told });
  }

  #note(event: Untimed<GrowthEvent>): void {
    this.#events.push({ ...event, channel: "m", time: this.#events.length + 1 });
  }
}

/** No two words have a character at the same place. */
function wordOf(number: number): string {
  return `${String.fromCodePoint(0x4e_00 + number)}, `;
}

function check(history: readonly HistoryEvent[]): CheckResult {
  const checker = new Checker();
  for (const event of history) checker.take(event);
  return checker.finish();
}

/** The last three pieces that a client with deltas was told. */
function lastShown(history: readonly HistoryEvent[], process: string): readonly TextShown[] {
  const shown = history.flatMap((event) => (event.f === "text-show" ? [event] : []));
  return shown.filter((event) => event.process === process && event.added !== "").slice(-3);
}

/** Changes what a client shows with two consecutive pieces. */
type Plant = (one: TextShown, two: TextShown) => readonly [Partial<TextShown>, Partial<TextShown>];

const plants: Readonly<Record<string, { readonly plant: Plant; readonly kind: ViolationKind }>> = {
  "a doubled character": {
    plant: (one) => [{ added: `${one.added.slice(0, 1)}${one.added}` }, {}],
    kind: "doubled",
  },
  "a doubled piece": {
    plant: (one, two) => [{}, { added: `${one.added}${two.added}` }],
    kind: "doubled",
  },
  "a lost piece": {
    plant: (one, two) => [{ added: "" }, { kept: one.kept, added: two.added }],
    kind: "lost",
  },
  "pieces in another order": {
    plant: (one, two) => [{ added: "" }, { kept: one.kept, added: `${two.added}${one.added}` }],
    kind: "swapped",
  },
  "a text that becomes shorter": {
    plant: (_, two) => [{}, { kept: two.kept - 1, added: "" }],
    kind: "forgotten",
  },
  "something that nobody sent": {
    plant: () => [{ added: "???" }, {}],
    kind: "invented",
  },
};

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const actions = fc.integer({ min: 0, max: 60 });

describe("the history of a text that grows", () => {
  it("has no violation if it is correct", () => {
    const correct = fc.property(seeds, actions, (seed, count) => {
      expect(check(new Model(seed).history(count)).violations).toEqual([]);
    });
    fc.assert(correct, { numRuns: 1_000 });
  });

  it.each(Object.entries(plants))("shows %s", (_, { plant, kind }) => {
    const process = fc.constantFrom("c1", "c2");
    const fault = fc.property(seeds, actions, process, (seed, count, name) => {
      const history = new Model(seed).history(count);
      const [one, two] = lastShown(history, name);
      if (one === undefined || two === undefined) throw new Error("too few pieces");
      const [first, second] = plant(one, two);
      const planted = history.map((event) => {
        if (event === one) return Object.assign({}, one, first);
        return event === two ? Object.assign({}, two, second) : event;
      });
      const { violations } = check(planted);
      expect(violations.map((found) => `${found.kind} ${found.process}`)).toContain(
        `${kind} ${name}`,
      );
    });
    fc.assert(fault, { numRuns: 300 });
  });

  it("shows that a client ends with another text than is stored", () => {
    const fault = fc.property(seeds, actions, (seed, count) => {
      const history = new Model(seed).history(count);
      const last = lastShown(history, "c1").at(-1);
      const planted = history.filter((event) => event !== last);
      expect(check(planted).violationCounts.get("diverged")).toBe(1);
    });
    fc.assert(fault, { numRuns: 300 });
  });
});
