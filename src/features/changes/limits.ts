/** The bounds of changes of publications (rule B1). */
export const changeLimits = {
  /** Bytes of the `reason` of a deletion. It is a tag of two rows, and everybody gets it. */
  reasonBytesMax: 256,
  /** Rows that one slice of an erasure overwrites: about 4 ms. Other calls have a turn after each slice (rule ED16). */
  erasedAtOnce: 100,
  /** Rows of the history that one slice looks at: about a millisecond, however many there are. */
  scannedAtOnce: 1_000,
  /**
   * An erasure writes a history anew that has no more rows and bytes, so that SQLite keeps no copies of rows that it has moved
   * (rule ED15). In a larger one it overwrites the erased rows alone: it would cost a row for each publication, and the object
   * does nothing else meanwhile.
   */
  rewrittenRowsMax: 1_000,
  rewrittenBytesMax: 2_097_152,
  /**
   * How long a backend waits for the gateways to take an erasure. It is less than `objectAnswerMs`, so that the answer that it
   * isn't done everywhere reaches the backend (rule ED16).
   */
  erasureAnswerMs: 8_000,
  /**
   * Users of whom a channel notes that their homes know that they have published, each a row of about 30 bytes. Beyond it the
   * notes are dropped, and those who publish again are reported again (rule ED18).
   */
  authorsMax: 100_000,
  /** Those of them whose names an instance has in memory: the others cost a row read for each publication. */
  authorsInMemoryMax: 1_000,
} as const;
