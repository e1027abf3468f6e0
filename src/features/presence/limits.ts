/** The bounds of presence maps (rule B1). */
export const presenceLimits = {
  /**
   * The bounds of the `key_ttl` of presence maps. Twice within it the subscribers of the channel are counted anew, which
   * calls their objects and sets an alarm, and a crash is noticed within it. A configuration beyond one is refused.
   */
  presenceKeyTtlMsMin: 10_000,
  presenceKeyTtlMsMax: 86_400_000,
  /**
   * Comings and goings that one call tells a presence map, and those that wait for the call before it. Further ones are
   * dropped: the map learns of them when its object counts next (rule Z37).
   */
  presenceToldMax: 1_000,
  presenceToldWaitingMax: 10_000,
  /** The pause after which a call to a presence map is repeated, and how often it is made in all (rule Z37). */
  presenceTellRetryMs: 1_000,
  presenceTellTriesMax: 3,
  /** How long a presence map waits for the answer of the channel that it shows: as long as that waits, and a second more. */
  presenceCountMs: 4_000,
} as const;
