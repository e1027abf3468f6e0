/** The bounds of maps (rule B1). */
export const mapLimits = {
  /**
   * Keys of one map, and removed keys whose version is remembered. Synchronising so many takes a client a hundred pages of
   * 1,000; a waking object that has to look for keys that end reads so many rows. A change that would add a further key
   * is answered 106. A further removed key leaves no version behind (rule Z8).
   */
  mapKeysMax: 100_000,
  mapRemovedVersionsMax: 100_000,
  /**
   * How long the version of a removed key is remembered, so that an older publish that comes late doesn't bring the key
   * back (rule Z8). Queues and outboxes of backends deliver within a day, or raise an alarm.
   */
  mapRemovedVersionMs: 86_400_000,
  /** Rows that one page of a state may look at: those of removed and of newer keys among them are left out (rule Z25). */
  mapPageRowsMax: 2_048,
  /**
   * How long a page that was read is given to others who ask for the same one, and the bytes of such pages that a map keeps
   * in memory, or that a gateway keeps of all maps. Clients that come at once read the same pages within that time.
   */
  mapPageSharedMs: 1_000,
  mapPagesSharedBytesMax: 4_194_304,
  /** Entries in one answer to a backend that asks for all of them. It gets a cursor for the rest. */
  mapAnswerEntriesMax: 10_000,
  /**
   * The keys that end next, which an awake object keeps in memory. Once they have ended, the next ones are looked for, in
   * portions of `mapExpiryRowsMax` rows (rule Z33).
   */
  mapExpiryKeysMax: 10_000,
  mapExpiryRowsMax: 2_048,
  /** Keys that end in one synchronous stretch. Further ones end after a turn of the event loop (rule Z33). */
  mapExpirySliceKeys: 256,
  /**
   * How much later than its `key_ttl` a key may end: all that end within this time share an alarm, which costs a row
   * (rule Z6).
   */
  mapExpiryGrainMs: 1_000,
  /**
   * The state of an ephemeral map, which is in the memory of its object together with its checkpoint while that is
   * written. A change beyond it is answered 106.
   */
  ephemeralStateBytesMax: 16_777_216,
  /**
   * The changes of an ephemeral map that its object keeps, their bytes and for how long: for gateways that missed some,
   * and for clients that read pages meanwhile. A client that needs older ones synchronises again (112).
   */
  ephemeralStreamSize: 1_024,
  ephemeralStreamBytesMax: 4_194_304,
  ephemeralStreamMs: 60_000,
  /** How long the epoch of an ephemeral map without keys and subscribers is kept. */
  ephemeralMetaMs: 600_000,
  /**
   * How long after its last change an ephemeral map is written down (rule Z11). An object hibernates after ten quiet
   * seconds at the earliest.
   */
  mapRestMs: 3_000,
  /** One row of a checkpoint. A row holds 2 MB. */
  mapCheckpointBytesMax: 1_000_000,
  /**
   * The largest page of a map, in entries: the state is read in one go. A configuration with a larger one is refused
   * (rule A8).
   */
  mapPageSizeMax: 10_000,
  /** The shortest `key_ttl`. Each key that expires is a change of its own. A configuration with a shorter one is refused. */
  mapKeyTtlMsMin: 100,
  /**
   * The longest `subscribe_catch_up_timeout`. The object keeps what it knows of a client's synchronising in memory for
   * that long. A configuration with a longer one is refused (rule A8).
   */
  mapCatchUpMsMax: 60_000,
  /**
   * The bounds of the `key_ttl` of maps whose keys come from another channel's object. Twice within it that object is asked
   * for all of them, which makes a call and sets an alarm, and a crash is noticed within it. A configuration beyond one is
   * refused.
   */
  mirrorKeyTtlMsMin: 10_000,
  mirrorKeyTtlMsMax: 86_400_000,
  /**
   * Changes that one call reports to such a map, and changes that wait for the call before it. Further changes are
   * dropped: the map gets them when its object asks for the next list (rule Z37).
   */
  mirrorToldMax: 1_000,
  mirrorToldWaitingMax: 10_000,
  /** The pause after which a call to such a map is repeated, and how often it is made in all (rule Z37). */
  mirrorTellRetryMs: 1_000,
  mirrorTellTriesMax: 3,
  /** How long such a map waits for the other channel's answer: as long as that waits for gateways, and a second more. */
  mirrorCountMs: 4_000,
} as const;
