/**
 * Runs before each test file, on Node.js and in workerd: counts how often the file's tests come to each mutant, and
 * switches on the one that is tried.
 */
import { type TaskMeta, afterAll, afterEach, inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The mutant that is switched on, -1 for none. */
    mutant: number;
    /** How often the tests of a file may come to it: beyond that it has made a loop without an end. */
    visitsMax: number;
  }
  interface TaskMeta {
    /** How often the tests of this file came to each mutant. */
    visits?: readonly (readonly [mutant: number, times: number])[];
  }
}

const active = inject("mutant");
const visitsMax = inject("visitsMax");
const visits = new Map<number, number>();

Reflect.set(globalThis, "mutated", (mutant: number): boolean => {
  if (active < 0) {
    visits.set(mutant, (visits.get(mutant) ?? 0) + 1);
    return false;
  }
  if (mutant !== active) return false;
  const times = (visits.get(mutant) ?? 0) + 1;
  visits.set(mutant, times);
  if (times > visitsMax) throw new Error("a mutant goes round without an end");
  return true;
});

let meta: TaskMeta | undefined;

afterEach(({ task }) => {
  ({ meta } = task.file);
});

afterAll(() => {
  if (meta !== undefined) meta.visits = [...visits];
  // What modules do when they are loaded counts for the next file, too.
  if (active < 0) vi.resetModules();
});
