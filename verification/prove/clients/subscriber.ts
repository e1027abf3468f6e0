/** A subscriber, whichever client it is. */
export interface Subscriber {
  readonly process: string;
  /** Of how many channels it is a subscriber right now, and of how many it should be. */
  readonly subscribed: number;
  readonly wanted: number;
  /** A publish of its own isn't answered yet. */
  readonly isPublishing: boolean;
  start(): void;
  /** Called every {@link tickMs}, with ms since some fixed moment. */
  tick(nowMs: number): void;
  /** From here on it neither publishes nor leaves channels. */
  settle(): void;
  /** Ends its connection. */
  stop(): void;
}

/** One timer serves all subscribers: no message starts or stops one. */
export const tickMs = 50;
