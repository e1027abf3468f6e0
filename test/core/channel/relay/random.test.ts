import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { RelayBatchReply, RelayEntry } from "../../../../src/contract/relay-batch.ts";
import type { Delivery } from "../../../../src/channel/follower-progress.ts";
import type { Relay } from "../../../../src/channel/relay.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { ModelGateway } from "../model-gateway.ts";
import { at, checkIntervalMs, openRelay, publication } from "./relay-fixture.ts";

it("[L1] brings every entry to every gateway once and in order, whatever becomes of the calls", () => {
  fc.assert(
    fc.property(anySteps([3]), (steps) => {
      const run = new RandomRun();
      for (const step of steps) run.apply(step);
      run.settle();
      expect(run.faults()).toEqual([]);
      expect(run.gateways.map(({ skipped }) => skipped)).toEqual([0, 0, 0]);
    }),
    { seed: 20_261_121, numRuns: 1_000 },
  );
});

it("[L2] skips entries only beyond the bound, and never in secret", () => {
  let skipped = 0;
  fc.assert(
    fc.property(anySteps([3, 1_000_000, 1_000_000]), (steps) => {
      const run = new RandomRun();
      for (const step of steps) run.apply(step);
      run.settle();
      expect(run.faults()).toEqual([]);
      skipped += run.gateways.reduce((sum, gateway) => sum + gateway.skipped, 0);
    }),
    { seed: 20_261_121, numRuns: 500 },
  );
  expect(skipped).toBeGreaterThan(0);
});

type Step =
  | { readonly type: "publish"; readonly characters: number; readonly count: number }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "call" }
  /** A call reaches its gateway; the answer is on its way. */
  | { readonly type: "arrive"; readonly which: number; readonly busy: boolean }
  /** The channel gets the answer, or gives up: the call may have arrived, or arrive later, or never. */
  | { readonly type: "answer"; readonly which: number; readonly lost: boolean }
  | { readonly type: "arrive-late"; readonly which: number }
  | { readonly type: "follow"; readonly who: number }
  | { readonly type: "unfollow"; readonly who: number }
  | { readonly type: "crash" };

function anySteps(sizes: readonly number[]): fc.Arbitrary<readonly Step[]> {
  const which = fc.nat(7);
  const who = fc.nat(2);
  const weighed = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  const sometimes = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean());
  return fc.array(
    fc.oneof(
      weighed(
        6,
        fc.record({
          type: fc.constant("publish" as const),
          characters: fc.constantFrom(...sizes),
          count: fc.integer({ min: 1, max: 4 }),
        }),
      ),
      weighed(
        3,
        fc.record({ type: fc.constant("wait" as const), ms: fc.constantFrom(100, 5_000, 60_000) }),
      ),
      weighed(8, fc.constant({ type: "call" as const })),
      weighed(8, fc.record({ type: fc.constant("arrive" as const), which, busy: sometimes })),
      weighed(8, fc.record({ type: fc.constant("answer" as const), which, lost: sometimes })),
      weighed(2, fc.record({ type: fc.constant("arrive-late" as const), which })),
      weighed(3, fc.record({ type: fc.constant("follow" as const), who })),
      weighed(1, fc.record({ type: fc.constant("unfollow" as const), who })),
      weighed(1, fc.constant({ type: "crash" as const })),
    ),
    { minLength: 20, maxLength: 120, size: "max" },
  );
}

interface Flight {
  readonly delivery: Delivery;
  /** The gateway followed anew since the call began, so the call's claims about the gateway are outdated. */
  outdated?: true;
  answer?: RelayBatchReply;
}

/** One channel, three gateways, and a network between them that does its worst. */
class RandomRun {
  readonly gateways = [new ModelGateway(), new ModelGateway(), new ModelGateway()];
  readonly #sql = new NodeSql();
  readonly #faults: string[] = [];
  /** All that ever happened, by instance and number. */
  readonly #happened = new Map<string, RelayEntry>();
  #relay: Relay = openRelay(this.#sql);
  #flights: Flight[] = [];
  #late: Delivery[] = [];
  #offset = 0;
  #nowMs = 0;

  apply(step: Step): void {
    switch (step.type) {
      case "publish":
        for (let count = 0; count < step.count; count++) this.#add(step.characters);
        return;
      case "wait":
        this.#nowMs += step.ms;
        return;
      case "call":
        this.#call();
        return;
      case "arrive": {
        const flight = this.#flights[step.which % this.#flights.length];
        if (flight === undefined || flight.answer !== undefined) return;
        const { wanting } = this.#gateway(flight.delivery);
        if (step.busy && wanting) flight.answer = { outcome: "busy" };
        else
          flight.answer = this.#gateway(flight.delivery).receive(
            flight.delivery.batch,
            flight.outdated === true,
          );
        return;
      }
      case "answer": {
        const [flight] = this.#flights.splice(step.which % this.#flights.length, 1);
        if (flight === undefined) return;
        const { delivery, answer } = flight;
        if (answer === undefined) this.#late.push(delivery);
        this.#relay.answered(delivery, step.lost ? "failed" : (answer ?? "failed"), this.#nowMs);
        return;
      }
      case "arrive-late": {
        const [delivery] = this.#late.splice(step.which % this.#late.length, 1);
        if (delivery !== undefined) this.#gateway(delivery).receive(delivery.batch, true);
        return;
      }
      case "follow":
        this.gateways[step.who]?.follow(this.#relay.follow(`${step.who}`, this.#nowMs));
        for (const flight of this.#flights) {
          if (flight.delivery.gateway === `${step.who}`) flight.outdated = true;
        }
        return;
      case "unfollow": {
        const gateway = this.gateways[step.who];
        if (gateway !== undefined) gateway.wanting = false;
        return;
      }
      case "crash":
        this.#late.push(...this.#flights.map(({ delivery }) => delivery));
        this.#flights = [];
        this.#relay = openRelay(this.#sql, { instance: this.#relay.instance + 1 });
    }
  }

  /** From here on the network has no faults, and time passes. */
  settle(): void {
    this.#relay.checkAfterWaking();
    for (let round = 0; round < 20; round++) {
      this.#nowMs += checkIntervalMs;
      this.#call();
      for (const { delivery, answer, outdated = false } of this.#flights) {
        const given = answer ?? this.#gateway(delivery).receive(delivery.batch, outdated);
        this.#relay.answered(delivery, given, this.#nowMs);
      }
      this.#flights = [];
    }
    for (const [who, gateway] of this.gateways.entries()) {
      const follows = this.#relay.gateways.includes(`${who}`);
      if (follows !== gateway.wanting) this.#faults.push(`gateway ${who} follows: ${follows}`);
      if (gateway.wanting && gateway.sequence !== this.#relay.sequence) {
        this.#faults.push(`gateway ${who} is at ${gateway.sequence} of ${this.#relay.sequence}`);
      }
    }
  }

  /** Everything that wasn't as promised. */
  faults(): readonly string[] {
    const wrong = this.gateways.flatMap(({ taken, falseClaims }) => [
      ...falseClaims,
      ...taken.flatMap(({ instance, number, entry }, index) => {
        const before = taken[index - 1];
        const inOrder =
          before === undefined ||
          before.instance < instance ||
          (before.instance === instance && before.number < number);
        const asItWas = this.#happened.get(`${instance}/${number}`) === entry;
        return inOrder && asItWas ? [] : [`${instance}/${number} was wrong`];
      }),
    ]);
    return [...this.#faults, ...wrong];
  }

  #add(characters: number): void {
    const entry = publication(++this.#offset, characters);
    this.#relay.append(entry, at(this.#offset));
    this.#happened.set(`${this.#relay.instance}/${this.#relay.sequence}`, entry);
  }

  #call(): void {
    for (const delivery of this.#relay.deliveries(at(this.#offset), this.#nowMs)) {
      const { gateway, batch } = delivery;
      const last = batch.entries.findLast((entry) => entry.type === "publication");
      const offset = last?.publication.offset ?? this.#offset;
      if (batch.top?.offset !== offset) this.#faults.push(`stands at ${batch.top?.offset}`);
      if (this.#flights.some((flight) => flight.delivery.gateway === gateway)) {
        this.#faults.push(`two calls to gateway ${gateway}`);
      }
      this.#flights.push({ delivery });
    }
  }

  #gateway({ gateway }: Delivery): ModelGateway {
    const found = this.gateways[Number(gateway)];
    if (found === undefined) throw new Error(`no gateway ${gateway}`);
    return found;
  }
}
