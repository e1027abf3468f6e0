/** The bounds of messages that queues bring from backends (rule B1). */
export const queueLimits = {
  /**
   * Entries of `consumers`. Each batch is compared with each of them. A configuration with more is refused (rule A8).
   */
  consumersMax: 16,
  /**
   * Characters of a message as text. A queue takes 128 KB; a message that the platform has parsed may take several
   * times that when it is written again. A longer one is refused with 107 (rule M5).
   */
  queueMessageCharactersMax: 1_048_576,
  /**
   * The delay before a message is delivered again, in seconds; it doubles with each delivery up to the maximum (rule
   * M3). Two deliveries after the longest delay are within `idempotencyMs`, so that the second one finds the key of the
   * first.
   */
  queueRetrySeconds: 5,
  queueRetrySecondsMax: 120,
  /** How long the queue of refused messages may take to store one. Then the message is delivered again (rule M8). */
  deadLetterAnswerMs: 10_000,
} as const;
