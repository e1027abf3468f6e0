/** The bounds of the console: of the logins of operators, and of what it lists (rule B1). */
export const consoleLimits = {
  /** For how long a login lasts, 12 hours: a working day. Then the password has to be given again. */
  consoleSessionSeconds: 43_200,
  /** Logins that one address may try at once, and how many more a second, in one isolate of the edge. */
  consoleLoginsBurst: 10,
  consoleLoginsPerSecond: 0.2,
  /**
   * Wrong passwords from all addresses together before the next one has to wait, in one isolate of the edge: more than
   * several operators mistype (rule N10).
   */
  consoleGuessesFree: 20,
  /**
   * The first wait, which doubles with each further wrong password, and the longest one. At one guess a minute, 16 random
   * characters stay unknown, and an operator in a new browser waits no longer than that (rule N10).
   */
  consoleGuessWaitMs: 1_000,
  consoleGuessWaitMsMax: 60_000,
  /** Without a guess for this long, all wrong passwords are forgotten: fewer guesses than the longest wait admits. */
  consoleGuessesForgottenMs: 3_600_000,
  /**
   * For how long the answer of a Worker's own `console` holds for a socket, 5 minutes: it can't tell of a log-out. Then the
   * page opens the socket again, and the code is asked again (rule OW15).
   */
  consoleAdmittedSeconds: 300,
  /** How long a browser that has logged in is known, 90 days: an operator who comes back each quarter (rule N11). */
  consoleKnownSeconds: 7_776_000,
  /** The longest password of a login, in characters. A longer one is refused unread. */
  consolePasswordCharactersMax: 1_024,
  /** The longest assertion of Cloudflare Access, in characters. A longer one is refused unread. */
  consoleAssertionCharactersMax: 16_384,
  /** The users of one page of the console: more than an operator reads (rule N20). */
  consoleUsersListedMax: 100,
  /** The gateways that one page of users asks, as many as the Overview does. Each of them that sleeps is woken by it. */
  consoleUserGatewaysMax: 25,
} as const;
