/** The bounds of values that grow (rule Z44). */
export const growthLimits = {
  /**
   * A value that grows, as JSON. Clients with deltas get it as a string in JSON, which may be twice as long, and has to fit
   * into a reply of `client.queue_max_size`. Text beyond it is answered 106.
   */
  grownValueBytesMax: 500_000,
  /**
   * Pieces of one key, and of all keys of a map, in a second, and at once. The fastest language models write some thousand
   * tokens a second. One object carries out about as many commands as the second bound says. A piece beyond it is answered
   * 111: several can be sent in one piece.
   */
  keyAppendsPerSecond: 5_000,
  keyAppendsBurst: 5_000,
  mapAppendsPerSecond: 20_000,
  mapAppendsBurst: 20_000,
  /**
   * Keys of one map that grow at once, whose values are in the memory of its object, and the bytes of these values. The key
   * that grew longest ago makes room for another one, unless it has grown within `growingKeyIdleMs`: then the other one is
   * answered 106.
   */
  growingKeysMax: 256,
  growingBytesMax: 8_388_608,
  growingKeyIdleMs: 10_000,
  /** How long after a window that couldn't be written, because of idempotency keys, writing is tried again. */
  windowRetryMs: 1_000,
  /**
   * The longest `append_window`. What was told within a window is lost in a crash. A configuration with a longer one is
   * refused (rule A8).
   */
  appendWindowMsMax: 10_000,
} as const;
