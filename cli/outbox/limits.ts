/** The bounds of `dormouse outbox`, which publishes the rows of a table of PostgreSQL. */
export const outboxLimits = {
  /** Rows of a partition that one request carries (`partition_select_limit`). The server takes as many channels in one request. */
  selectedRowsMax: 1_000,
  /** Partitions of a table (`num_partitions`). Each is asked for by its number at every poll, and has its own order and its own delay. */
  partitionsMax: 1_000,
  /** Batches of a process at a time. Each holds a connection to the database while the server answers. */
  batchesMax: 10,
  /** Bytes of payloads that are read and sent together. What isn't answered is sent again, so that little is. */
  readBytesMax: 2_097_152,
  /**
   * Bytes of one payload. The server takes a body of 8 MiB; the rest is for what stands around a payload. A row with a larger
   * one is set aside, without being read.
   */
  rowBytesMax: 7_864_320,
  /**
   * The delay before a batch is sent again that the server couldn't take now, ms. It doubles up to the maximum, by which rows are
   * late after an outage. That is far below the life of an idempotency key: a batch that is sent again finds its keys.
   */
  retryMs: 250,
  retryMsMax: 5_000,
  /** How long a line about the same trouble is not repeated, ms. */
  troubleRepeatMs: 60_000,
  /** How often a line has what was done and what waits, ms. */
  reportMs: 60_000,
  /** How long a connection to the database may take to open, ms. */
  connectMs: 10_000,
  /**
   * How long a transaction may wait for the server's answer, ms: longer than a request of the API. After it the database
   * gives the partition to another process, if the machine of this one is gone and nothing closed the connection.
   */
  idleTransactionMs: 60_000,
  /** How long an ending process waits for the answers of its last batches, ms. What isn't answered is sent by the next one. */
  stopMsMax: 5_000,
  /** Characters of the reason with which a row is set aside. */
  reasonCharactersMax: 500,
} as const;
