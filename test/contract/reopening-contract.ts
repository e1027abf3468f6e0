import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import type { Sql } from "../../src/sql.ts";
import { limits } from "../../src/limits.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import { openChannel, publishing } from "./open-channel.ts";
import { StreamModel } from "./stream-model.ts";

/**
 * Random sequences of instances of a channel, compared step by step with a model: rules H1 to H10 and I1 to I3
 * together.
 */
export function reopeningContract(onFreshStorage: OnFreshStorage): void {
  it("[H3] [H4] [H5] [H7] [H9] [H10] [I1] [I3] answers as if it had never hibernated, whenever it is reopened", async () => {
    const property = fc.asyncProperty(instances, (instance) =>
      onFreshStorage((sql) => {
        expect(answers(opened(sql, instance), instance)).toEqual(
          answers(modelled(instance), instance),
        );
      }),
    );
    await fc.assert(property, { seed: 20_261_120, numRuns: 150 });
  });
}

type Step =
  | { readonly step: "wait"; readonly ms: number }
  | { readonly step: "reopen"; readonly size: number }
  | {
      readonly step: "publish";
      readonly idempotencyKey: string;
      readonly skipHistory: boolean;
      readonly version: bigint;
      readonly versionEpoch: string;
    }
  | {
      readonly step: "read";
      /** Counted back from the number of publications so far. */
      readonly sinceBack?: number;
      readonly limit: number;
      readonly reverse: boolean;
    }
  | { readonly step: "remove" }
  | { readonly step: "clean" };

interface Instance {
  readonly size: number;
  readonly ttlMs: number;
  /** How much longer than the publications the position is kept. */
  readonly lingerMs: number;
  readonly steps: readonly Step[];
}

const keys = ["", "", "", "a", "b", "c", "d"];
const ttlMs = 60_000;
const memoryMs = limits.idempotencyMs;

const publishStep = fc.record({
  step: fc.constant("publish" as const),
  idempotencyKey: fc.constantFrom(...keys),
  skipHistory: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.boolean()),
  version: fc.constantFrom(0n, 0n, 0n, 1n, 2n, 3n, 2n ** 64n - 1n),
  versionEpoch: fc.constantFrom("", "", "x"),
});

const readStep = fc.record(
  {
    step: fc.constant("read" as const),
    sinceBack: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: -2, max: 8 }) },
      fc.constant(-(2 ** 64)),
    ),
    limit: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: -1, max: 6 }) },
      fc.constant(2 ** 31),
    ),
    reverse: fc.boolean(),
  },
  { requiredKeys: ["step", "limit", "reverse"] },
);

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: publishStep },
  { weight: 4, arbitrary: readStep },
  { weight: 2, arbitrary: fc.record({ step: fc.constant("reopen" as const), size: ringSize() }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant("wait" as const), ms: waitMs() }) },
  { weight: 1, arbitrary: fc.constant({ step: "remove" as const }) },
  { weight: 1, arbitrary: fc.constant({ step: "clean" as const }) },
);

const instances: fc.Arbitrary<Instance> = fc.record({
  size: ringSize(),
  ttlMs: fc.constantFrom(ttlMs, 2 * memoryMs),
  lingerMs: fc.constantFrom(ttlMs, 3 * memoryMs),
  steps: fc.array(steps, { minLength: 20, maxLength: 120, size: "max" }),
});

function ringSize(): fc.Arbitrary<number> {
  return fc.constantFrom(0, 1, 2, 3, 3, 4, 7);
}

function waitMs(): fc.Arbitrary<number> {
  return fc.constantFrom(1, ttlMs / 2, ttlMs - 1, ttlMs, memoryMs / 2, memoryMs - 1, memoryMs);
}

/** A channel that can be reopened, or its model. */
type Player = Pick<Channel, "publish" | "history" | "removeHistory"> & {
  readonly reopen: (size: number, nowMs: number) => void;
  /** Deletes what has expired, which nobody can tell from the answers. */
  readonly clean: (nowMs: number) => void;
};

function opened(sql: Sql, { size, ttlMs: historyTtlMs, lingerMs }: Instance): Player {
  const historyMetaTtlMs = historyTtlMs + lingerMs;
  let epochs = 0;
  const newEpoch = () => `epoch${++epochs}`;
  const open = (historySize: number, nowMs: number) =>
    openChannel(sql, { options: { historySize, historyTtlMs, historyMetaTtlMs }, newEpoch, nowMs });
  let channel = open(size, 0);
  return {
    publish: (request, info, nowMs) => channel.publish(request, info, nowMs),
    history: (query, nowMs) => channel.history(query, nowMs),
    removeHistory: (nowMs) => channel.removeHistory(nowMs),
    reopen: (historySize, nowMs) => {
      channel = open(historySize, nowMs);
    },
    clean: (nowMs) => channel.deleteExpired(nowMs),
  };
}

function modelled({ size, ttlMs: historyTtlMs, lingerMs }: Instance): Player {
  return new StreamModel(size, historyTtlMs, historyTtlMs + lingerMs);
}

/** The answers of a channel or a model to the steps of an instance. */
function answers(player: Player, instance: Instance): (object | string)[] {
  const given: (object | string)[] = [];
  let nowMs = 0;
  for (const [index, step] of instance.steps.entries()) {
    switch (step.step) {
      case "wait":
        nowMs += step.ms;
        break;
      case "reopen":
        player.reopen(step.size, nowMs);
        break;
      case "publish":
        given.push(player.publish(publishing(index, step), undefined, nowMs));
        break;
      case "read":
        given.push(read(player, step, nowMs));
        break;
      case "clean":
        player.clean(nowMs);
        break;
      case "remove":
        given.push(player.removeHistory(nowMs));
        break;
    }
  }
  return given;
}

function read(
  player: Player,
  { sinceBack, limit, reverse }: Step & { readonly step: "read" },
  nowMs: number,
): object {
  const top = player.history({ limit: 0, reverse }, nowMs);
  if (top.outcome !== "history" || sinceBack === undefined) {
    return player.history({ limit, reverse }, nowMs);
  }
  const since = { ...top.position, offset: Math.max(0, top.position.offset - sinceBack) };
  return player.history({ limit, reverse, since }, nowMs);
}
