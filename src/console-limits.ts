/** The bounds of the operator's console; a part of `limits` (rule B1). */
export const consoleLimits = {
  /** For how long a login lasts, 12 hours: a working day. Then the password has to be given again. */
  consoleSessionSeconds: 43_200,
  /**
   * Logins that one address may try at once, and how many more a second, in one isolate of the edge. The password can't
   * be guessed anyway, as it has `secretCharactersMin` characters: this keeps the log readable.
   */
  consoleLoginsBurst: 10,
  consoleLoginsPerSecond: 0.2,
  /** The longest password of a login, in characters. A longer one is refused unread. */
  consolePasswordCharactersMax: 1_024,
  /** The longest assertion of Cloudflare Access, in characters. A longer one is refused unread. */
  consoleAssertionCharactersMax: 16_384,
  /** How often the server's own channel says what has changed: often enough that a plot moves (rule N7). */
  liveTellMs: 1_000,
  /** How often objects report while an operator looks, in place of `metricsReportMs`: five times as many calls. */
  liveReportMs: 2_000,
  /**
   * Reports a second after which a collecting object asks for another one so soon. It answers about a thousand calls a
   * second; where more objects report, the others keep to `metricsReportMs`.
   */
  liveReportsPerSecond: 100,
  /** How often an operator's page is pinged, and after how long without an answer nobody looks any more. */
  livePingMs: 4_000,
  liveSilentMs: 10_000,
  /** For how long the other collecting objects tell what is reported to them. It is renewed in half the time. */
  liveLeaseMs: 10_000,
  /** How long a collecting object waits for further reports before it tells of them. */
  liveCollectMs: 500,
  /** Operators' pages that look at a time. Further ones are answered 503. */
  liveLookersMax: 16,
  /** The longest frame of such a page, in characters: it sends a connect command and answers to pings. */
  liveFrameCharactersMax: 4_096,
  /** Refusals that one publication of the live channel has at most; the newest are told. */
  liveRefusalsMax: 100,
} as const;
