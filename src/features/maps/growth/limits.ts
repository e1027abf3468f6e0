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
  /**
   * Bytes that the ends of windows write, and send to each subscriber without deltas, in a ms: of one key, and of all
   * keys of a map. A window of a long value lasts longer for this, up to `appendWindowMsMax` and half of the key's
   * life. An answer of 16 kB keeps the default window of 250 ms, and a value of 500 kB has 7.6 s.
   */
  keyBytesPerMs: 65.536,
  mapBytesPerMs: 1_048.576,
  /**
   * Bytes that changes without a window write in a ms, of all keys of a map, and how far ahead of that they may be, in ms: 2
   * MiB a second, after 16 MiB at once. They are appends that are final, or have an idempotency key, or a map whose windows
   * last 0 seconds; each writes the whole value. One beyond it is answered 111.
   */
  writtenBytesPerMs: 2_097.152,
  writtenAheadMs: 8_000,
  /** How long after a window that couldn't be written, because of idempotency keys, writing is tried again. */
  windowRetryMs: 1_000,
  /**
   * The longest `append_window`. A crash loses the pieces that were sent within a window. A configuration with a longer
   * one is refused (rule A8).
   */
  appendWindowMsMax: 10_000,
} as const;
