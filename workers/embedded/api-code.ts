// Written by `npm run openapi`. Don't edit it: a test compares it.

/** The code of a channel: its stored keys and timers, and its last calls. */
export interface ApiCodeState {
  /** How many keys there are. */
  readonly keys: number;
  /** The first keys; at most 100, and none of a map. */
  readonly first_keys: readonly ApiCodeKey[];
  /** The timers, in the order of their times. */
  readonly timers: readonly ApiCodeTimer[];
  /** The calls since the object woke, by procedure. */
  readonly procedures: { readonly [name: string]: ApiCallOutcomes };
  /** The last calls, newest first; at most 20. */
  readonly last_calls: readonly ApiLastProcedureCall[];
  /** The bytes of the keys and their values; absent for a map. */
  readonly bytes?: number;
  /** The version of what the keys hold; absent if none is stored. */
  readonly version?: number;
}

/** A key of the code. */
interface ApiCodeKey {
  /** The key. */
  readonly key: string;
  /** The value; absent if it is long. */
  readonly value?: unknown;
}

/** A timer of the code. */
interface ApiCodeTimer {
  /** The name. */
  readonly name: string;
  /** When it calls, in ms since 1970. */
  readonly at_ms: number;
  /** The procedure that it calls. */
  readonly procedure: string;
  /** How often the procedure has thrown. */
  readonly tries: number;
}

/** How many calls ended in which way. */
interface ApiCallOutcomes {
  /** Those that were carried out. */
  readonly done: number;
  /** Those that were answered again, by their idempotency key. */
  readonly repeated: number;
  /** Those that the code rejected. */
  readonly rejected: number;
  /** Those that passed a bound, or that there was no room for. */
  readonly refused: number;
  /** Those in which the code threw. */
  readonly threw: number;
  /** Those that held the thread for more than 50 ms. */
  readonly slow: number;
}

/** A call that has ended. */
interface ApiLastProcedureCall {
  /** The procedure, `onPublish` or `migrate`. */
  readonly procedure: string;
  /** Who called: `client`, `backend` or `timer`. */
  readonly by: string;
  /** `done`, `repeated`, `rejected`, `over-limit`, `refused` or `threw`. */
  readonly outcome: string;
  /** When, in ms since 1970. */
  readonly at_ms: number;
  /** The code of the error. */
  readonly code?: number;
  /** The error. */
  readonly message?: string;
}

export interface ApiCallRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The name of the procedure. */
  readonly procedure: string;
  /** The arguments of the procedure: any JSON value, of at most 65536 bytes. */
  readonly args?: unknown;
  /** A second call with the same key within 5 minutes calls nothing, and has the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
}

/** The result of the procedure. */
export interface ApiCallResult {
  /** Any JSON value; null if the procedure returned nothing. */
  readonly data: unknown;
}
