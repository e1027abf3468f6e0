/**
 * Every bound of Dormouse that an operator can't set, each with its unit and its reason. At each of them somebody is
 * told (rule B1); src/SPEC.md says who and how.
 */
export const limits = {
  /** A client's frame. Centrifugo's own default; larger ones are closed with 1009, which SDKs know. */
  frameBytesMax: 65_536,
  /** Commands in one frame: a frame of 64 KiB could hold thousands, each of them work. */
  frameCommandsMax: 256,
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
  /** One answer with publications (recovery, history): it is built in memory, of which an object has 128 MB. */
  answerBytesMax: 8_388_608,
  /** A request to the HTTP API. One call to an object carries 32 MiB, and its JSON is parsed in memory. */
  requestBytesMax: 8_388_608,
  /** Channels in one broadcast or batch: each is a call to another object, and an invocation may make 1,000. */
  requestChannelsMax: 1_000,
  /** Commands in one batch. */
  requestCommandsMax: 10_000,
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
  /** A token at the upgrade or in a command. Tokens fit in a header of the platform. */
  tokenBytesMax: 16_384,
} as const;
