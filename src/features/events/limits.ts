/** The bounds of events for backends (rule B1). */
export const eventLimits = {
  /** Events in one batch, by default and at most. They are in memory together. A configuration with more is refused. */
  eventsBatchDefault: 100,
  eventsBatchMax: 1_000,
  /** The bytes of one batch. A single larger event is sent alone; a publication has 1 MiB at most. */
  eventsBatchBytesMax: 1_048_576,
  /**
   * The bytes of one batch for a queue, and the bytes of an event's `data` there: the platform's queues take messages of
   * 128,000 bytes. An event with more data is sent without it, and says so (rule E2).
   */
  eventsQueueBytesMax: 120_000,
  eventsQueueDataBytesMax: 65_536,
  /** Events that an object keeps, by default, at most and at least. Each is a row, and the oldest one makes room. */
  eventsKeepDefault: 10_000,
  eventsKeepMax: 100_000,
  eventsKeepMin: 100,
  /**
   * The bytes of the events that an object keeps, as text: a tenth of `eventsKeepDefault` events of the largest size would
   * be 1 GB. A receiver that was away takes so much in 64 full batches. The oldest ones make room (rule E18).
   */
  eventsBytesMax: 67_108_864,
  /** For how long an event is kept that its receiver hasn't taken, by default, at most and at least, in ms. */
  eventsKeepMsDefault: 86_400_000,
  eventsKeepMsMax: 1_209_600_000,
  eventsKeepMsMin: 60_000,
  /** Events that one slice of an erasure looks at: about 4 ms, of small ones (rule E20). */
  eventsErasedAtOnce: 500,
  /**
   * How far the clock may step back without an object giving a number again: for so long it remembers its newest number
   * when its events are gone (rule E15). It costs a row and an alarm.
   */
  eventsNumberMs: 604_800_000,
  /** How long the first event after a pause waits for others to share its batch. */
  eventsFirstWaitMs: 100,
  /** The pause after a batch, unless as many events wait as fill the next one. At a steady rate they share a call. */
  eventsPauseMs: 1_000,
  /** How long a receiver has to answer. A queue answers within 1 s. Then the batch is sent again later. */
  eventsAnswerMs: 10_000,
  /** The pause after a batch that wasn't taken; it doubles up to the maximum. */
  eventsRetryMs: 1_000,
  eventsRetryMsMax: 300_000,
  /**
   * How long after an event an alarm wakes the object if it has ended before its receiver took the event. Setting an alarm
   * costs a row, so it is set once for all events of that time.
   */
  eventsAlarmMs: 30_000,
  /**
   * After how many events of connections an object stores anew who is connected, unless `events.keep_max` is less than
   * twice as many. Waking after a crash, it reads as many events at most. The list costs a row for about 2,000 connections.
   */
  eventsCheckpointEvery: 2_000,
  /**
   * How often an alarm wakes an object whose connections are reported to a backend, so that it finds the connections
   * that ended with its last instance (rule E9).
   */
  eventsConnectionsCheckMs: 600_000,
  /**
   * How often a channel's object asks its gateways whether they still follow the channel, if `channel_vacated` is
   * reported to a backend: a gateway that has crashed doesn't say so by itself (rule E10).
   */
  eventsFollowersCheckMs: 3_600_000,
  /**
   * Commits of which an object remembers when they ended, the newest ones, for events that are sent later (rule E12). An
   * event of an older one is sent without that time.
   */
  eventsCommitTimesMax: 1_000,
  /** Events in one answer of the API, by default and at most. Together they have at most `answerBytesMax` characters. */
  eventsAnswerDefault: 100,
  eventsAnswerMax: 1_000,
} as const;
