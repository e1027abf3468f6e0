/** Expected and received deliveries over all sockets. */
export class DeliveryCount {
  expected = 0;
  delivered = 0;
  /** The time of the first delivery since this was set to 0, on the clock of `performance`. */
  firstAtMs = 0;
  /** The time of the last delivery, on the same clock. */
  lastAtMs = 0;
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
    this.lastAtMs = performance.now();
    if (this.firstAtMs === 0) this.firstAtMs = this.lastAtMs;
    if (this.delivered < this.expected) return true;
    this.caughtUpAtMs = this.lastAtMs;
    for (const resolve of this.#waiting.splice(0)) resolve();
    return this.delivered === this.expected;
  }

  get missing(): number {
    return this.expected - this.delivered;
  }

  /** Nobody waits for the deliveries that are missing. @returns how many they are */
  giveUp(): number {
    const { missing } = this;
    this.expected = this.delivered;
    return missing;
  }

  /** Resolves when all deliveries that are expected by now have arrived. */
  async caughtUp(): Promise<void> {
    if (this.missing > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
