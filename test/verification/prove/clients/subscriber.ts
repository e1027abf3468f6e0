/** A subscriber, whichever client it uses. */
export interface Subscriber {
  readonly process: string;
  /** How many of its subscriptions are live, and how many it wants. */
  readonly subscribed: number;
  readonly wanted: number;
  /** Whether one of its publishes is waiting for the answer. */
  readonly isPublishing: boolean;
  start(): void;
  /** Called every {@link tickMs}, with ms since some fixed moment. */
  tick(nowMs: number): void;
  /** From here on the subscriber neither publishes nor leaves channels. */
  settle(): void;
  /** Ends its connection. */
  stop(): void;
}

/** One timer serves all subscribers, so no message starts or stops a timer. */
export const tickMs = 50;
