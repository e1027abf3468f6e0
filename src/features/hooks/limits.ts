/** The bounds of hooks, which are questions to backends; a part of `limits` (rule B1). */
export const hookLimits = {
  /** Entries of `proxies`, and namespaces of `rpc`. A configuration with more is refused (rule A8). */
  hookTargetsMax: 100,
  /**
   * Names in `http_headers` and in `emulated_headers`, entries of `static_headers`, and entries of
   * `status_to_code_transforms`. A configuration with more is refused (rule A8).
   */
  hookHeadersMax: 32,
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
   * How much longer than the hook's timeout an object waits for the entrypoint that calls the backend: the entrypoint may
   * have to start. Then the call has failed (rule Q5). At the edge, how late a question may be sent, and its answer be
   * reported: after that its request has ended, and another one takes its turn (rule Q13).
   */
  hookMarginMs: 1_000,
  /**
   * The headers of one connection that are kept for hooks, names and values together, in characters. They are in the
   * socket's attachment, beside the claims. A connection with more is refused with status 413, or its connect with 106
   * (rule B2).
   */
  hookHeadersLengthMax: 4_096,
  /**
   * The body of a backend's response. A publication of 1 MiB takes a third more in base64. A larger one is a failed call
   * (rule Q5).
   */
  hookAnswerBytesMax: 1_572_864,
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
  /**
   * The handover to an object with what a backend gave at the upgrade, or with the client's first frame, encoded as a
   * header, in characters. Half of what the platform takes of headers. A larger one is refused with 106 (rule Q14), or with
   * status 413 (rule T8).
   */
  hookHandoverLengthMax: 65_536,
  /**
   * Sockets of clients that a backend has refused with an error at the upgrade, in one isolate of the edge, which holds
   * them until their connect is answered. Each takes some 20 KiB of its 128 MiB. Further ones are closed at once (rule
   * Q13).
   */
  refusedSocketsMax: 500,
  /** By how much the life of a connection or a subscription is extended when its backend can't be asked (rule Q9). */
  hookExtensionSeconds: 60,
} as const;
