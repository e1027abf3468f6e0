/** The bounds of users' homes and of the commands for users' connections; a part of `limits` (rule B1). */
export const userLimits = {
  /**
   * Homes of users: the home of a user is a function of the user's ID and of this number, so it can never be changed
   * without forgetting who is connected where. An object of the platform takes about 1,000 calls a second, so so many
   * homes take in a million users within a minute, and a gateway's registrations share calls. When all are awake on one
   * machine, they take 192 file descriptors.
   */
  homes: 64,
  /**
   * Channels that a gateway looks at, for a list of channels, before others get their turn: that takes 1 to 3 ms (rule
   * U24).
   */
  listedSliceChannels: 2_000,
  /**
   * Calls of one object to one home in flight, to register users. Further users wait and share the next call: with 4
   * calls in flight, 256 clients that came back at a time took a third longer, because few users shared one.
   */
  registerCallsMax: 1,
  /**
   * Calls of one object to one home in flight, to ask for slots (rule U12). A home that has to ask other objects answers
   * after up to 2 s, and other users mustn't wait for that.
   */
  slotCallsMax: 4,
  /**
   * For how long a home may keep registrations in memory alone, and how many (rule U42). Then they are written in one
   * commit. After a crash the home asks the objects that made them which ones it lost (rule U41).
   */
  registrationsWriteMs: 2_000,
  registrationsUnwrittenMax: 1_000,
  /**
   * The pause before a home asks objects whom they hold, after a crash. It is four times as long after each attempt in
   * which an object didn't answer. Beyond the maximum the next instance asks, because pauses keep the home awake.
   */
  unsureAskMs: 1_000,
  unsureAskMsMax: 64_000,
  /** The objects that a home asks whom they hold, at a time. */
  unsureAskedAtOnce: 16,
  /** Users in one call that registers them. Further users wait for the next call. */
  registerUsersMax: 1_000,
  /**
   * How long a home may take to register a user, with the attempt that follows a failed one. Then the client is told to
   * come again (rule U4). SDKs wait 5 s for a connect reply.
   */
  registerAnswerMs: 4_000,
  /**
   * Users that an object remembers as registered after their connections have ended, those with connections included.
   * Beyond it all are forgotten; registering one again costs a call and no row.
   */
  usersRememberedMax: 10_000,
  /**
   * Users whose commands one object counts (`client.rate_limit.user_command`). Beyond it those are forgotten who may
   * send as much as new ones, or else the one that has been counted longest.
   */
  userRatesMax: 10_000,
  /**
   * How long a backend waits for a command to be carried out by all objects that hold connections of the user. It is less
   * than `objectAnswerMs`, so that the home's answer that the command is kept reaches the backend (rule U3).
   */
  orderAnswerMs: 8_000,
  /** The pause before an object is called again that didn't carry a command out, in ms; it doubles up to the maximum. */
  orderRetryMs: 200,
  orderRetryMsMax: 600_000,
  /**
   * How often a home asks holders whom they still hold, so that registrations of users who don't come back end: about 7
   * days. Asking wakes an object, and forgetting a registration costs a row.
   */
  sweepIntervalMs: 604_800_000,
  /** Registrations that a home asks about at a time: at worst each is of another holder, and takes a call of its own. */
  sweepSliceMax: 100,
  /** Slices of a sweep in one alarm: with the calls of a slice, below the 1,000 calls that the platform lets an event make. */
  sweepSlicesPerAlarm: 9,
  /** The pause before the next alarm of a sweep. */
  sweepPauseMs: 1_000,
  /** Commands that a home keeps because objects haven't carried them out yet. A further command is answered 111. */
  ordersKeptMax: 10_000,
  /** A command as JSON text, which is a row of the home. A longer one is answered 107. */
  orderCharactersMax: 262_144,
  /** Commands in one call to a holder; further ones follow in the next call. */
  ordersPerCallMax: 100,
  /** Calls with commands for one user that wait in an object for the call before. The home repeats a further call. */
  orderCallsWaitingMax: 16,
  /**
   * Characters of an application's name, and of its version, that a session stores; longer ones are cut. A hash of a
   * commit has 40.
   */
  appCharactersMax: 64,
  /**
   * Connections in one answer to `connections`. All of them are in memory, and together at most `answerBytesMax`. With
   * more, the answer is `incomplete` (rule U20).
   */
  connectionsListedMax: 1_000,
  /**
   * Objects that a home asks for the connections of one user, and how long it waits for each of them. A user is seldom
   * on more than ten. Without the answer of all of them, the answer is `incomplete` (rule U20).
   */
  holdersAskedMax: 500,
  holderAnswerMs: 4_000,
  /**
   * Shards of the directory: the shard of an object is a function of its name and of this number, so it can never be
   * changed without forgetting what is listed. A question calls all of them; with 7,000 gateways, each calls 440. When all
   * are awake on one machine, they take 48 file descriptors.
   */
  directoryShards: 16,
  /**
   * Gateways that a shard of the directory asks for one question. One invocation may make 1,000 calls. The answer of a
   * shard with more is `incomplete`.
   */
  gatewaysListedMax: 900,
  /** Gateways in one answer to `info`, and channels in one answer to `channels`, by default and at most. */
  pageSizeMax: 1_000,
  /** Rows that a shard looks at for one question, if a pattern matches few of them. Beyond, the answer is `incomplete`. */
  listedRowsReadMax: 50_000,
  /**
   * How long a shard waits for the objects that it asks. A question has two such steps within `objectAnswerMs`. Without
   * the answer of all of them, the answer is `incomplete` (rule U23).
   */
  listedAnswerMs: 3_500,
  /** How long the edge waits for each shard in each of the two steps, and for each home that is asked for statuses. */
  shardAnswerMs: 4_500,
  /** Channels' own objects that a shard asks whether they hold connections, for each new row of a channel (rule U40). */
  listedChecks: 2,
  /** The pause after which an object calls the directory again that didn't list it. */
  listRetryMs: 25_000,
  /** Characters of a pattern for channels' names. A longer one is answered 107. */
  channelPatternCharactersMax: 1_024,
  /** Users in one request for their status. A longer list is answered 107. */
  statusUsersMax: 1_000,
  /** The state that a backend gives a user, in bytes: it is in the user's row. A larger one is answered 107. */
  statusBytesMax: 1_024,
  /** How long a status is kept that nobody changes: 30 days. Older ones are deleted as new ones come (rule U27). */
  statusKeptMs: 2_592_000_000,
  /**
   * How exactly a home notes when a user was last online: a connection that ends sooner after the last one that was noted
   * costs no row.
   */
  onlineNoteMs: 60_000,
  /** How long the ends of connections wait to be told to the users' homes together. */
  endedNoteMs: 1_000,
  /** Connections that a command may leave alone (`whitelist`). A longer list is answered 107. */
  orderWhitelistMax: 1_000,
  /**
   * The reason of a custom disconnect, in bytes of UTF-8: a WebSocket's close frame has room for no more. A longer one
   * is answered 107.
   */
  disconnectReasonBytesMax: 123,
  /**
   * Invalidations of one user's tokens that a home keeps, and tells each object that registers the user. Most users have
   * one. A further one is answered 106.
   */
  invalidationsPerUserMax: 100,
  /** Revoked tokens that an object remembers for commands that are under way with them; beyond it the oldest is forgotten. */
  revokedTokensRememberedMax: 10_000,
  /**
   * The largest `client.user_connection_limit`: a home reads the slots of a user for each connect. A configuration with a
   * larger one is refused (rule A8).
   */
  userConnectionLimitMax: 10_000,
  /**
   * How long a home waits for the objects that hold connections of a user whose slots are all taken. With the way there
   * and back it is less than `registerAnswerMs`. An object that hasn't answered by then doesn't count (rule U37).
   */
  slotAnswerMs: 2_000,
  /**
   * How often a home looks for registrations of tokens that have ended, and at how many registrations each time: at a
   * million in a home, all of them in less than two minutes, and never longer than a millisecond at a time.
   */
  homePruneMs: 100,
  /** The pause after all were looked at, in ms: in a small home each look is one at all, and costs four statements. */
  homePrunePauseMs: 10_000,
  homePruneRows: 1_000,
  /**
   * How much longer than a connection or a subscription the registration of its token is kept, beyond the configured
   * delays of their ends, in seconds: for clocks that differ.
   */
  tokenKeptSeconds: 600,
  /** A user's ID in a command, in characters. No token is long enough to name a longer one. A longer one is answered 107. */
  userCharactersMax: 16_384,
  /**
   * Users whom a subscription token, or a backend's answer, makes members of the channel's audience: the token is sent with
   * each subscribe. More are added by `add_audience`.
   */
  membersNamedMax: 100,
  /**
   * How often a home asks whom its holders still hold, in place of `sweepIntervalMs`, if a backend is told who is online
   * (rule E11).
   */
  eventsHoldersCheckMs: 3_600_000,
} as const;
