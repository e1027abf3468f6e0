import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../support/random.ts";
import type { Delivered, HistoryEvent } from "./history-event.ts";
import { HistoryBuilder, checkHistory } from "./history-builder.ts";
import type { ViolationKind } from "./check-result.ts";

type Recovery = "none" | "cache" | "stream";

/** A subscriber of the model, and how much of the channel's log it received. */
interface SimulatedSubscriber {
  readonly name: string;
  isAttached: boolean;
  delivered: number;
}

/** A channel that keeps its promises: one log, of which each subscriber receives the next entry at some time. */
class Model {
  readonly #random: Random;
  readonly #recovery: Recovery;
  readonly #log: string[] = [];
  readonly #open: string[] = [];
  readonly #subscribers: SimulatedSubscriber[];
  readonly #builder: HistoryBuilder;
  #count = 0;

  constructor(seed: number, recovery: Recovery) {
    this.#random = new Random(seed);
    this.#recovery = recovery;
    this.#builder = new HistoryBuilder(recovery, recovery === "stream" ? 3 : 0);
    this.#subscribers = ["s1", "s2", "s3"].map((name) => ({
      name,
      isAttached: false,
      delivered: 0,
    }));
    for (const subscriber of this.#subscribers) this.#subscribe(subscriber, false);
  }

  history(actions: number): readonly HistoryEvent[] {
    for (let action = 0; action < actions; action++) this.#do();
    for (const subscriber of this.#subscribers) {
      if (!subscriber.isAttached) this.#subscribe(subscriber, true);
    }
    // Ensures that there are publications to lose.
    for (let count = 0; count < 4; count++) this.#publish();
    for (const value of this.#open.splice(0)) this.#acknowledge(value);
    for (const subscriber of this.#subscribers) this.#catchUp(subscriber);
    this.#builder.settle().presence("id-s1", "id-s2", "id-s3");
    return this.#builder.happenings;
  }

  #do(): void {
    const subscriber = this.#random.pick(this.#subscribers);
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
    } else if (choice < 8) this.#deliverNext(subscriber);
    else if (!subscriber.isAttached) this.#subscribe(subscriber, true);
    else {
      subscriber.isAttached = false;
      if (choice === 8) this.#builder.detach(subscriber.name);
      else this.#builder.signal(subscriber.name);
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

  #deliverNext(subscriber: SimulatedSubscriber): void {
    const value = this.#log[subscriber.delivered];
    if (!subscriber.isAttached || value === undefined) return;
    subscriber.delivered++;
    this.#builder.deliver(
      subscriber.name,
      this.#recovery === "none" ? undefined : subscriber.delivered,
      value,
    );
  }

  #catchUp(subscriber: SimulatedSubscriber): void {
    while (subscriber.delivered < this.#log.length) this.#deliverNext(subscriber);
  }

  #subscribe(subscriber: SimulatedSubscriber, recovering: boolean): void {
    const { name, delivered: reported } = subscriber;
    const top = this.#log.length;
    subscriber.isAttached = true;
    if (this.#recovery === "none") {
      subscriber.delivered = top;
      this.#builder.subscribe(name);
    } else if (recovering && (this.#recovery === "cache" ? top > 0 : top - reported <= 3)) {
      this.#builder.recover(name, reported);
      if (this.#recovery === "cache" && reported < top) subscriber.delivered = top - 1;
      this.#catchUp(subscriber);
    } else {
      subscriber.delivered = top;
      this.#builder.subscribe(name, { recovering, offset: top });
    }
  }
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const actions = fc.integer({ min: 0, max: 80 });

function isDelivery(event: HistoryEvent): event is Delivered {
  return event.f === "deliver";
}

/** The last four publications that one subscriber received in one subscription. */
function lastReceived(history: readonly HistoryEvent[], process: string): readonly Delivered[] {
  return history
    .filter(isDelivery)
    .filter((delivered) => delivered.process === process)
    .slice(-4);
}

function replaced(
  history: readonly HistoryEvent[],
  old: HistoryEvent,
  ...others: readonly HistoryEvent[]
): readonly HistoryEvent[] {
  return history.flatMap((event) => (event === old ? others : [event]));
}

/** Plants one fault around two consecutive deliveries of one subscriber. */
type Plant = (
  history: readonly HistoryEvent[],
  one: Delivered,
  two: Delivered,
) => readonly HistoryEvent[];

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
  it("a correct history has no violation", () => {
    fc.assert(
      fc.property(seeds, actions, (seed, count) => {
        const result = checkHistory(new Model(seed, recovery).history(count));
        expect(result.violations).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(Object.entries(plants))("%s is always found", (_, { plant, kinds }) => {
    const fault = fc.property(
      seeds,
      actions,
      fc.constantFrom("s1", "s2", "s3"),
      fc.integer({ min: 0, max: 2 }),
      (seed, count, process, index) => {
        const history = new Model(seed, recovery).history(count);
        const received = lastReceived(history, process);
        const [one, two] = [received[index], received[index + 1]];
        if (one === undefined || two === undefined) throw new Error("too few deliveries");
        const { violations } = checkHistory(plant(history, one, two));
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
      actions,
      fc.integer({ min: 1, max: 3 }),
      (seed, count, index) => {
        const history = new Model(seed, recovery).history(count);
        const one = lastReceived(history, "s1")[index];
        if (one?.offset === undefined) throw new Error("too few deliveries");
        const { violationCounts } = checkHistory(
          replaced(history, one, { ...one, offset: one.offset + 1 }),
        );
        expect(violationCounts.get("hole")).toBeGreaterThanOrEqual(1);
      },
    );
    fc.assert(fault, { numRuns: 300 });
  });
});
