/** The bounds of what is kept of users on a channel (rule B1). */
export const cursorLimits = {
  /**
   * Users of whom one channel keeps something. Each is a row of about 100 bytes, so all are 10 MB of the 10 GB that an
   * object's storage may have. A further user is refused with error 106 (rule CU9).
   */
  marksMax: 100_000,
  /**
   * Members of one channel's audience. Each is a row of about 100 bytes. Over this bound an API method is answered 106, and
   * a user who subscribes doesn't become a member (rule CU20).
   */
  membersMax: 100_000,
  /** Users in one request about an audience: looking each up and writing the row takes about 20 ms together. */
  audienceUsersMax: 1_000,
  /** Channels that one question for unread publications may name: as many objects are called for it, or woken. */
  unreadChannelsMax: 100,
  /**
   * The largest `cursors.unread_max`, and its default: a badge shows no larger number, and as many rows of the history are
   * read for a user who is far behind, in about a millisecond.
   */
  unreadMax: 1_000,
  /** Rows of the history that are read at once for it. */
  unreadRowsAtOnce: 250,
  /**
   * How long a channel's object waits for what its gateways know users to have got, within the 5 s that a question may
   * take. Without an answer of one, less is known.
   */
  censusMs: 3_000,
} as const;
