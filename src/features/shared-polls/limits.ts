/** The bounds of shared polls (rule B1). */
export const pollLimits = {
  /**
   * The shortest `refresh_interval`, the most keys of one question, and those of one connection. A backend is asked no more
   * often than it answers, and all keys of a connection are in its object's memory. A configuration beyond one of them is
   * refused (rule A8).
   */
  pollIntervalMsMin: 100,
  pollBatchItemsMax: 10_000,
  pollKeysPerConnectionMax: 50_000,
  /**
   * Questions of one channel to its backend in flight. Batches of one cycle are asked side by side, and keys that are new
   * needn't wait for the cycle under way. More would load a backend that is slow already (rule SP4).
   */
  pollsInFlightMax: 4,
  /**
   * The keys of one channel that are polled for all clients together: 100 questions of 1,000 keys in each cycle. A
   * further key is answered 106 (rule SP9).
   */
  polledKeysMax: 100_000,
  /** The characters of these keys together, which may take two bytes each. A further key is answered 106 (rule SP9). */
  polledKeysLengthMax: 8_388_608,
  /**
   * The newest data of all keys of one channel, in characters, which its object keeps in memory for those who track a key
   * later. They may take two bytes each, and so a quarter of the object's 128 MiB. Beyond it, the data of further keys
   * isn't kept, and the backend is asked again for each newcomer (rule SP18).
   */
  polledDataMax: 16_777_216,
  /**
   * The data that waits for one gateway and isn't kept otherwise, in characters. Changes beyond it aren't sent: the
   * next cycle brings them again (rule SP7).
   */
  polledWaitingMax: 4_194_304,
  /**
   * How soon a cycle that failed is repeated where the refresh interval is longer. The pause doubles up to the maximum
   * (rule SP5).
   */
  pollRetryMs: 1_000,
  pollRetryMsMax: 30_000,
  /**
   * How far ahead the alarm of a channel is set whose keys are polled. The object is awake anyway, and the alarm wakes it
   * after a crash. Each alarm costs a row, so this is one row in a minute; and the platform may evict an object to which
   * nothing has come for 70 s (rule SP10).
   */
  pollAlarmMs: 60_000,
  /**
   * How long a gateway that tracks keys isn't called before it is asked whether it still does. A gateway whose sockets
   * were lost with it can't say that it left (rule SP8).
   */
  pollCheckMs: 300_000,
  /** The changes of one call to a gateway, and their bytes; at least one change is sent (rule SP7). */
  pollBatchChangesMax: 1_000,
  pollBatchBytesMax: 1_048_576,
  /**
   * How soon a call to a gateway is repeated that failed; the pause doubles up to the maximum (rule SP7).
   */
  pollCallRetryMs: 500,
  pollCallRetryMsMax: 30_000,
  /**
   * The keys that the connections of one object track together, each connection counted: about 200 bytes each, so 40 MB.
   * A further key is answered 111 (rule SP9).
   */
  tracksMax: 200_000,
  /** The characters of these keys together, which may take two bytes each. Further keys are answered 111 (rule SP9). */
  tracksLengthMax: 8_388_608,
  /**
   * The keys that one connection tracks on one channel together with their texts, in characters. A gateway stores them in
   * a row. More are answered 106 (rule SP9).
   */
  trackRowLengthMax: 1_048_576,
  /**
   * The data that waits on a gateway to be sent to its connections, in characters. Beyond it, the gateway takes no further
   * batch (rule SP7).
   */
  keyFramesLengthMax: 8_388_608,
  /**
   * The newest values of keys that one object keeps as bases of deltas, in characters, which may take two bytes each. A
   * key whose value is beyond it is sent in full (rule SP21).
   */
  keyBasesLengthMax: 8_388_608,
} as const;
