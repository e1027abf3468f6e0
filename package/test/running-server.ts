/** An object that was started, and how often. */
export interface StartedObject {
  /** The name of its binding, such as `CHANNELS`, or of one of the Worker's own. */
  readonly kind: string;
  /** Its name; absent if it has only an ID. */
  readonly name?: string;
  readonly id: string;
  /** One more each time that the object has woken in the present runtime. */
  readonly starts: number;
}

/** An object of the Worker's own, such as `{ kind: "ROOMS", name: "lobby" }`, or by the ID of one that has no name. */
export interface OwnObject {
  readonly kind: string;
  readonly name?: string;
  readonly id?: string;
}

/** Where the clock is after a step, and how many alarms have rung. */
export interface ClockStep {
  readonly nowMs: number;
  readonly aheadMs: number;
  readonly rung: number;
}

/** A runtime with the Worker under test, and what may happen to it. */
export interface RunningServer<Bindings extends object> {
  /** Where the Worker is reached, until the next deploy. */
  readonly url: URL;
  /** How far the Worker's clock is ahead of this machine's. */
  readonly aheadMs: number;
  /** What the Worker's environment has, for the test, until the next deploy. */
  readonly bindings: Bindings;
  /** All objects that were ever started. */
  objects(): Promise<readonly StartedObject[]>;
  /**
   * Throws away an object's memory, and keeps its sockets, as the platform does with an object that is idle. Resolves when it
   * sleeps, also if it slept already.
   */
  evict(object: OwnObject): Promise<void>;
  /** Ends the runtime, and starts it again with the same state, as a deploy does with the objects. */
  deploy(): Promise<void>;
  /** Sets the clock ahead up to a time, but no further than to the next alarm, and rings what is due then. */
  step(untilMs: number): Promise<ClockStep>;
  /** Forgets all state, and ends all connections. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}
