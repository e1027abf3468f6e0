/** The bounds of users' homes and of the orders for users' connections; a part of `limits` (rule B1). */
export const userLimits = {
  /**
   * Homes of users: the home of a user is a function of the user's ID and of this number, so it can never be changed
   * without forgetting who is connected where. An object of the platform takes about 1,000 calls a second, so so many
   * homes take in a million users within a minute, and a gateway's registrations share calls. When all are awake on one
   * machine, they take 192 file descriptors.
   */
  homes: 64,
  /**
   * Calls of one object to one home in flight, to register users. Further users wait and share the next call: with 4
   * calls in flight, 256 clients that came back at a time took a third longer, because few users shared one.
   */
  registerCallsMax: 1,
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
   * How long a backend waits for an order to be carried out by all objects that hold connections of the user. It is less
   * than `objectAnswerMs`, so that the home's answer that the order is kept reaches the backend (rule U3).
   */
  orderAnswerMs: 8_000,
  /** The pause before an object is called again that didn't carry an order out, in ms; it doubles up to the maximum. */
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
  /** Orders that a home keeps because objects haven't carried them out yet. A further order is answered 111. */
  ordersKeptMax: 10_000,
  /** An order as JSON text, which is a row of the home. A longer one is answered 107. */
  orderCharactersMax: 262_144,
  /** Orders in one call to a holder; further ones follow in the next call. */
  ordersPerCallMax: 100,
  /** Calls with orders for one user that wait in an object for the call before. The home repeats a further call. */
  orderCallsWaitingMax: 16,
  /** Connections that an order may leave alone (`whitelist`). A longer list is answered 107. */
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
   * and back it is less than `registerAnswerMs`. An object that hasn't answered by then doesn't count (rule U12).
   */
  slotAnswerMs: 2_000,
  /**
   * How often a home deletes registrations of tokens, blocks and the like that have ended: it reads all of its rows for
   * that.
   */
  homePruneMs: 3_600_000,
  /**
   * How much longer than a connection or a subscription the registration of its token is kept, beyond the configured
   * delays of their ends, in seconds: for clocks that differ.
   */
  tokenKeptSeconds: 600,
  /** A user's ID in an order, in characters. No token is long enough to name a longer one. A longer one is answered 107. */
  userCharactersMax: 16_384,
} as const;
