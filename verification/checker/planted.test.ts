import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../test/support/random.ts";
import type { Delivered, Happening } from "./happening.ts";
import { HistoryBuilder, verdictOn } from "./history-builder.ts";
import type { ViolationKind } from "./verdict.ts";

type Recovery = "none" | "cache" | "stream";

/** One subscriber of the model: how much of the channel's log it was told. */
interface Listener {
  readonly name: string;
  isAttached: boolean;
  told: number;
}

/** A channel that does what it promises: one log, and each subscriber is told the next of it at some time. */
class Model {
  readonly #random: Random;
  readonly #recovery: Recovery;
  readonly #log: string[] = [];
  readonly #open: string[] = [];
  readonly #listeners: Listener[];
  readonly #builder: HistoryBuilder;
  #count = 0;

  constructor(seed: number, recovery: Recovery) {
    this.#random = new Random(seed);
    this.#recovery = recovery;
    this.#builder = new HistoryBuilder(recovery, recovery === "stream" ? 3 : 0);
    this.#listeners = ["s1", "s2", "s3"].map((name) => ({ name, isAttached: false, told: 0 }));
    for (const listener of this.#listeners) this.#subscribe(listener, false);
  }

  history(deeds: number): readonly Happening[] {
    for (let deed = 0; deed < deeds; deed++) this.#do();
    for (const listener of this.#listeners) {
      if (!listener.isAttached) this.#subscribe(listener, true);
    }
    // So that there is something to lose, whatever was done before.
    for (let count = 0; count < 4; count++) this.#publish();
    for (const value of this.#open.splice(0)) this.#acknowledge(value);
    for (const listener of this.#listeners) this.#catchUp(listener);
    this.#builder.settle().presence("id-s1", "id-s2", "id-s3");
    return this.#builder.happenings;
  }

  #do(): void {
    const listener = this.#random.pick(this.#listeners);
    const choice = this.#random.between(0, 9);
    if (choice < 3) this.#publish();
    else if (choice < 4) {
      const value = this.#open.shift();
      if (value === undefined) return;
      if (this.#random.chance(0.7)) this.#acknowledge(value);
      else this.#builder.leaveOpen(value);
    } else if (choice < 5) {
      const value = `refused${this.#count++}`;
      this.#builder.invoke(value).refuse(value);
    } else if (choice < 8) this.#tellNext(listener);
    else if (!listener.isAttached) this.#subscribe(listener, true);
    else {
      listener.isAttached = false;
      if (choice === 8) this.#builder.detach(listener.name);
      else this.#builder.signal(listener.name);
    }
  }

  #publish(): void {
    const value = `v${this.#count++}`;
    this.#log.push(value);
    this.#open.push(value);
    this.#builder.invoke(value);
  }

  #acknowledge(value: string): void {
    this.#builder.acknowledge(value, "publisher", this.#log.indexOf(value) + 1);
  }

  #tellNext(listener: Listener): void {
    const value = this.#log[listener.told];
    if (!listener.isAttached || value === undefined) return;
    listener.told++;
    this.#builder.hear(listener.name, this.#recovery === "none" ? undefined : listener.told, value);
  }

  #catchUp(listener: Listener): void {
    while (listener.told < this.#log.length) this.#tellNext(listener);
  }

  #subscribe(listener: Listener, recovering: boolean): void {
    const { name, told } = listener;
    const top = this.#log.length;
    listener.isAttached = true;
    if (this.#recovery === "none") {
      listener.told = top;
      this.#builder.subscribe(name);
    } else if (recovering && (this.#recovery === "cache" ? top > 0 : top - told <= 3)) {
      this.#builder.recover(name, told);
      if (this.#recovery === "cache" && told < top) listener.told = top - 1;
      this.#catchUp(listener);
    } else {
      listener.told = top;
      this.#builder.subscribe(name, { recovering, offset: top });
    }
  }
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const deeds = fc.integer({ min: 0, max: 80 });

function isDelivery(happening: Happening): happening is Delivered {
  return happening.f === "deliver";
}

/** The last four that one of the subscribers heard, all in one subscription. */
function lastHeard(history: readonly Happening[], process: string): readonly Delivered[] {
  return history
    .filter(isDelivery)
    .filter((delivered) => delivered.process === process)
    .slice(-4);
}

function replaced(
  history: readonly Happening[],
  old: Happening,
  ...others: readonly Happening[]
): readonly Happening[] {
  return history.flatMap((happening) => (happening === old ? others : [happening]));
}

/** Plants one fault around two neighbours that one subscriber heard. */
type Plant = (
  history: readonly Happening[],
  one: Delivered,
  two: Delivered,
) => readonly Happening[];

const plants: Readonly<
  Record<string, { readonly plant: Plant; readonly kinds: readonly ViolationKind[] }>
> = {
  "a removed delivery": {
    plant: (history, one) => replaced(history, one),
    kinds: ["lost"],
  },
  "a repeated delivery": {
    plant: (history, one) => replaced(history, one, one, one),
    kinds: ["doubled"],
  },
  "two neighbours swapped": {
    plant: (history, one, two) =>
      replaced(replaced(history, two, { ...one, time: two.time }), one, {
        ...two,
        time: one.time,
      }),
    kinds: ["swapped"],
  },
  "an invented value": {
    plant: (history, one) => replaced(history, one, { ...one, value: "made up" }),
    kinds: ["invented"],
  },
  "something old brought back": {
    plant: (history, one, two) => replaced(history, two, two, { ...one, time: two.time }),
    kinds: ["doubled"],
  },
};

describe.each<Recovery>(["none", "cache", "stream"])("with recovery %s", (recovery) => {
  it("nothing is wrong with a history that is as promised", () => {
    fc.assert(
      fc.property(seeds, deeds, (seed, count) => {
        const verdict = verdictOn(new Model(seed, recovery).history(count));
        expect(verdict.violations).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(Object.entries(plants))("%s is always found", (_, { plant, kinds }) => {
    const fault = fc.property(
      seeds,
      deeds,
      fc.constantFrom("s1", "s2", "s3"),
      fc.integer({ min: 0, max: 2 }),
      (seed, count, process, index) => {
        const history = new Model(seed, recovery).history(count);
        const heard = lastHeard(history, process);
        const [one, two] = [heard[index], heard[index + 1]];
        if (one === undefined || two === undefined) throw new Error("too little was heard");
        const { violations } = verdictOn(plant(history, one, two));
        const named = violations.filter(({ kind }) => kinds.includes(kind));
        expect(named.map((violation) => violation.process)).toContain(process);
      },
    );
    fc.assert(fault, { numRuns: 300 });
  });
});

describe("with offsets", () => {
  it.each<Recovery>(["cache", "stream"])("a skipped offset is always found: %s", (recovery) => {
    const fault = fc.property(
      seeds,
      deeds,
      fc.integer({ min: 1, max: 3 }),
      (seed, count, index) => {
        const history = new Model(seed, recovery).history(count);
        const one = lastHeard(history, "s1")[index];
        if (one?.offset === undefined) throw new Error("too little was heard");
        const { violationCounts } = verdictOn(
          replaced(history, one, { ...one, offset: one.offset + 1 }),
        );
        expect(violationCounts.get("hole")).toBeGreaterThanOrEqual(1);
      },
    );
    fc.assert(fault, { numRuns: 300 });
  });
});
