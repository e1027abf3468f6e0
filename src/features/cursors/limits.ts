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
  /**
   * Users whose rows one request for `marks` looks at, for its page and for its count: about a millisecond. The answer has
   * the cursor from which a further request goes on (rule CU35).
   */
  markRowsMax: 10_000,
  /**
   * Counts of who has read that one object keeps until a mark is changed (rule CU44), of some hundred bytes each: those of the
   * messages that clients show at a time. Beyond it counting begins anew.
   */
  sharedAnswersMax: 256,
  /**
   * Users whose marks the receipts of a channel show one by one. Together they are about 80 kB, which each client with
   * receipts reads, and each mark is sent to all these clients. With more users only counts are shown, for as many of
   * the newest publications (rule CU38).
   */
  receiptKeysMax: 1_000,
  /** Users in one request about an audience: looking each up and writing the row takes about 20 ms together. */
  audienceUsersMax: 1_000,
  /**
   * The bounds of `cursors.notify_after`. Within it a channel's object wakes once, and asks its gateways; a publication must
   * still be kept at its end. A configuration beyond one is refused.
   */
  notifyAfterMsMin: 1_000,
  notifyAfterMsMax: 86_400_000,
  /**
   * How much later than `cursors.notify_after` publications are judged, at most: a tenth of it, and no longer than a
   * person takes to write some messages. So the publications of a burst share an event, an alarm and a census (rule
   * CU24).
   */
  judgedTogetherMsMax: 5_000,
  /** Members that are looked at in one turn: their rows are read, and events of them are written, within about 3 ms. */
  judgedSliceMembers: 100,
  /** Publications whose tags and publishers are read in one turn, for what counts: about 1 ms. */
  judgedSliceRows: 500,
  /**
   * The share of `events.keep_max` up to which judging fills the object's log, with events that the backend hasn't taken: what
   * else happens has the rest. When no more than the other share waits, judging goes on, with a census: it isn't asked for each
   * batch that the backend takes (rule CU46).
   */
  judgedLogShare: 0.5,
  judgedAgainLogShare: 0.25,
  /** Users that a question to gateways names. If there are more, the gateways are asked for all connected users. */
  censusUsersMax: 1_000,
  /** Connections whose notes one turn of a census reads: about 1 ms. */
  censusSliceSessions: 500,
  /**
   * After how many ms objects are asked again, because a gateway hadn't answered, and how often: before the wait for a
   * ping, and after it (rule CU25).
   */
  judgedAskAgainMs: 10_000,
  judgedAskAgainMax: 3,
  /**
   * How long a client may take to answer a ping before what was sent earlier counts as not received: a mobile network
   * that wakes takes 2 to 4 s (rule CU25).
   */
  judgedAnswerMs: 5_000,
  /**
   * Stretches before the newest one that are kept for one member until they are judged. Each is a row of about 60
   * bytes. There is one for each time that the user was away while something came, within `cursors.notify_after`. Over
   * this bound the two with the smallest hole between them count as one (rule CU45). A census finds as many of one
   * user.
   */
  stretchesMax: 32,
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
  /**
   * Channels that keep something of one user, each a row of about 60 bytes of the user's home. A further channel deletes
   * what it keeps of the user (rule CU34).
   */
  channelsPerUserMax: 10_000,
  /** Users that a channel reports to their homes at once: a call of about 50 kB, or several smaller ones. */
  toldUsersMax: 500,
  /** How long a channel's object waits for a home's answer, and how much later than it says something may have been kept. */
  tellMs: 4_000,
  /** The pause after which a home that didn't answer is called again by a channel's object that is awake. */
  tellPauseMs: 2_000,
  /**
   * After how long the alarm makes a channel's object report to homes again, if the instance that was about to is lost.
   */
  tellAgainMs: 10_000,
  /** Channels that a home calls at once to make them forget a user. */
  forgetCallsAtOnce: 50,
  /**
   * How many times a home calls that many channels in one event, because the platform bounds the calls of an event. The
   * alarm continues with the rest.
   */
  forgetPagesAtOnce: 10,
  /** Users whose channels a home calls at the same time; further ones wait for the alarm. */
  forgottenAtOnce: 20,
  /** When a home's alarm goes on with a user whom not all channels have forgotten, unless they are called later. */
  forgetAgainMs: 10_000,
  /** The shortest time to that alarm, so that it isn't set for each answer. */
  forgetPauseMs: 1_000,
  /**
   * How long a home remembers which users it has forgotten. A channel's object that couldn't report earlier what it
   * keeps deletes it when it reports (rule CU32).
   */
  forgottenMs: 86_400_000,
} as const;
