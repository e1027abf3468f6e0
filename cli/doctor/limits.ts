/** Every bound of `dormouse doctor` that no option sets. */
export const doctorLimits = {
  /** How long a connection may take to open, and a command to be answered, in ms: twice as long as the SDKs wait. */
  answerMs: 10_000,
  /** How long a call of the API may take, in ms: a little longer than its client waits. */
  callMs: 40_000,
  /** How long a publication may take to arrive, in ms. What comes later counts as lost. */
  receiveMs: 10_000,
  /** The first part of each of these channels' names, behind the namespace. */
  channelPrefix: "dormouse-doctor-",
  /** Connections that are opened at the same time. An address may have 64 that haven't connected (rule B25). */
  opensAtOnce: 50,
  /** Connections that come back and are refused try again after this time in ms, doubled each time, as SDKs do. */
  retryMs: 500,
  /** How often they try. */
  triesMax: 6,
  /** Publications that a client misses, and recovers: fewer than `client.recovery_max_publication_limit`. */
  missed: 100,
  /** How often a client recovers them. */
  recoveries: 5,
  /** Publications to all subscribers. */
  fanOutSamples: 5,
  /** Channels whose objects sleep, and are woken by a publication each. */
  sleepers: 5,
  /** How often a sleeping object's clients send the text that the platform answers, in ms. */
  keepaliveMs: 4_000,
  /**
   * An object sleeps 10 s after its last event, and the last one of a new connection is the alarm of
   * `client.stale_close_delay`, 10 s after it was opened. A shorter time proves nothing.
   */
  sleepMsMin: 25_000,
  /** Publications whose way over the relay is asked for. */
  hops: 5,
  /** A stream whose publication takes longer than this is buffered, in ms. */
  streamLateMs: 3_000,
  /** The largest publication, in bytes: half of what a client may be behind (`client.queue_max_size`). */
  publicationBytes: 524_288,
  /** The largest frame of a client, in bytes: a little less than the server takes. */
  frameBytes: 60_000,
  /** Files and sockets beside those of the subscribers: calls of the API, other clients, the program itself. */
  otherFiles: 100,
  /** How long a connection is quiet with `--long`, in seconds: longer than the time-outs of all proxies that we know. */
  quietSecondsLong: 300,
  /** A difference of clocks from which it is told, and from which it is wrong, in ms: tokens of seconds end too early. */
  clockNoteMs: 1_000,
  clockWrongMs: 5_000,
  /** How long everything may take to be gone at the end, in ms: presence follows the end of a connection at once. */
  cleanUpMs: 10_000,
  /**
   * Texts that each sleeping client sends at once if the bill is to show whether they count: in 30 s some 20,000, many
   * more than the 1,600 other messages of a run.
   */
  billedTextsAtOnce: 250,
  /** How long Cloudflare's analytics may take to have the run, in ms, and how often they are asked. */
  analyticsMs: 600_000,
  analyticsPauseMs: 30_000,
} as const;
