import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import type { Holder } from "./place.ts";

/** The state of the objects between two steps of a test (rule S2): clients must not notice any difference. */
export interface ObjectState {
  readonly name: "awake" | "evicted";
  /** Called between two steps. Fails if the instances since the last call aren't as expected. */
  readonly betweenSteps: (objects: readonly Holder[]) => Promise<void>;
}

/** The objects stay in memory. */
export const awake: ObjectState = {
  name: "awake",
  betweenSteps: async (objects) => {
    for (const object of objects) await checkInstance(object, "same");
  },
};

/** The objects are thrown away all the time. */
export const evicted: ObjectState = {
  name: "evicted",
  betweenSteps: async (objects) => {
    for (const object of objects) await checkInstance(object, "another");
    for (const object of objects) await evictDurableObject(object, { webSockets: "hibernate" });
    // No two instances of an object begin in the same millisecond, except with a test's clock that stands still.
    if (vi.isFakeTimers()) vi.setSystemTime(Date.now() + 1);
  },
};

/** Instances by their object's ID, as they were at the last look. */
const instances = new Map<string, DurableObject>();

async function checkInstance(object: Holder, expected: "same" | "another"): Promise<void> {
  const id = object.id.toString();
  await runInDurableObject<DurableObject, void>(object, (instance) => {
    const before = instances.get(id);
    instances.set(id, instance);
    if (before !== undefined) expect(before === instance).toBe(expected === "same");
  });
}
