import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { MapOptions } from "../../../../src/features/maps/config.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import type { ChannelMap } from "../../../../src/features/maps/channel-map.ts";
import {
  changesOf,
  type OpenedMap,
  openMap,
  set,
  stateOf,
  unset,
} from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

/** A key as the model knows it. */
interface ModelKey {
  readonly value: number | undefined;
  readonly offset: number;
  readonly version: bigint;
  readonly timeMs: number;
}

/** The simplest program that behaves as a map should. */
class ModelMap {
  readonly #ttlMs: number;
  readonly keys = new Map<string, ModelKey>();
  readonly #firsts = new Map<string, number>();
  changes: string[] = [];

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  get state(): Record<string, string> {
    const there = [...this.keys].filter(([, { value }]) => value !== undefined);
    return Object.fromEntries(there.map(([key, { value }]) => [key, String(value)]));
  }

  /** Ends keys, in the order in which they were changed. */
  expire(nowMs: number): void {
    if (this.#ttlMs === 0) return;
    const due = [...this.keys].filter(
      ([, { value, timeMs }]) => value !== undefined && this.#endOf(timeMs) <= nowMs,
    );
    due.sort(([, one], [, other]) => one.offset - other.offset);
    for (const [key, { version }] of due) this.#change(key, undefined, version, nowMs);
  }

  set(key: string, value: number, step: Step, nowMs: number): string {
    const known = this.keys.get(key);
    const isThere = known?.value !== undefined;
    if (step.idempotencyKey !== "" && this.#firsts.has(step.idempotencyKey))
      return `idempotency ${this.#firsts.get(step.idempotencyKey)}`;
    const version = BigInt(step.version);
    if (version > 0n && version <= (known?.version ?? 0n)) return "version";
    if (step.keyMode === "if_new" && isThere) return "key_exists";
    if (step.keyMode === "if_exists" && !isThere) return "key_not_found";
    if (step.ifLast && step.ifOffset !== (isThere ? known.offset : 0)) return "position_mismatch";
    this.#change(key, value, version > 0n ? version : (known?.version ?? 0n), nowMs);
    return this.#done(step);
  }

  unset(key: string, step: Step, nowMs: number): string {
    const known = this.keys.get(key);
    if (step.idempotencyKey !== "" && this.#firsts.has(step.idempotencyKey))
      return `idempotency ${this.#firsts.get(step.idempotencyKey)}`;
    if (known?.value === undefined) return "key_not_found";
    if (step.ifLast && step.ifOffset !== known.offset) return "position_mismatch";
    this.#change(key, undefined, known.version, nowMs);
    return this.#done(step);
  }

  #done({ idempotencyKey }: Step): string {
    const offset = this.changes.length;
    if (idempotencyKey !== "") this.#firsts.set(idempotencyKey, offset);
    return `changed ${offset}`;
  }

  #change(key: string, value: number | undefined, version: bigint, timeMs: number): void {
    this.changes.push(value === undefined ? `-${key}` : `${key}=${value}`);
    this.keys.set(key, { value, offset: this.changes.length, version, timeMs });
  }

  #endOf(timeMs: number): number {
    const grainMs = mapLimits.mapExpiryGrainMs;
    return Math.ceil((timeMs + this.#ttlMs) / grainMs) * grainMs;
  }
}

interface Step {
  readonly key: string;
  readonly isSet: boolean;
  readonly keyMode: "" | "if_new" | "if_exists";
  readonly version: number;
  readonly idempotencyKey: string;
  /** Whether the change has `if_offset`. */
  readonly ifLast: boolean;
  readonly ifOffset: number;
  readonly afterMs: number;
  /** The events of the object before the step: it may hibernate, and its alarm may ring. */
  readonly before: "" | "wake" | "alarm" | "wake and alarm";
}

const step = fc.record<Step>({
  key: fc.constantFrom("a", "b", "c", "d"),
  isSet: fc.boolean(),
  keyMode: fc.constantFrom("", "", "", "if_new", "if_exists"),
  version: fc.constantFrom(0, 0, 1, 2, 3),
  idempotencyKey: fc.constantFrom("", "", "", "one", "two"),
  ifLast: fc.constantFrom(false, false, true),
  ifOffset: fc.nat(8),
  afterMs: fc.nat(5_000),
  before: fc.constantFrom("", "", "wake", "alarm", "wake and alarm"),
});

const modes: readonly (readonly [string, Partial<MapOptions>])[] = [
  ["persistent", { mode: "persistent", keyTtlMs: 0 }],
  ["recoverable", { mode: "recoverable", keyTtlMs: 10_000 }],
  ["ephemeral", { mode: "ephemeral", keyTtlMs: 10_000 }],
];

it.each(modes)(
  "[Z1] [Z2] [Z6] [Z7] [Z8] [Z9] a %s map does what the model does, whenever it wakes",
  (mode, options) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const sql = new NodeSql();
        const model = new ModelMap(options.keyTtlMs ?? 0);
        let nowMs = 1_000;
        let opened = open();
        function open(): OpenedMap {
          return openMap(sql, options, { nowMs, options: { historyTtlMs: 3_600_000 } });
        }
        for (const [value, one] of steps.entries()) {
          nowMs += one.afterMs;
          if (one.before.includes("wake")) {
            // The platform lets an object hibernate only once it rests.
            opened.map.rest(nowMs + mapLimits.mapRestMs);
            opened = open();
          }
          if (one.before.includes("alarm")) ring(opened.map, nowMs);
          // An ephemeral map forgets idempotency keys when it hibernates.
          const used = mode === "ephemeral" ? { ...one, idempotencyKey: "" } : one;
          const told = carryOut(opened.map, used, value, nowMs);
          // A change ends the keys that are due.
          model.expire(nowMs);
          const expected = one.isSet
            ? model.set(one.key, value, used, nowMs)
            : model.unset(one.key, used, nowMs);
          expect(told).toBe(expected);
          expect(stateOf(opened.map, nowMs, 2)).toEqual(model.state);
          expect(opened.map.keys(nowMs)).toBe(Object.keys(model.state).length);
        }
        nowMs += 20_000;
        ring(opened.map, nowMs);
        model.expire(nowMs);
        expect(stateOf(opened.map, nowMs)).toEqual(model.state);
        expect(opened.channel.top?.offset ?? 0).toBe(model.changes.length);
        // An ephemeral map forgets its changes when it hibernates.
        const kept = changesOf(opened.channel, nowMs);
        const first = mode === "ephemeral" ? model.changes.length - kept.length : 0;
        expect(kept).toEqual(model.changes.slice(first));
      }),
    );
  },
);

/** The alarm rings until nothing is due. */
function ring(map: ChannelMap, nowMs: number): void {
  for (let rings = 0; (map.dueAtMs ?? Infinity) <= nowMs; rings++) {
    expect(rings).toBeLessThan(5);
    map.expire(nowMs);
  }
}

function carryOut(map: ChannelMap, one: Step, value: number, nowMs: number): string {
  const { key, isSet, keyMode, version, idempotencyKey, ifLast, ifOffset } = one;
  const common = { idempotencyKey, nowMs, ...(ifLast ? { ifOffset } : {}) };
  const outcome = isSet
    ? set(map, key, value, { ...common, keyMode, version: BigInt(version) })
    : unset(map, key, common);
  switch (outcome.outcome) {
    case "changed":
      return `changed ${outcome.position.offset}`;
    case "suppressed":
      return outcome.reason === "idempotency"
        ? `idempotency ${outcome.position.offset}`
        : outcome.reason;
    case "full":
    case "too-many-keys":
      return outcome.outcome;
  }
}
