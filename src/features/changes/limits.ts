/** The bounds of changes of publications (rule B1). */
export const changeLimits = {
  /** Bytes of the `reason` of a deletion. It is a tag of two rows, and everybody gets it. */
  reasonBytesMax: 256,
} as const;
