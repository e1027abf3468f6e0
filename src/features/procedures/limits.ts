/** The bounds of procedures (rule PC9). */
export const procedureLimits = {
  /**
   * Procedures of a namespace, and the bytes of a name. Metrics have a series for each of them, and a name is in the row of
   * each timer that calls it. A definition beyond them is refused at the start.
   */
  proceduresMax: 100,
  procedureNameBytesMax: 64,
  /**
   * Keys of a channel that is no map, and the bytes of these keys with their values. The first call after waking reads how
   * many they are, which takes a few ms for so many. A map has its own bounds.
   */
  keysMax: 10_000,
  keysBytesMax: 8_388_608,
  /** One value, and one publication: what a call holds is in memory several times. */
  valueBytesMax: 65_536,
  /** Keys that one call sets or removes. Each costs a row, or two in a map. */
  callKeysMax: 1_000,
  /** Publications of one call: they share a frame, and a frame is bounded. */
  callPublicationsMax: 100,
  /** The bytes of all keys, values and publications that one call writes. */
  callBytesMax: 1_048_576,
  /** The arguments of a call, and its result. The result of a call with an idempotency key is a row. */
  argsBytesMax: 65_536,
  resultBytesMax: 65_536,
  /** Timers of a channel, and the bytes of a timer's name. An awake object has all of them in memory. */
  timersMax: 256,
  timerNameBytesMax: 128,
  /** The furthest time of a timer, from now on. */
  timerAheadMsMax: 31_622_400_000,
  /**
   * A timer whose procedure throws is called again after pauses that double, from the first to the last; after so many
   * tries it is removed. Together they last some days, in which a release can repair the code.
   */
  timerPauseMsMin: 1_000,
  timerPauseMsMax: 3_600_000,
  timerTriesMax: 72,
  /** The pauses between the tries of a migration that throws, from the first to the longest. A deploy tries at once. */
  migrationPauseMsMin: 1_000,
  migrationPauseMsMax: 60_000,
  /** Procedures that call each other within one call. */
  depthMax: 8,
  /** Results that are remembered by their idempotency keys for `limits.idempotencyMs`; each is a row. */
  resultsMax: 10_000,
  /** The longest message of a `reject`. */
  messageBytesMax: 1_024,
  /** A call that holds the thread for longer is counted and logged: others wait meanwhile. */
  slowMs: 50,
  /** Calls of which an awake object remembers what became of them, for those who ask. */
  lastCallsMax: 50,
} as const;
