/**
 * What an event takes of its object's thread, ms, from figures that the bench measured, with the page of each. They are
 * of the bench's machine. Where a page gives a range, it is the upper end.
 */
export const costsMs = {
  /** Sending a frame to one socket. docs/performance.md, "p99 under load": 25 to 31 µs of processor time. */
  frame: 0.031,
  /**
   * A call that an object takes, with the work in it. docs/performance.md, "Small channels": the call of the object, and
   * the work in it.
   */
  callTaken: 0.2,
  /**
   * A call that an object makes, with its answer. docs/performance/growth.md, 10 subscribers: a publication takes 2.61 ms
   * with a gateway and 2.21 without, which is one call at both ends. 0.2 of the 0.4 are the called object's.
   */
  callMade: 0.2,
  /** The runtime around a request: events, garbage collection, alarms. docs/performance.md, "Small channels". */
  aroundRequest: 0.3,
  /** Committing rows. docs/performance.md, "Small channels". */
  commit: 0.25,
  /** Waiting for a commit and sending afterwards. docs/performance.md, "Small channels". */
  afterCommit: 0.06,
  /** A turn of the event loop. docs/decisions/slices.md: 20 µs. */
  turn: 0.02,
  /**
   * A client that comes back: its upgrade, connect and subscribe, with recovery. docs/performance/connects.md: 8,000
   * clients that recover 20 publications each are back 7,285 ms after a cut, on a gateway: 0.91 ms for each.
   */
  comingBack: 0.91,
} as const;

/** How long a commit takes to be durable, ms: assumed, as in docs/performance/cost.md. */
export const commitMs = 10;
