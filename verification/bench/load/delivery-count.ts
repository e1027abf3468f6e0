/** How many deliveries were to come, over all sockets, and how many came. */
export class DeliveryCount {
  expected = 0;
  delivered = 0;
  /** When the first delivery came since this was set to 0, on the clock of `performance`. */
  firstAtMs = 0;
  /** When all that was expected had come the last time. */
  caughtUpAtMs = 0;
  #waiting: (() => void)[] = [];

  /** Said before a publication is posted: so a delivery never comes before it is expected. */
  expect(deliveries: number): void {
    this.expected += deliveries;
  }

  /** @returns whether they were expected */
  deliver(deliveries: number): boolean {
    this.delivered += deliveries;
    if (this.firstAtMs === 0) this.firstAtMs = performance.now();
    if (this.delivered < this.expected) return true;
    this.caughtUpAtMs = performance.now();
    for (const resolve of this.#waiting.splice(0)) resolve();
    return this.delivered === this.expected;
  }

  get missing(): number {
    return this.expected - this.delivered;
  }

  /** Resolves when all that is expected by now has come. */
  async caughtUp(): Promise<void> {
    if (this.missing > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
