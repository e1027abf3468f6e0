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
} as const;
