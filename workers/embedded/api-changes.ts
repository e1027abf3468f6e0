// Written by `npm run openapi`. Don't edit it: a test compares it.

export interface ApiUpdatePublicationRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the publication that is changed. */
  readonly offset: number;
  /** The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is required. At most 1048576 bytes. */
  readonly data?: unknown;
  /** The epoch of the offset; empty for the one of now. */
  readonly epoch?: string;
  /** Change only the publication that has this version: 1 if it was never changed, and one more after each change. */
  readonly if_version?: number;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
  /** The payload in base64, for bytes that aren't JSON; it wins over `data`. */
  readonly b64data?: string;
  /** The tags of the publication. At most 16384 bytes of JSON. Absent: the publication keeps its tags. */
  readonly tags?: { readonly [name: string]: string };
  /** Send the publication as a delta to subscribers that take deltas. */
  readonly delta?: boolean;
}

/** The publication that is the change; or why nothing was changed. */
export interface ApiUpdatePublicationResult {
  /** The offset of the change; the newest offset if nothing was changed. */
  readonly offset?: number;
  /** The epoch of the stream. */
  readonly epoch?: string;
  /** The version that the publication has now; absent if there is none. */
  readonly version?: number;
  /** Nothing was changed. */
  readonly suppressed?: boolean;
  /** Why nothing was: `not_found` if the publication isn't kept any more, `deleted` if it is deleted already, `version_mismatch` because of `if_version`, `is_change` if it is a change itself, or `idempotency`. */
  readonly suppress_reason?: string;
}

export interface ApiDeletePublicationRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the publication that is changed. */
  readonly offset: number;
  /** The epoch of the offset; empty for the one of now. */
  readonly epoch?: string;
  /** Change only the publication that has this version: 1 if it was never changed, and one more after each change. */
  readonly if_version?: number;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
  /** Why, which everybody gets. */
  readonly reason?: string;
}

/** The publication that is the change; or why nothing was changed. */
export interface ApiDeletePublicationResult {
  /** The offset of the change; the newest offset if nothing was changed. */
  readonly offset?: number;
  /** The epoch of the stream. */
  readonly epoch?: string;
  /** The version that the publication has now; absent if there is none. */
  readonly version?: number;
  /** Nothing was changed. */
  readonly suppressed?: boolean;
  /** Why nothing was: `not_found` if the publication isn't kept any more, `deleted` if it is deleted already, `version_mismatch` because of `if_version`, `is_change` if it is a change itself, or `idempotency`. */
  readonly suppress_reason?: string;
}

export interface ApiEraseRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the publication, or of a change of it. `offset` or `user` is required. */
  readonly offset?: number;
  /** The epoch of the offset; empty for the one of now. */
  readonly epoch?: string;
  /** The user whose clients have published what is erased. With `offset`: erase it only if it is of this user. */
  readonly user?: string;
}

/** The publications that were erased. */
export interface ApiEraseResult {
  /** The newest offset. */
  readonly offset?: number;
  /** The epoch of the stream. */
  readonly epoch?: string;
  /** How many publications this call has erased; 0 if they were erased before, or aren't kept. */
  readonly erased?: number;
}
