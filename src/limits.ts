/**
 * Every bound of Dormouse that an operator can't set, each with its unit and its reason. At each of them somebody is
 * told (rule B1); src/SPEC.md says who and how.
 */
export const limits = {
  /** A client's frame. Centrifugo's own default; larger ones are closed with 1009, which SDKs know. */
  frameBytesMax: 65_536,
  /** Commands in one frame. A frame of 64 KiB holds no more of them, unless they are empty. */
  frameCommandsMax: 4_096,
  /** One publication's data. A SQLite row holds 2 MB; tags, info and key travel in the same row. */
  publicationBytesMax: 1_048_576,
  /** One publication's tags, as JSON text; they share the row with the data. */
  tagsBytesMax: 16_384,
  /** Kept for each keyed publication in memory while the object is awake. */
  idempotencyKeyBytesMax: 128,
  /** Keys younger than 5 minutes that outlive their row; each takes memory and a row. */
  idempotencyKeysMax: 50_000,
  /** A keyed publish repeated within this time gets the first result, whatever the ring overwrote. Centrifugo's time. */
  idempotencyMs: 300_000,
  /** The ring is read once, whole, when an object wakes. */
  historySizeMax: 10_000,
  /** A version's epoch lies in every history row. */
  versionEpochBytesMax: 128,
  /** What an answer with recovered publications holds besides them: a token's `data` and a frame around all. */
  answerRestBytes: 32_768,
  /**
   * One answer of the HTTP API with publications: it is built in memory, of which an object has 128 MB. An answer to a
   * client is at most `client.queue_max_size`, or sending it would be reason to cut the client as slow.
   */
  answerBytesMax: 8_388_608,
  /** A request to the HTTP API. One call to an object carries 32 MiB, and its JSON is parsed in memory. */
  requestBytesMax: 8_388_608,
  /** Channels in one broadcast or batch: each is a call to another object, and an invocation may make 1,000. */
  requestChannelsMax: 1_000,
  /** Commands in one batch. */
  requestCommandsMax: 10_000,
  /** All sockets in one object, with those we closed but whose client never answered, as a multiple of the limit. */
  socketsPerConnection: 2,
  /** Sockets in one object: the platform accepts 32,768, but memory is 128 MB. `client.connection_limit` sets less or more. */
  connectionsDefault: 5_000,
  connectionsMax: 32_000,
  /** What survives of a session in its socket's attachment, as JSON text. The platform takes 16,384 bytes. */
  sessionSnapshotBytesMax: 8_192,
  /** All of an object's sockets together: bytes handed to the runtime that no peer has taken. Beyond, publishing is refused. */
  backlogBytesMax: 67_108_864,
  /** How long that may last before whoever is behind its share is cut: by then nobody healthy is behind. */
  overloadMsMax: 5_000,
  /** Calls that wait for a commit, together: half of what the memory of an object leaves beside its sockets. */
  waitingBytesMax: 33_554_432,
  /** On a runtime without `bufferedAmount`: bytes sent since the peer was last heard. */
  unconfirmedBytesMax: 33_554_432,
  /** Publications that wait for one frame, and their bytes: a frame must not grow with the burst. */
  batchPublicationsMax: 256,
  batchBytesMax: 65_536,
  /** How long the edge waits for an object before it answers 503. */
  objectAnswerMs: 10_000,
  /**
   * A request's calls under way at a time. Should the platform let only 6 of them through at a time, the last of 32 still
   * gets through within 4 s when each wakes a new object (0.6 s), and so within `objectAnswerMs`.
   */
  callsInFlightMax: 32,
  /**
   * How long a request to many channels may take: 1,000 new objects, 32 at a time, take 20 s. Backends wait for an
   * answer about as long as this; one that comes later, nobody reads.
   */
  requestAnswerMs: 30_000,
  /** A token at the upgrade or in a command. Tokens fit in a header of the platform. */
  tokenBytesMax: 16_384,
} as const;
