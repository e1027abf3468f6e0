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
  /**
   * Nothing per publication grows with it. But with a key in each publication the keys take up to 30 MB of the 128 MB that an
   * awake object has; the first new key after a sleep has them all read, and another size has all rows written again, each
   * in one go; and of publications larger than 100 KB fewer than this fill the 10 GB of an object.
   */
  historySizeMax: 100_000,
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
  /** Values in one MessagePack message or body. Built, the smallest of them take 80 bytes each. */
  messagePackValuesMax: 500_000,
  /** Channels in one broadcast or batch: each is a call to another object, and an invocation may make 1,000. */
  requestChannelsMax: 1_000,
  /** Commands in one batch. */
  requestCommandsMax: 10_000,
  /** All sockets in one object, with those we closed but whose client never answered, as a multiple of the limit. */
  socketsPerConnection: 2,
  /** Sockets in one object: the platform accepts 32,768, but memory is 128 MB. `client.connection_limit` sets less or more. */
  connectionsDefault: 5_000,
  connectionsMax: 32_000,
  /** What a socket's attachment holds of its session. The platform takes 16,384 bytes. */
  attachmentBytesMax: 16_000,
  /** Of that, what the connection's claims may take; what names the user and is shown to others. */
  sessionClaimsBytesMax: 8_192,
  /** All of a connection's subscriptions as text, when they don't fit into the attachment. A SQLite row holds 2 MB. */
  sessionRowBytesMax: 1_048_576,
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
  /** The body of a post to `/emulation`: a frame in a JSON string, where each character may be escaped. */
  emulationBytesMax: 135_168,
  /**
   * How long after its request an HTTP stream ends, at the earliest, that never got as far as a connect, and at random up to
   * twice as long: SDKs come back from that at once, and would do so hundreds of times a second (reference 4.6).
   */
  refusedStreamDelayMs: 1_000,
  /** What all HTTP streams of one isolate may hold together for their readers: it has 128 MB, of which requests take some. */
  streamsBytesMax: 33_554_432,
  /** How long a stream that is over waits for its reader to take the rest: `client.queue_max_size` at 40 kB a second. */
  streamEndMs: 30_000,
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
  /** Entries a channel keeps for gateways that have not taken them, and their bytes: the slowest gateway may be so far behind. */
  relayLogEntriesMax: 16_384,
  relayLogBytesMax: 8_388_608,
  /** Entries in one call to a gateway, and their bytes, unless one alone is larger. A call carries 32 MiB. */
  relayBatchEntriesMax: 2_048,
  relayBatchBytesMax: 1_048_576,
  /**
   * How long after a commit the gateways are asked whether they have it. Below the ten seconds after which an idle object is
   * thrown away: in quiet times it is due in the instance that set it, which knows that all is well and asks nobody.
   */
  crashAlarmMs: 8_000,
  /** How old the newest publication may be for that: the alarm is repeated for 2 minutes, should the object not wake. */
  crashCheckMs: 150_000,
  /** Gateways that follow one channel. Each is a call per batch, and an invocation may make 1,000. */
  relayGatewaysMax: 512,
  /** What a gateway holds of one channel while it waits for an answer about it. Beyond, its subscribers are told (rule L3). */
  followerBufferBytesMax: 4_194_304,
  /**
   * What a gateway's channels and subscriptions take in memory together, roughly: half of what an object has. With half of
   * it, new clients go to another gateway.
   */
  gatewayHeldBytesMax: 67_108_864,
  /** Who waits in one object for the presence of one channel. Each is sent an answer as large as the channel. */
  presenceWaitingMax: 1_024,
  /** Publications a gateway keeps of one channel for clients that recover together, and for how long. */
  replayBufferBytesMax: 1_048_576,
  replayBufferMs: 10_000,
  /** The same of all its channels together. Beyond, the oldest go, and who recovers from them costs another read. */
  replayBudgetBytesMax: 16_777_216,
  /**
   * Joins and leaves of one gateway's clients that wait to be told to one channel, and their bytes: nobody repeats them, so
   * they have room of their own, for all sockets of an object that come and go at once.
   */
  announcesWaitingMax: 65_536,
  announcesWaitingBytesMax: 16_777_216,
  /** Questions of one gateway to one channel that wait for the call under way, and their bytes. */
  requestsWaitingMax: 8_192,
  requestsWaitingBytesMax: 8_388_608,
  /**
   * How long a gateway leaves an overloaded channel alone: twice as long each time, up to the longer one. A client that
   * waits for its subscribe reply is answered after 4 tries, within the 5 s of SDKs; joins and leaves are given up after 12.
   */
  overloadRetryMs: 500,
  overloadRetryMsMax: 2_000,
  overloadTriesMax: 4,
  announceTriesMax: 12,
  /** Questions in one call, and their bytes, unless one alone is larger. */
  requestsPerCallMax: 1_024,
  requestsPerCallBytesMax: 1_048_576,
  /** How long presence waits for the gateways. Within the 5 s that SDKs wait for an answer. */
  presenceGatherMs: 3_000,
  /** Subscriptions of one connection: Centrifugo's default, and the most that a session's row can be asked to hold. */
  channelLimitDefault: 128,
  channelLimitMax: 1_024,
  /** Frames of one connection that wait for its own earlier ones: while a key is fetched, or a commit takes its time. */
  framesWaitingBytesMax: 262_144,
  /** Commands of one connection that wait for its own earlier ones. */
  commandsWaitingMax: 4_096,
  /** Commands of one connection a second, and how many at once: one frame of them and more. */
  commandsPerSecond: 500,
  commandsBurst: 5_000,
  /** Subscribe commands of one connection a second, and how many at once. Each may have to wake an object. */
  subscribesPerSecond: 50,
  subscribesBurst: 1_024,
  /** Different payloads that the subscribers of one channel have, of those that are sent patches: others get it in full. */
  deltaBasesMax: 8,
  /** Patches that one object keeps for clients that recover together, with the payloads that they hold between them. */
  knownDeltasBytesMax: 4_194_304,
  /** A tags filter's conditions, and how deep they are nested: each is asked for each publication. */
  filterNodesMax: 64,
  filterDepthMax: 16,
  /** Frames for those who filter, while publications go out: beyond, all of it is made anew for who wants it. */
  selectedBytesMax: 8_388_608,
  /** Objects in one pool, and how many of them are asked for one socket. */
  poolObjectsMax: 1_000,
  poolAttemptsMax: 16,
  /** How long the edge leaves a full object alone. */
  poolFullMs: 5_000,
  /** Pools of which the edge remembers what it learned: one a continent, and one for each channel that is spilling. */
  poolsRememberedMax: 128,
  /** A token at the upgrade or in a command. Tokens fit in a header of the platform. */
  tokenBytesMax: 16_384,
  /** An RSA key that verifies tokens. Shorter ones can be broken, and RFC 7518 section 3.3 forbids them. */
  rsaKeyBitsMin: 2_048,
  /** A JWKS, which is read into memory, and the keys in it. A provider of identities has a handful. */
  keySetBytesMax: 262_144,
  keySetKeysMax: 100,
  /** How long the keys of a JWKS are believed without asking again. Centrifugo's time. */
  keySetFreshMs: 3_600_000,
  /** How long they are believed while nobody can be asked: a day's outage there isn't one here. */
  keySetStaleMs: 86_400_000,
  /** How long a JWKS isn't fetched again for keys it doesn't have: a stranger can make up as many as he likes. */
  keySetRefetchMs: 30_000,
  /** How long it isn't fetched again after that failed. */
  keySetRetryMs: 5_000,
  /** One of the two attempts to fetch it. Centrifugo's time. */
  keySetAttemptMs: 1_000,
  /** How long one waits for what another is fetching: both attempts, and some. */
  keySetWaitMs: 2_500,
} as const;
