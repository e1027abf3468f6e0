/** The bounds of maps and of shared polls; a part of `limits` (rule B1). */
export const mapLimits = {
  /**
   * A key of a map or of a shared poll. It is stored with each of its changes, and sent with them; the largest that
   * `client_key` can set is the ID of a user, of which few are longer than 100 bytes. A longer key is answered 107 (rule
   * B2).
   */
  mapKeyBytesMax: 1_024,
  /**
   * The cursor of a page: a key, and before it the score if the pages are ordered by scores. Clients and backends send
   * back the cursor that they were sent. A longer one is malformed in a command (rule C8), and answered 107 in a request
   * of a backend (rule B2).
   */
  mapCursorBytesMax: 1_088,
  /**
   * Batches and items of one `sub_refresh` that tracks keys, and keys that it ceases to track. Each batch has a signature
   * that is verified. A frame of 64 KiB holds about 500 signatures and 6,000 keys in JSON. More are malformed (rule C8).
   */
  trackBatchesMax: 1_024,
  trackItemsMax: 8_192,
  untrackKeysMax: 8_192,
  /**
   * The largest page of a map, in entries: the state is read in one go. A configuration with a larger one is refused
   * (rule A8).
   */
  mapPageSizeMax: 10_000,
  /** The shortest `key_ttl`. Each key that expires is a change of its own. A configuration with a shorter one is refused. */
  mapKeyTtlMsMin: 100,
  /**
   * The longest `subscribe_catch_up_timeout`. What a client was told of its first page is in memory for as long. A
   * configuration with a longer one is refused (rule A8).
   */
  mapCatchUpMsMax: 60_000,
  /**
   * The shortest `refresh_interval`, the most keys of one question, and those of one connection. A backend is asked no more
   * often than it answers, and all keys of a connection are in its object's memory. A configuration beyond one of them is
   * refused (rule A8).
   */
  pollIntervalMsMin: 100,
  pollBatchItemsMax: 10_000,
  pollKeysPerConnectionMax: 50_000,
} as const;
