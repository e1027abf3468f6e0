import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";

const context = new AsyncLocalStorage<"the work of a test">();

/**
 * Fakes the timers of the isolate, and counts those that the work of one test has set and that still wait. Other work may set
 * timers in the same isolate meanwhile: objects of a file before, or a report of what the edge has counted.
 */
export class OwnTimers {
  readonly #waiting = new Set<unknown>();

  /** @param toFake what else of the clock is faked; see `vi.useFakeTimers` */
  constructor(...toFake: "Date"[]) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", ...toFake] });
    const { setTimeout, clearTimeout } = globalThis;
    // `vi.useRealTimers` takes these away as well.
    Object.assign(globalThis, {
      setTimeout: (work: () => void, waitMs?: number) => {
        const timer = setTimeout(() => {
          this.#waiting.delete(timer);
          work();
        }, waitMs);
        if (context.getStore() !== undefined) this.#waiting.add(timer);
        return timer;
      },
      clearTimeout: (timer: Parameters<typeof clearTimeout>[0]) => {
        this.#waiting.delete(timer);
        clearTimeout(timer);
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
