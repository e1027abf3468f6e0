/** The bounds of the test kit. */
export const testLimits = {
  /** How long a wait goes on that doesn't say so itself, in ms: what comes on one machine comes long before. */
  withinMs: 5_000,
  /**
   * How many steps an advance of the clock takes at most, each up to the next alarm. A step takes a few ms, and a connected
   * client is pinged every 25 seconds: a thousand steps are some hours, and more would seem to hang.
   */
  advanceSteps: 1_000,
  /** How far the clock is set ahead at once, in ms: the 7,300 days that are the longest duration of the configuration. */
  advanceMsMax: 630_720_000_000,
  /**
   * The longest wait, and how late everything may be made, in ms: Node.js carries out at once what is to wait longer than
   * 2^31 - 1.
   */
  timerMsMax: 2_147_483_647,
  /** How often an object is evicted until it sleeps. One that wakes each time is busy: no platform would evict it. */
  evictions: 100,
  /** How long a client may take to answer a ping, in ms. It does so at once, unless it never does: a unidirectional one. */
  pongMs: 1_000,
  /** The largest body of a control call, in bytes: room for the largest publication (1 MiB), escaped. */
  controlBodyBytes: 8 << 20,
  /** How many characters of what has come a failure shows: enough to see what is missing. */
  shownCharacters: 1_000,
} as const;
