import { accessLimits } from "./access-limits.ts";
import { sessionLimits } from "./session-limits.ts";
import { userLimits } from "./user-limits.ts";

/**
 * Every bound of the kernel that an operator can't set; each feature has its own in its folder. The comment of each bound says what it bounds, in which unit if
 * the name doesn't, why it has this value, and what happens at the limit. Rules are those of src/SPEC.md (rule B1).
 */
export const limits = {
  /**
   * One frame of a client. This is Centrifugo's default (docs/protocol.md 1.1). A larger frame closes the connection
   * with 1009, which SDKs know (rule C8); a larger frame in an HTTP request is refused with status 413.
   */
  frameBytesMax: 65_536,
  /**
   * Commands in one frame. A JSON frame of 64 KiB holds no more, unless its commands are empty. The rest of a frame
   * with more commands is malformed (rule C8).
   */
  frameCommandsMax: 4_096,
  /**
   * Data of one publication. A SQLite row holds 2 MB, and tags, info and key are in the same row. A backend that
   * publishes more is answered 107 (rule B2).
   */
  publicationBytesMax: 1_048_576,
  /** Tags of one publication, as JSON text. They share the row with the data. More tags are answered 107 (rule B2). */
  tagsBytesMax: 16_384,
  /**
   * An idempotency key. Every key that an awake object has read or written is in its memory. A longer key is answered
   * 107 (rule B2).
   */
  idempotencyKeyBytesMax: 128,
  /**
   * Keys of one channel with rows of their own: those younger than 5 minutes that outlive the row of their publication.
   * Each takes memory and a row. A publish that needs another such row is answered 111 (rule I4).
   */
  idempotencyKeysMax: 50_000,
  /**
   * For how long a repeated key gets the first result, even if the publication's row is gone (rule I1). This is
   * Centrifugo's time (docs/protocol.md 6.2).
   */
  idempotencyMs: 300_000,
  /**
   * The largest `history_size`, in publications. A configuration with a larger one is refused (rule A8). The cost of a
   * publication doesn't grow with the size (rule H11), but three other costs do. The keys take up to 30 MB of the 128
   * MB of an awake object, if each publication has a key. The first new key after hibernation reads all publications in
   * one go. A changed size writes all rows again in one go. If publications are larger than 100 KB, fewer than this
   * fill the 10 GB of an object.
   */
  historySizeMax: 100_000,
  /**
   * How long a channel to which nothing was ever published keeps its epoch after its last subscriber has left (rule
   * H12). A client that returns later isn't recovered, and a subscriber to random names leaves nothing behind. The
   * leave is noted at most once each `unusedNoteMs`, because a note costs a row. A gateway that follows such a channel
   * is checked after the same time, and then each `unusedCheckMs` (rule L8).
   */
  unusedStreamMs: 10_800_000,
  unusedNoteMs: 600_000,
  unusedCheckMs: 604_800_000,
  /**
   * The epoch of a publication's version. It is in every row of the history. A longer one is answered 107 (rule B2).
   */
  versionEpochBytesMax: 128,
  /**
   * Bytes of a reply with recovered publications that are kept free for everything else in it: the `data` of a token
   * and the frame around all. Publications that don't fit beside these bytes aren't recovered (rule R4).
   */
  answerRestBytes: 32_768,
  /**
   * One answer of the HTTP API, or of a channel object to a gateway, that carries publications. It is built in memory,
   * of which an object has 128 MB. A reading command beyond it is answered 106. The reply to a client is bounded by
   * `client.queue_max_size` instead, since a larger one would be a reason to cut the client as slow (rule F4).
   */
  answerBytesMax: 8_388_608,
  /**
   * The body of a request to the HTTP API, the data in it for one channel, and the calls of one request that are in
   * flight together. One call to an object carries 32 MiB, and its JSON is parsed in memory. A larger body is refused
   * with status 413, more data for one channel with 107, and calls beyond it wait.
   */
  requestBytesMax: 8_388_608,
  /**
   * Values in one MessagePack message or body. Once they are built, the smallest of them take 80 bytes each. A message
   * or a body with more values is malformed (rule W6).
   */
  messagePackValuesMax: 500_000,
  /**
   * Channels in one broadcast or batch. Each is a call to another object, and one invocation may make 1,000 calls. A
   * request with more channels is answered 107.
   */
  requestChannelsMax: 1_000,
  /**
   * Commands in one batch or legacy request, in which each channel of a broadcast counts as one. Each counts as at
   * least 256 bytes in memory, 2.6 MB in all. A request with more commands is answered 107.
   */
  requestCommandsMax: 10_000,
  /** Unknown fields of one request that are looked at: a body of 8 MiB has room for a million (rule W14). */
  unknownFieldsMax: 10,
  /** Lines about unknown fields that an isolate writes: names come from outside, and each is remembered (rule W14). */
  unknownFieldLinesMax: 100,
  /**
   * All sockets of one object, as a multiple of `client.connection_limit`. They include those that the server has
   * closed and whose client never answered, which still take memory. At the limit the object refuses new connections
   * (rule B5).
   */
  socketsPerConnection: 2,
  /**
   * How long a client may take to answer the close of its connection. An object that holds nothing but such sockets ends
   * its instance after that, which drops them (rule B11).
   */
  closeAnswerMs: 10_000,
  /**
   * Connections of one object, by default and at most. The platform accepts 32,768 sockets, but an object has 128 MB of
   * memory. `client.connection_limit` sets another number. A full object refuses a connection with status 503, and the
   * edge tries the next object (rules B5, G3 and G4).
   */
  connectionsDefault: 5_000,
  connectionsMax: 32_000,
  /**
   * Bytes of a session in its socket's attachment. The platform takes 16,384. A larger session is stored in a row of
   * its gateway (rule G2); on a channel object, which has no such rows, it is refused with 106 (rule B2).
   */
  attachmentBytesMax: 16_000,
  /**
   * Of these, the bytes of the connection's claims: the user's ID and the info that other clients see. Larger claims
   * are refused with 106, or with status 413 at the upgrade (rule B2).
   */
  sessionClaimsBytesMax: 8_192,
  /**
   * All subscriptions of a connection as text, if they don't fit into the attachment (rule G2). The largest SQLite row
   * has 2 MB. A subscribe beyond it is answered 106.
   */
  sessionRowBytesMax: 1_048_576,
  /** The backlog of all connections of an object together. Beyond it the object is overloaded (rule B3). */
  backlogBytesMax: 67_108_864,
  /**
   * How long an overloaded object waits to see which clients read. A connection with more than its share that has taken
   * less than an eighth of it by then is cut, the largest first, until there is room (rule B27). In this time a reader
   * with 1 Mbit/s takes 31 KB.
   */
  stalledMs: 250,
  /**
   * How long an object may be overloaded, with readers that are slow but read, before it cuts the connections whose
   * backlog exceeds their share: by then no healthy reader is behind (rule B27).
   */
  overloadMsMax: 5_000,
  /** A larger reply isn't sent to a client while the object is overloaded: error 111 replaces it (rule B26). */
  smallReplyBytes: 4_096,
  /**
   * Calls and publishes that wait for a commit, together. This is half of the memory that an object has beside its
   * sockets. Further ones are refused with status 503 or 111 (rule B6).
   */
  waitingBytesMax: 33_554_432,
  /**
   * Bytes sent to a client since the server last received something from it, on a runtime without `bufferedAmount`.
   * They stand for the backlog there. A client beyond it counts as infinitely far behind and is cut (rule F4).
   */
  unconfirmedBytesMax: 33_554_432,
  /** Pushes in one frame, and their bytes: a frame must not grow with a burst (rule F3). */
  batchPushesMax: 256,
  batchBytesMax: 65_536,
  /**
   * Characters of pieces of a growing value that share a frame as one publication (rule Z39). Each further piece is encoded
   * together with those before it.
   */
  joinedPieceCharactersMax: 2_048,
  /**
   * Different rests of one batch whose frames are kept for subscribers that came or were caught up while the batch was
   * collected. Beyond it all of them are dropped and made again (rule F5).
   */
  batchRestsMax: 16,
  /** The subscribers that a frame is sent to before the event loop gets a turn (rule F2): two thirds of a millisecond. */
  sliceSubscribersMax: 25,
  /**
   * The turns after a slice, 20 µs each, while something is collected for the next frame. Then others use the thread, and
   * each hop of a publish on its way takes a turn. With one turn after each slice, a publisher that waits for its answers
   * publishes half as much.
   */
  sliceTurns: 5,
  /** The turns after a slice end earlier when they have taken so long, because others have used them fully. */
  sliceTurnsMs: 2,
  /**
   * Slices that are sent at once after a turn that took long: one for each 5 ms, and at most 4, which take 3 ms. With one in
   * each turn, a frame to 1,000 took twice as long while as many clients came as could.
   */
  slicesAtOnceMax: 4,
  othersMsPerSlice: 5,
  /** The bytes of the frames of a slice. */
  sliceBytesMax: 1_048_576,
  /** To so many subscribers a frame is sent at once: that takes a millisecond, and no later frame would be fuller. */
  immediateSubscribersMax: 50,
  /**
   * The subscribers that a frame hasn't been sent to when a gateway answers the channel's object, which has collected
   * meanwhile: the answer and the next batch take a millisecond, as long as so many subscribers, so that the batch is
   * there when the frame has been sent (rule F8).
   */
  frameEndSubscribers: 40,
  /**
   * Batches that wait behind a frame on its way, and their bytes. Beyond it publishers wait, and gateways take no more
   * entries, until a frame has been sent (rule F6).
   */
  batchesWaitingMax: 4,
  batchesWaitingBytesMax: 262_144,
  /**
   * How long a publish waits for others to share its commit, and for how many at most, while a frame is still to be sent
   * to more than `longRestSubscribers`, which takes 6 ms. A commit costs 0.4 ms of the thread, so more than eight gain
   * little. Behind more than `batchesAheadMax` batches each waits `commitWaitBehindMs` (rules F7 and F11).
   */
  commitWaitMs: 5,
  commitSharersMax: 8,
  longRestSubscribers: 250,
  batchesAheadMax: 3,
  commitWaitBehindMs: 2,
  /**
   * Channels of a gateway with a frame on its way. While there are more, nothing is collected behind their frames, or
   * thousands of busy channels would take gigabytes (rule F6).
   */
  busyChannelsMax: 64,
  /**
   * Batches that are collected in any case, because joins, leaves and the publications that a gateway reads can't wait.
   * Beyond it frames are sent without giving the event loop a turn (rule F10).
   */
  batchesCollectedMax: 64,
  /**
   * The body of a post to `/emulation`: a frame in a JSON string, in which each character may be escaped, and 4 KiB for
   * the rest. A larger body is refused with status 413.
   */
  emulationBytesMax: 135_168,
  /**
   * How long a request's body may take. Bodies come with their requests or at once afterwards; in 20 s a backend sends 8
   * MiB at 3.4 Mbit/s. Then the request is refused with status 408 (rule B20).
   */
  bodyMs: 20_000,
  /**
   * Bodies that may come from anybody and that one isolate reads at a time: with `emulationBytesMax` each, half of its
   * memory. Beyond it those that have taken longest are refused with status 408, if they have taken at least so many ms:
   * thousands of clients that come back together need less (rule B20).
   */
  openBodiesMax: 500,
  openBodyMs: 1_000,
  /**
   * The earliest time after its request at which an HTTP stream ends whose client was never connected; the actual time
   * is random, up to twice as long (rule T5). SDKs reconnect at once after such an end, and would do so hundreds of
   * times a second (docs/protocol.md 4.6).
   */
  refusedStreamDelayMs: 1_000,
  /**
   * Bytes that all HTTP streams of one isolate hold together for their readers. An isolate has 128 MB, of which
   * requests take some. Beyond it, a stream that holds more than its share is ended with 3008 (rule T3).
   */
  streamsBytesMax: 33_554_432,
  /**
   * How long a stream that has ended waits for its reader to take the rest. At 40 kB a second, a
   * `client.queue_max_size` of 1 MiB takes 26 s. Then the rest is dropped.
   */
  streamEndMs: 30_000,
  /**
   * How long a long poll may wait, in seconds. Proxies and browsers give up on a response that takes a minute. A
   * request for longer is refused with status 400 (rule T9).
   */
  pollSecondsMax: 55,
  /**
   * How long the edge and the objects wait for the answer of an object. Then the edge answers with status 503, and an
   * object counts the call as failed (rule B4).
   */
  objectAnswerMs: 10_000,
  /**
   * Calls of one request that are in flight together. Should the platform let only 6 of them through at a time, the
   * last of 32 calls still gets through within 4 s when each of them wakes a new object (0.6 s), and so within
   * `objectAnswerMs`. Further calls wait (rule B4).
   */
  callsInFlightMax: 32,
  /**
   * How long a request to many channels may take: 1,000 new objects, 32 at a time, take 20 s. Backends wait for an
   * answer about as long as this, and a later answer would reach no reader. Channels that haven't been called by then
   * are answered 111 (rule B4).
   */
  requestAnswerMs: 30_000,
  /** Channels that a gateway keeps its cursor of after their last subscriber has left, up to 1 KiB each (rule L9). */
  restingChannelsMax: 1_000,
  /**
   * Entries, and their bytes, that a channel keeps for the gateways that haven't taken them: the slowest gateway may be
   * this far behind. Beyond it the oldest entries are dropped, and that gateway reads the history (rules L2 and L3).
   */
  relayLogEntriesMax: 16_384,
  relayLogBytesMax: 8_388_608,
  /**
   * Entries, and their bytes, that a gateway may be behind: as many as 4 frames hold, or one call carries. Beyond it
   * publishers wait until the gateway has answered its call, and this long at most (rule F9).
   */
  relayAheadEntriesMax: 1_024,
  relayAheadBytesMax: 1_048_576,
  relayAheadWaitMs: 3_000,
  /**
   * Entries, and their bytes, in one call to a gateway; a single larger entry is sent alone. A call carries 32 MiB.
   * Further entries are sent with the next call (rule L2).
   */
  relayBatchEntriesMax: 2_048,
  relayBatchBytesMax: 1_048_576,
  /**
   * How long after a commit an alarm makes sure that the gateways have the publication (rule L4). The platform evicts
   * an idle object after ten seconds. An alarm that is due before that comes, in quiet times, to the instance that set
   * it, which knows that the gateways have the publication and calls none of them.
   */
  crashAlarmMs: 8_000,
  /**
   * How long an object waits before it asks again for an alarm that the platform couldn't set (rule S6). It is awake
   * meanwhile.
   */
  alarmRetryMs: 1_000,
  /**
   * How old the newest publication may be for an alarm to tell the gateways the top (rule L4). The platform repeats an
   * alarm for 2 minutes if the object doesn't wake.
   */
  crashCheckMs: 150_000,
  /**
   * Gateways that follow one channel, and gateways to which a channel object spills. Each takes a call for each batch,
   * and one invocation may make 1,000 calls. A subscribe through a further gateway is answered 111.
   */
  relayGatewaysMax: 512,
  /**
   * The entries of one channel that a gateway holds while it waits for an answer about that channel, in bytes. Beyond
   * it only the fact is kept that more came: the gateway reads it from the history or tells its subscribers (rule L3).
   */
  followerBufferBytesMax: 4_194_304,
  /**
   * The memory of the channels and subscriptions of a gateway together, roughly. This is half of the memory that an
   * object has. Beyond it a subscribe is answered 111; beyond half of it new connections go to another gateway (rule
   * G7).
   */
  gatewayHeldBytesMax: 67_108_864,
  /**
   * Questions of clients for the presence of one channel that wait in one object to be answered together, and as many
   * of calls. Each is sent an answer as large as the channel. A further question is answered 111 (rule P6).
   */
  presenceWaitingMax: 1_024,
  /** Those among them of one client, so that a client doesn't make others be refused. */
  presenceWaitingPerClientMax: 16,
  /**
   * How long questions for presence wait for gateways that were asked before. Then the gateways are asked again, so
   * that a gateway that hangs doesn't make a client wait longer than an SDK does (rule P4).
   */
  presenceOvertakeMs: 500,
  /**
   * Clients that are listed for presence, and encoded, before the event loop gets a turn: that takes about a
   * millisecond for each codec (rule P5).
   */
  presenceSliceClients: 500,
  /**
   * Newest publications that a channel keeps in memory once a client has recovered them, and their bytes: those who
   * return together have missed the same. Further ones are read from their rows, which are measured first if they are
   * more than `unmeasuredRowsMax`: so few take at most 8 MiB. Clients share a list of publications, and the text
   * that it is encoded to, up to the same bytes, on gateways as well (rule R7).
   */
  recentPublicationsMax: 512,
  recentBytesMax: 131_072,
  unmeasuredRowsMax: 8,
  /**
   * The replay buffer of one channel on a gateway, and for how long it is kept: publications for clients that recover
   * together. Beyond the bytes the oldest publications are dropped, and recovering them costs another read (rule L6).
   */
  replayBufferBytesMax: 1_048_576,
  replayBufferMs: 10_000,
  /** All replay buffers of a gateway. Beyond it the oldest are dropped, and recovering from them costs another read. */
  replayBudgetBytesMax: 16_777_216,
  /**
   * The bytes of the joins and leaves of a gateway's clients that wait to be passed to one channel object. Each counts
   * as some 400 bytes, so there is room for about 40,000. No client repeats them, so they have room of their own: all
   * connections of an object may end at once. Further ones are dropped, and clients get no error for them (rule B1).
   */
  announcesWaitingBytesMax: 16_777_216,
  /**
   * Other relay requests of one gateway to one channel object that wait for the call in flight, and their bytes. A
   * client that needs a further one is answered 111.
   */
  requestsWaitingMax: 8_192,
  requestsWaitingBytesMax: 8_388_608,
  /**
   * How long a gateway doesn't call an overloaded channel object: at first the shorter time, then twice as long each
   * time, up to the longer one; and how often it tries, for a subscribe and for a join or a leave. A client that waits
   * for its subscribe reply is answered 111 after 4 tries, within the 5 s that SDKs wait. Joins and leaves are given up
   * after 12.
   */
  overloadRetryMs: 500,
  overloadRetryMsMax: 2_000,
  overloadTriesMax: 4,
  announceTriesMax: 12,
  /**
   * Relay requests in one call, and their bytes; a single larger one is sent alone. Further ones are sent with the next
   * call.
   */
  requestsPerCallMax: 1_024,
  requestsPerCallBytesMax: 1_048_576,
  /**
   * How long a channel object waits for the presence of its gateways, within the 5 s that SDKs wait for a reply.
   * Without an answer of all gateways the result is `incomplete` (rule G6).
   */
  presenceGatherMs: 3_000,
  /**
   * Subscriptions of one connection, by default and at most. The default is Centrifugo's (docs/protocol.md 5.7); the
   * maximum is the most that the row of a session can be asked to hold. `client.channel_limit` sets the number. A
   * further subscribe is answered 106, and a token that names more channels closes the connection with 3505 (rule G1).
   */
  channelLimitDefault: 128,
  channelLimitMax: 1_024,
  /**
   * The same as `newChannelsPerSecond` for the upgrades and polls of one client address at the channels' own addresses,
   * in one isolate of the edge, which knows nothing of the other isolates: a best effort against a flood of random
   * names. The burst is for offices behind one address. Further ones are answered with status 503 (rule B18).
   */
  addressChannelsPerSecond: 10,
  addressChannelsBurst: 300,
  /**
   * Addresses whose rate an isolate of the edge remembers, and channels that it knows to exist, which are free. Each
   * takes a few hundred bytes. Beyond it the one is forgotten that wasn't used for longest.
   */
  addressesRememberedMax: 10_000,
  channelsRememberedMax: 10_000,
  /**
   * Connections of one object whose client brought no token with the upgrade and hasn't connected. Connections that the
   * server has closed count until their client answers. Beyond it the object is full (rule B13). Anybody can open such
   * connections, and each may hold 32 MiB: the runtime assembles that much of a message before the object sees it, and
   * has no setting for it. Clients that reconnect together send connect a round trip after their upgrade. An object
   * takes at most 1,000 upgrades a second, so 500 clients wait if the round trip takes half a second.
   */
  unconnectedMax: 512,
  /**
   * Those among them of one client address. Many clients share the address of an office or of a mobile network; with a
   * round trip of 200 ms, 320 of them a second connect to the object. Further ones are refused with status 503 (rule
   * B13).
   */
  unconnectedPerAddressMax: 64,
  /**
   * Upgrades without a token of one client address in a second, and at once, in one isolate of the edge, whatever objects
   * they are for. A connection without a connect is closed after 10 s, so an address has at most 2,000 of them at a time;
   * and 5,000 clients behind one address reconnect within 40 s. Further ones are answered with status 503 (rule B25).
   */
  addressUpgradesPerSecond: 100,
  addressUpgradesBurst: 1_000,
  /**
   * Different payloads of one channel's delta subscribers from which the deltas of one frame are made, for each codec.
   * The subscribers that hold another payload get the publication in full (rule D5).
   */
  deltaBasesMax: 8,
  /**
   * Deltas that one object keeps for clients that recover together, with the payloads that these clients share. Beyond
   * it all of them are dropped and made again when they are needed.
   */
  knownDeltasBytesMax: 4_194_304,
  /**
   * Conditions of a tags filter, and how deep they are nested. Each is evaluated for each publication. A larger or
   * deeper filter closes the connection with 3501 (rule D4).
   */
  filterNodesMax: 64,
  filterDepthMax: 16,
  /**
   * Frames that are kept for subscribers with filters while publications are sent. Beyond it all of them are dropped
   * and made again for each subscriber that needs one.
   */
  selectedBytesMax: 8_388_608,
  /**
   * Gateways in the pool of a region, and how many objects of a pool are tried for one connection. A search through a
   * pool of 1,000 tries 14 at most. If none of them has room, the client gets status 503 (rule G3).
   */
  poolObjectsMax: 1_000,
  poolAttemptsMax: 16,
  /** How long the edge doesn't try an object that was full (rule G3). */
  poolFullMs: 5_000,
  /**
   * Pools of which an isolate of the edge remembers what it learned: one for each continent, and one for each channel
   * that spills to gateways. Beyond it the pool is forgotten of which nothing was learned for longest.
   */
  poolsRememberedMax: 128,
  /**
   * Lines that an isolate writes in a second for refusals of one kind, and characters of each text in them. Further
   * refusals are counted, and the next line says how many they were (rule A13).
   */
  refusalLinesPerSecond: 5,
  refusalTextMax: 256,
  /**
   * The part of a server's file descriptors that is kept free. When only this part is left, new requests are refused
   * with status 503. When only half of it is left, gateways' calls of channels are refused with 111, and requests with
   * a key or a token with 503 (rule B10). While less than twice this part is left, connections without a token are
   * refused: as many descriptors are kept for those with a token, and for backends (rule B30). The part has to hold the
   * connections that the runtime accepts before the Worker sees their requests.
   */
  descriptorsSpare: 0.1,
  /**
   * Open connections of a server that came without a token and haven't connected, for each file descriptor: each takes two,
   * so all of them take a quarter. Beyond it the oldest is closed with 3013 for each further one (rule B31). With 8,192
   * descriptors they are 1,024, so against an attacker that opens 500 a second each client has 2 s for its connect.
   */
  descriptorsSilent: 0.125,
  /** The descriptors that a request may take: two for its connection, and three for a channel that it wakes. */
  descriptorsPerRequest: 5,
  /** How old the count of open descriptors may be. Counting 20,000 takes a few ms. */
  descriptorsReadMs: 250,
  ...accessLimits,
  ...userLimits,
  ...sessionLimits,
} as const;
