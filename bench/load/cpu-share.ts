/** The share of one processor that this process's own thread uses, from now on. */
export class CpuShare {
  readonly #usage = process.threadCpuUsage();
  readonly #sinceMs = performance.now();

  /** 0 to 1. */
  get share(): number {
    const { user, system } = process.threadCpuUsage(this.#usage);
    const passedMs = performance.now() - this.#sinceMs;
    return Math.min(1, (user + system) / 1000 / passedMs);
  }
}
