import { vi } from "vitest";

/**
 * Holds back the turns of the event loop between the slices of frames, until a test lets them go. The callback of a
 * turn runs in its object's own context, as nothing else may send on the object's sockets.
 */
export class HeldTurns {
  readonly #setTimeout = globalThis.setTimeout;
  #permits = 0;
  #nowMs = 0;
  /** How many turns are awaited now. */
  waiting = 0;
  /** The times of the other timers that were set, in ms. */
  readonly timersMs: number[] = [];

  constructor() {
    const held = (work: () => void, waitMs?: number): ReturnType<typeof setTimeout> => {
      if (waitMs === 0) return this.#hold(work);
      if (waitMs !== undefined) this.timersMs.push(waitMs);
      return this.#setTimeout(work, waitMs);
    };
    vi.spyOn(globalThis, "setTimeout").mockImplementation(held);
  }

  /** Stops the clock of the objects: time passes only by {@link passMs}, until {@link release}. */
  stopClock(): void {
    this.#nowMs = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => this.#nowMs);
  }

  passMs(ms: number): void {
    this.#nowMs += ms;
  }

  /** Lets one turn go, and waits until it has run. */
  async next(): Promise<void> {
    this.#permits++;
    while (this.#permits > 0) await this.#pass();
  }

  /** The same, unless no turn is awaited. */
  async nextIfAny(): Promise<void> {
    if (this.waiting > 0) await this.next();
  }

  /** Lets turns go, and those that they lead to, until what is awaited has come. */
  async until<Result>(awaited: Promise<Result>): Promise<Result> {
    const wait = { over: false };
    const end = (): void => void (wait.over = true);
    awaited.then(end, end);
    while (!wait.over) {
      await this.nextIfAny();
      await this.#pass();
    }
    return awaited;
  }

  /** Lets all turns go from now on, and the clock as well. */
  release(): void {
    this.#permits = Number.POSITIVE_INFINITY;
    vi.restoreAllMocks();
  }

  #hold(work: () => void): ReturnType<typeof setTimeout> {
    this.waiting++;
    const poll = (): void => {
      if (this.#permits === 0) {
        this.#setTimeout(poll, 1);
        return;
      }
      this.#permits--;
      this.waiting--;
      work();
    };
    return this.#setTimeout(poll, 1);
  }

  #pass(): Promise<void> {
    return new Promise((resolve) => this.#setTimeout(resolve, 1));
  }
}
