import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";

const context = new AsyncLocalStorage<"the work of a test">();

/**
 * Fakes the timers that the work of one test sets, and counts those that still wait. Other work in the same isolate keeps real
 * timers: objects of a file before, or a report of what the edge has counted. An object's timer can't ring in a test's context.
 */
export class OwnTimers {
  readonly #waiting = new Set<unknown>();

  /** @param toFake what else of the clock is faked; see `vi.useFakeTimers` */
  constructor(...toFake: "Date"[]) {
    const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", ...toFake] });
    const { setTimeout, clearTimeout } = globalThis;
    // `vi.useRealTimers` takes these away as well.
    Object.assign(globalThis, {
      setTimeout: (work: () => void, waitMs?: number) => {
        if (context.getStore() === undefined) return real.setTimeout(work, waitMs);
        const timer = setTimeout(() => {
          this.#waiting.delete(timer);
          work();
        }, waitMs);
        this.#waiting.add(timer);
        return timer;
      },
      clearTimeout: (timer: Parameters<typeof clearTimeout>[0]) => {
        if (this.#waiting.delete(timer)) clearTimeout(timer);
        else real.clearTimeout(timer);
      },
    });
  }

  /** Does the work whose timers are counted, also those that it sets after an await. */
  of<Result>(work: () => Result): Result {
    return context.run("the work of a test", work);
  }

  get waiting(): number {
    return this.#waiting.size;
  }
}
