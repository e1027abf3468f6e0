/** The bounds of tokens, keys and what they admit; a part of `limits` (rule B1). */
export const accessLimits = {
  /**
   * A token, at the upgrade or in a command. A token of this size fits in a header of the platform. A longer one is
   * invalid (rule A2).
   */
  tokenBytesMax: 16_384,
  /**
   * Bytes of the tokens that an isolate remembers as verified (rule A37), a few thousand tokens of the clients that come back
   * together; and the bytes that one takes besides its text.
   */
  verifiedTokensBytesMax: 2_097_152,
  verifiedTokenRestBytes: 128,
  /**
   * The claim `jti` of a token, in characters: several times a UUID. Each connection and each subscription stores that of
   * its token. A token with a longer one is invalid, and so is a revocation of it: 107 (rule U10).
   */
  tokenUidCharactersMax: 256,
  /**
   * Characters of a secret. A token shows whether a guess of its secret is right, at millions of guesses a second. 16
   * random letters and digits can't be found in that way, and every usual generator makes more. A Worker with a shorter
   * secret isn't configured (rule A10).
   */
  secretCharactersMin: 16,
  /**
   * Issuers of `client.token.issuers`, and of `client.subscription_token.issuers`. Each may have a JWKS, whose keys are in
   * memory. A configuration with more is refused (rule A8).
   */
  tokenIssuersMax: 32,
  /**
   * Keys of `http_api.keys`. A request's key is compared with each of them. A configuration with more is refused (rule
   * A8).
   */
  apiKeysMax: 100,
  /**
   * Steps of a pattern, such as `channel_regex`, with its repetitions written out. Each character of a name that wasn't
   * seen before looks at each of them, so a name of 255 bytes takes at most a few ms. A configuration with a larger
   * pattern is refused (rule A8).
   */
  patternStepsMax: 2_000,
  /**
   * Parentheses of a pattern within each other. The compiler calls itself for each. A pattern with more can't be used
   * (rule B19).
   */
  patternDepthMax: 100,
  /**
   * Steps and characters that each pattern remembers from the names that it was compared with, of a few dozen bytes
   * each. Beyond it they are dropped, and found again when they are needed.
   */
  patternKeptMax: 65_536,
  /**
   * Names and patterns of channels in the claim `caps`, the characters of what a session keeps of the claim, and the
   * steps of its regular expressions together. A channel's name is compared with each of them, which takes less than a
   * millisecond. A token with more is invalid (rule A16).
   */
  capabilityChannelsMax: 256,
  capabilitiesLengthMax: 4_096,
  capabilityStepsMax: 500,
  /** Claims `caps` that an isolate keeps compiled, and channels that it keeps for each: at most 5 MB together. */
  capabilityClaimsKept: 64,
  capabilityChannelsKept: 64,
  /**
   * Bits of an RSA key that verifies tokens. Shorter keys can be broken, and RFC 7518 section 3.3 forbids them. A
   * shorter key isn't used, and its tokens are answered as if the key couldn't be fetched (rule A9).
   */
  rsaKeyBitsMin: 2_048,
  /**
   * A JWKS, which is read into memory, and the keys in it. An identity provider has a handful. Fetching a larger JWKS
   * counts as failed (rule A9).
   */
  keySetBytesMax: 262_144,
  keySetKeysMax: 100,
  /** How long the keys of a JWKS are used without being fetched again (rule A9). This is Centrifugo's time. */
  keySetFreshMs: 3_600_000,
  /**
   * How long keys are used while the JWKS can't be fetched, so that an outage of a day has no effect here (rule A9).
   */
  keySetStaleMs: 86_400_000,
  /**
   * How long a JWKS isn't fetched again because of keys that it doesn't have: an attacker can invent any number of key
   * IDs. Until then a token with an unknown key is answered 100 (rule A9).
   */
  keySetRefetchMs: 30_000,
  /** How long a JWKS isn't fetched again after that failed (rule A9). */
  keySetRetryMs: 5_000,
  /** How long one of the two attempts to fetch a JWKS may take (rule A9). This is Centrifugo's time. */
  keySetAttemptMs: 1_000,
  /** How long a request waits for the fetch of another request: both attempts, and a margin (rule A9). */
  keySetWaitMs: 2_500,
  /**
   * Batches and items of one `sub_refresh` that tracks keys, and keys that it ceases to track. Each batch has a signature
   * that is verified. A frame of 64 KiB holds about 500 signatures and 6,000 keys in JSON. More are malformed (rule C8).
   */
  trackBatchesMax: 1_024,
  trackItemsMax: 8_192,
  untrackKeysMax: 8_192,
  /** How late a signature is still taken, because clocks differ (docs/protocol.md 3.5). */
  trackGraceSeconds: 5,
  /**
   * Signatures that a client may have verified for the price of one token (rule B7). A client that connects again sends
   * all signatures that it has.
   */
  signaturesPerToken: 64,
  /**
   * Refusals that an object remembers, and the characters of their texts together. Equal ones that follow each other
   * count as one (rule Y5).
   */
  trailRefusalsMax: 1_000,
  trailRefusalCharactersMax: 262_144,
} as const;
