/** The bounds of what one connection sends, and has read; a part of `limits` (rule B1). */
export const sessionLimits = {
  /**
   * The turns of arrivals and of slices while a frame is on its way (rule F12), each so long that the clock, which counts
   * whole ms, can tell it. docs/decisions/arrivals.md has what other values came to.
   */
  arrivalsTurnMs: 12,
  deliveriesTurnMs: 8,
  /** Arrivals that come in, in one turn of the event loop, while a frame is on its way: 2 ms. */
  arrivalsPerTurn: 16,
  /** Arrivals that come in, in one turn of the event loop, when nothing is sent: 2 ms. */
  arrivalsSlice: 16,
  /**
   * How long an arrival waits. SDKs give up a connect after 5 s, and would come again while the first try is still being
   * carried out.
   */
  arrivalWaitMs: 3_000,
  /** Requests whose routes an isolate of the edge remembers, by method and path: about 1 MB. The oldest is forgotten first. */
  routesRememberedMax: 1_000,
  /** Characters of a method and path whose routes are remembered. Those of longer ones are found each time. */
  rememberedRequestLengthMax: 200,
  /** The memory of all arrivals that wait at an object. More are refused at once (rule B1). */
  arrivalsWaitingBytesMax: 16_777_216,
  /**
   * How long a client that is further than its gateway waits for the gateway's next batch, in ms, before the gateway begins
   * anew (rule L3). A batch takes a few round trips, and an official client waits 5 s for a reply.
   */
  aheadWaitMs: 1_000,
  /** For how long a connection that has no subscription yet counts as one that arrives. */
  arrivingMs: 10_000,
  /** A request that hands a socket over, while it waits: its headers, with a token, and the objects of the runtime. */
  arrivalBytes: 4_096,
  /**
   * Frames of one connection that wait for its own earlier ones, while a key is fetched or a commit is under way (rule
   * O6). A connection that sends more is closed with 3013.
   */
  framesWaitingBytesMax: 262_144,
  /**
   * The same while all connections' frames that wait are fewer than `waitingBytesMax`: a flood that is answered 111 (rule
   * B7) waits for its turns (rule B17).
   */
  framesBurstBytesMax: 1_048_576,
  /**
   * The longest `ttl` that a client is told, a year, as with Centrifugo: a client may keep it in 32 bits, or set a timer of
   * that many milliseconds. It asks for a new token then (rule C12).
   */
  ttlSecondsMax: 31_536_000,
  /** Commands of one connection that wait for its own earlier ones (rule O6). Further commands are answered 111. */
  commandsWaitingMax: 4_096,
  /**
   * Commands of one connection in a second, and at once: more than one frame of them. Further commands are answered
   * 111, and after as many refused ones as the burst the connection is closed with 3013 (rule B7).
   */
  commandsPerSecond: 500,
  commandsBurst: 5_000,
  /**
   * Subscribe commands of one connection in a second, and at once. Each may have to wake an object. The limit is
   * enforced as above (rule B7). The same rate holds for the tokens that a connection sends.
   */
  subscribesPerSecond: 50,
  subscribesBurst: 1_024,
  /**
   * Rates of `client.rate_limit` for one command, commands of each, and its time. An object that hibernates forgets what
   * it counted, after 10 quiet seconds at the earliest: what is counted for no longer is forgotten by then (rule B21).
   */
  ratesMax: 4,
  rateCommandsMax: 100_000,
  rateIntervalMsMax: 10_000,
  /** Commands beyond such a rate that are answered 111, in a second and at once. More of them close the connection. */
  commandsOverRatePerSecond: 10,
  commandsOverRateBurst: 100,
  /**
   * Channels that one user, token or address names anew in a second through one object, and at once besides
   * `client.channel_limit`. Each may make an object that stays for hours, whereas a person changes channels now and then.
   * The names that the connection is subscribed to, or that were named lately, are free. The limit is enforced as above
   * (rule B8).
   */
  newChannelsPerSecond: 5,
  newChannelsBurst: 100,
  /**
   * Names that an object remembers for that, of some 100 bytes. Beyond it, clients are forgotten who may name as many as
   * new ones, or else those that came first.
   */
  newChannelNamesMax: 100_000,
  /**
   * Commands of one frame that are carried out before others get a turn of the event loop: a millisecond or two (rule
   * B17). A frame of the subscriptions with which a client comes back has about as many.
   */
  frameTurnCommands: 64,
  /**
   * Commands of one connection that read something at a time: with answers of 1 MiB they take an eighth of an object's
   * memory. Further ones wait, with all that comes behind them (rule B16).
   */
  readsUnderWayMax: 16,
  /**
   * Answers to one connection that were read, and refused because of their size, in a second and at once. Each takes 2
   * ms; further commands that read are answered 111 (rule B16).
   */
  vainReadsPerSecond: 4,
  vainReadsBurst: 8,
  /**
   * Names in `http_headers` and in `emulated_headers`, entries of `static_headers`, and headers of one connect command. A
   * configuration with more is refused (rule A8), and a command with more is malformed (rule C8).
   */
  hookHeadersMax: 32,
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
   * How much longer than the hook's timeout an object waits for the entrypoint that calls the backend: the entrypoint may
   * have to start. Then the call has failed (rule Q5). At the edge, how late a question may be sent, and its answer be
   * reported: after that its request has ended, and another one takes its turn (rule Q13).
   */
  hookMarginMs: 1_000,
  /**
   * The body of a backend's response. A publication of 1 MiB takes a third more in base64. A larger one is a failed call
   * (rule Q5).
   */
  hookAnswerBytesMax: 1_572_864,
  /**
   * The handover to an object with what a backend gave at the upgrade, or with the client's first frame, encoded as a
   * header, in characters. Half of what the platform takes of headers. A larger one is refused with 106 (rule Q14), or with
   * status 413 (rule T8).
   */
  hookHandoverLengthMax: 65_536,
  /**
   * Sockets of clients that a backend has refused with an error at the upgrade, in one isolate of the edge, which holds
   * them until their connect is answered. Each takes some 20 KiB of its 128 MiB. Further ones are closed at once (rule
   * Q13).
   */
  refusedSocketsMax: 500,
} as const;
