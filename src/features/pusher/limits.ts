/** The bounds of applications whose clients speak the Pusher protocol (rule B1). */
export const pusherLimits = {
  /** Entries of `pusher.apps`. A configuration with more is refused (rule A8). */
  appsMax: 64,
  /** Characters of a channel's name, as at pusher.com; a longer one is refused. */
  channelCharactersMax: 164,
  /** Characters of an event's name, as at pusher.com. A longer one is refused with 400. */
  eventCharactersMax: 200,
  /** Characters of the ID of a user. A longer one is refused. */
  userCharactersMax: 128,
  /** Channels of one `POST /apps/ID/events`, as at pusher.com. More are refused with 400. */
  eventChannelsMax: 100,
  /** Events of one `POST /apps/ID/batch_events`, as at pusher.com. More are refused with 400. */
  batchEventsMax: 10,
  /** How far the time of a signed request may be from the server's, in seconds. Beyond that it is refused with 401. */
  signatureSeconds: 600,
  /** Channels on a page of the directory, and after which no further page is read for `GET /apps/ID/channels`. */
  listedPageChannels: 1_000,
  listedChannelsMax: 100_000,
  /** How long a client has to sign a user in where that is required, in seconds. Then it is closed with 4009. */
  signinSeconds: 30,
  /** How long a gateway collects changes of a channel's number of subscriptions before it reports the number. */
  countWaitMs: 500,
  /** A channel with more subscriptions than the first tells of their number once in the second time at most. */
  countFastMax: 100,
  countSlowMs: 5_000,
  /** How long a new subscription with offsets waits for its client to say up to where it has the events. */
  sinceWaitMs: 10_000,
  /** Users on the watchlist of one connection, as at pusher.com; further ones aren't watched. */
  watchlistMax: 100,
  /** Webhooks of one application. A configuration with more is refused (rule A8). */
  webhooksMax: 4,
  /** Events in one request of a webhook at most. */
  webhookEventsMax: 100,
  /**
   * For how long, and how many of them, a channel keeps the events that a receiver hasn't taken, for each webhook. The
   * oldest make room, and the receiver is told which are missing (rule E6).
   */
  webhookKeepMs: 86_400_000,
  webhookKeepMax: 10_000,
  /** After this time without the last subscriber, or without a member, webhooks are told: a reload takes less. */
  webhookLeaveMs: 3_000,
  /** A webhook is told of a channel's cache misses at most once in this time. */
  webhookMissMs: 1_000,
  /** How long clients have to come back before a channel looks which members a crash of a gateway has ended. */
  membersCheckMs: 5_000,
  /** How often, and with what pause in ms, a gateway looks whether what a channel's object had told it has come. */
  membersPolls: 500,
  membersPollMs: 10,
  /** The pause before the next look, where a gateway didn't answer. */
  membersRetryMs: 30_000,
} as const;
