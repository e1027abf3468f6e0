/** Expected and received deliveries over all sockets. */
export class DeliveryCount {
  expected = 0;
  delivered = 0;
  /** The time of the first delivery since this was set to 0, on the clock of `performance`. */
  firstAtMs = 0;
  /** When all expected deliveries had arrived the last time. */
  caughtUpAtMs = 0;
  #waiting: (() => void)[] = [];

  /** Called before a publication is posted, so that a delivery never comes before it is expected. */
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

  /** Resolves when all deliveries that are expected by now have arrived. */
  async caughtUp(): Promise<void> {
    if (this.missing > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
