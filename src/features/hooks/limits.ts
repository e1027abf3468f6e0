/** The bounds of hooks, which are questions to backends (rule B1). */
export const hookLimits = {
  /** Entries of `proxies`, and namespaces of `rpc`. A configuration with more is refused (rule A8). */
  hookTargetsMax: 100,
  /** Entries of `status_to_code_transforms`. A configuration with more is refused (rule A8). */
  hookStatusesMax: 64,
  /** Characters of a static header. A configuration with a longer one is refused (rule A8). */
  hookStaticHeaderMax: 4_096,
  /**
   * The longest `timeout` of a hook, and the shortest. A client waits for the answer, and SDKs give up after 5 s; the
   * object can't hibernate meanwhile. A configuration with another one is refused (rule A8).
   */
  hookTimeoutMsMax: 30_000,
  hookTimeoutMsMin: 10,
  /**
   * The headers of one connection that are kept for hooks, names and values together, in characters. They are in the
   * socket's attachment, beside the claims. A connection with more is refused with status 413, or its connect with 106
   * (rule B2).
   */
  hookHeadersLengthMax: 4_096,
  /**
   * Questions of one object to one backend in flight, and those that wait for them. They go out through a stateless
   * entrypoint, because the platform lets an object wait for six connections only; each of them takes a request of the
   * entrypoint. More at once would not be answered sooner by most backends, and the time of each question runs from the
   * moment at which it is asked. A further question is answered 111 (rule Q6).
   */
  hooksInFlightMax: 64,
  hooksWaitingMax: 5_000,
  /** The bytes of the questions that wait. A further question is answered 111 (rule Q6). */
  hooksWaitingBytesMax: 8_388_608,
  /**
   * Those of one user among them, or of one connection without a user: in flight, those that wait, and their bytes. Four
   * users whose questions take long leave no turns to others. A further question waits, or is answered 111 (rule Q11).
   */
  hooksInFlightShareMax: 16,
  hooksWaitingShareMax: 1_000,
  hooksWaitingBytesShareMax: 1_048_576,
  /** How long a question may wait before it is asked. SDKs give up after 5 s. An older one is answered 111 (rule Q6). */
  hookWaitMs: 4_000,
  /** Failed calls in a row after which a backend counts as down (rule Q7). */
  hookFailuresMax: 5,
  /** How long a backend that is down isn't asked; the pause doubles up to the maximum (rule Q7). */
  hookPauseMs: 1_000,
  hookPauseMsMax: 10_000,
  /** The longest pause that a backend may ask for with `Retry-After` (rule Q7). */
  hookRetryAfterMsMax: 60_000,
  /** By how much the life of a connection or a subscription is extended when its backend can't be asked (rule Q9). */
  hookExtensionSeconds: 60,
} as const;
