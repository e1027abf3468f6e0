// Written by `npm run openapi`. Don't edit it: a test compares it.

export interface ApiPublishRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is required. At most 1048576 bytes. */
  readonly data?: unknown;
  /** Publish only if this is greater than the version of the channel's newest publication of the same `version_epoch`. It needs history. */
  readonly version?: number;
  /** The payload in base64, for bytes that aren't JSON; it wins over `data`. */
  readonly b64data?: string;
  /** The tags of the publication. At most 16384 bytes of JSON. */
  readonly tags?: { readonly [name: string]: string };
  /** Publish to subscribers only: the channel doesn't keep it. */
  readonly skip_history?: boolean;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
  /** Send the publication as a delta to subscribers that take deltas. */
  readonly delta?: boolean;
  /** The numbering that `version` belongs to. */
  readonly version_epoch?: string;
  /** Publish only if this is the offset of the channel's newest publication; 0: only the first one. It needs history, and excludes `skip_history`. Dormouse's own. */
  readonly if_offset?: number;
}

export interface ApiBroadcastRequest {
  /** The names of the channels. */
  readonly channels: readonly string[];
  /** The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is required. At most 1048576 bytes. */
  readonly data?: unknown;
  /** Publish only if this is greater than the version of the channel's newest publication of the same `version_epoch`. It needs history. */
  readonly version?: number;
  /** The payload in base64, for bytes that aren't JSON; it wins over `data`. */
  readonly b64data?: string;
  /** The tags of the publication. At most 16384 bytes of JSON. */
  readonly tags?: { readonly [name: string]: string };
  /** Publish to subscribers only: the channel doesn't keep it. */
  readonly skip_history?: boolean;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
  /** Send the publication as a delta to subscribers that take deltas. */
  readonly delta?: boolean;
  /** The numbering that `version` belongs to. */
  readonly version_epoch?: string;
}

export interface ApiHistoryRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The most publications; 0, or none, for the position alone, and -1 for all. */
  readonly limit?: number;
  /** Read what comes after this position, or with `reverse` before it. A position of another stream is error 112. */
  readonly since?: {
    /** The number of a publication. */
    readonly offset?: number;
    /** The epoch of the stream; empty for whichever it is. */
    readonly epoch?: string;
  };
  /** The newest publication comes first. */
  readonly reverse?: boolean;
}

export interface ApiHistoryRemoveRequest {
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiPresenceRequest {
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiPresenceStatsRequest {
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiDisconnectRequest {
  /** The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must name one anonymous connection. */
  readonly user?: string;
  /** The ID of a connection: no other one is meant. */
  readonly client?: string;
  /** The session of a connection: no other one is meant. */
  readonly session?: string;
  /** The IDs of connections that are left alone. */
  readonly whitelist?: readonly string[];
  /** How the connections are closed; 3503 `force disconnect` if it is absent. */
  readonly disconnect?: {
    /** A close code from 3000 to 4999; 0, or none, for 3503. */
    readonly code?: number;
    /** The reason, which isn't valid JSON. At most 123 bytes. */
    readonly reason?: string;
  };
}

export interface ApiUnsubscribeRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must name one anonymous connection. */
  readonly user?: string;
  /** The ID of a connection: no other one is meant. */
  readonly client?: string;
  /** The session of a connection: no other one is meant. */
  readonly session?: string;
}

export interface ApiSubscribeRequest {
  /** The channel's name. */
  readonly channel: string;
  /** What others are shown of the client: any JSON value. At most 8192 bytes. */
  readonly info?: unknown;
  /** What the client gets with the subscription: any JSON value. At most 8192 bytes. */
  readonly data?: unknown;
  /** The client gets only publications whose tags this filter lets through. */
  readonly server_tags_filter?: ApiTagsFilter;
  /** The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must name one anonymous connection. */
  readonly user?: string;
  /** The ID of a connection: no other one is meant. */
  readonly client?: string;
  /** The session of a connection: no other one is meant. */
  readonly session?: string;
  /** When the subscription ends, in seconds since 1970; 0, or none, for never. */
  readonly expire_at?: number;
  /** The same in base64 of JSON, which wins over `info`. */
  readonly b64info?: string;
  /** The same in base64 of JSON, which wins over `data`. */
  readonly b64data?: string;
  /** Deliver what comes after this position, if the channel still has it. */
  readonly recover_since?: {
    /** The number of a publication. */
    readonly offset?: number;
    /** The epoch of the stream; empty for whichever it is. */
    readonly epoch?: string;
  };
  /** Options of the namespace that the subscription has otherwise. */
  readonly override?: {
    /** The client is present on the channel. */
    readonly presence?: {
      /** On or off. */
      readonly value?: boolean;
    };
    /** The client's joins and leaves are told. */
    readonly join_leave?: {
      /** On or off. */
      readonly value?: boolean;
    };
    /** The client is told joins and leaves. */
    readonly force_push_join_leave?: {
      /** On or off. */
      readonly value?: boolean;
    };
    /** The server checks that the client misses nothing. */
    readonly force_positioning?: {
      /** On or off. */
      readonly value?: boolean;
    };
    /** The client may recover what it missed. */
    readonly force_recovery?: {
      /** On or off. */
      readonly value?: boolean;
    };
  };
}

/** A node of a tags filter, of at most 64 nodes in 16 levels. A node with `op` has `nodes` and nothing else; a node without `op` compares a tag, and has no `nodes`. */
interface ApiTagsFilter {
  /** `and`, `or` or `not`; absent for a comparison. */
  readonly op?: string;
  /** The tag that is compared. */
  readonly key?: string;
  /** `eq`, `neq`, `in`, `nin`, `ex`, `nex`, `sw`, `ew`, `ct`, `lt`, `lte`, `gt` or `gte`. */
  readonly cmp?: string;
  /** With which the tag is compared; absent for `in`, `nin`, `ex` and `nex`. */
  readonly val?: string;
  /** With which the tag is compared by `in` and `nin`. */
  readonly vals?: readonly string[];
  /** The nodes that `op` joins; exactly one for `not`. */
  readonly nodes?: readonly ApiTagsFilter[];
}

export interface ApiRefreshRequest {
  /** What others are shown of the client: any JSON value. At most 8192 bytes. */
  readonly info?: unknown;
  /** The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must name one anonymous connection. */
  readonly user?: string;
  /** The ID of a connection: no other one is meant. */
  readonly client?: string;
  /** The session of a connection: no other one is meant. */
  readonly session?: string;
  /** Close the connections with 3005. */
  readonly expired?: boolean;
  /** When the connections end, in seconds since 1970; 0, or none, for never. A time in the past closes them with 3005. */
  readonly expire_at?: number;
  /** The same in base64 of JSON, which wins over `info`. */
  readonly b64info?: string;
}

export interface ApiBlockUserRequest {
  /** The user's ID. */
  readonly user: string;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
}

export interface ApiUnblockUserRequest {
  /** The user's ID. */
  readonly user: string;
}

export interface ApiRevokeTokenRequest {
  /** The claim `jti` of the token. */
  readonly uid: string;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
}

export interface ApiInvalidateUserTokensRequest {
  /** The user's ID. */
  readonly user: string;
  /** Tokens whose claim `iat` is less than this are meant, in seconds since 1970; 0, or none, for now. */
  readonly issued_before?: number;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
  /** Only subscription tokens for this channel are meant; absent for all tokens. */
  readonly channel?: string;
}

export interface ApiConnectionsRequest {
  /** The user's ID. */
  readonly user: string;
}

export interface ApiInfoRequest {
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}

export interface ApiChannelsRequest {
  /** Only channels whose names match this glob: `*` stands for any characters, `?` for one, `[a-z]` for one of a class, `{a,b}` for one of several globs. Absent for all channels. */
  readonly pattern?: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}

export interface ApiUpdateUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
  /** A state of your own, such as "busy". At most 1024 bytes. */
  readonly state?: string;
}

export interface ApiGetUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
}

export interface ApiDeleteUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
}

export interface ApiMapPublishRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
  /** The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is required. At most 1048576 bytes. */
  readonly data?: unknown;
  /** What subscribers get in place of `data`, which those get who synchronise later. Any JSON value, of at most 1048576 bytes. */
  readonly stream_data?: unknown;
  /** Publish only if this is greater than the version of the key's value of the same `version_epoch`. */
  readonly version?: number;
  /** The payload in base64, for bytes that aren't JSON; it wins over `data`. */
  readonly b64data?: string;
  /** The same in base64, which wins over `stream_data`. */
  readonly b64stream_data?: string;
  /** The tags of the publication. At most 16384 bytes of JSON. */
  readonly tags?: { readonly [name: string]: string };
  /** `if_new`: only if the map hasn't the key. `if_exists`: only if it has. Otherwise in any case. */
  readonly key_mode?: "" | "if_new" | "if_exists";
  /** A number that is kept with the value. */
  readonly score?: number;
  /** Make the change only if this is the offset of the key's last change; 0: only if the map hasn't the key. Dormouse's own. */
  readonly if_offset?: number;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
  /** Send the publication as a delta to subscribers that take deltas. */
  readonly delta?: boolean;
  /** The numbering that `version` belongs to. */
  readonly version_epoch?: string;
}

export interface ApiMapRemoveRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
  /** Make the change only if this is the offset of the key's last change; 0: only if the map hasn't the key. Dormouse's own. */
  readonly if_offset?: number;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
}

export interface ApiMapAppendRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
  /** The text. It is required without `at` and without `final`. */
  readonly text?: string;
  /** The length that the text has before, in UTF-16 units, as JavaScript counts. If it has another one, nothing is appended, and the answer has the true length. A text that is there already at this place is a success. */
  readonly at?: number;
  /** The member of the value that grows, if the value is an object. */
  readonly field?: string;
  /** This is the end of the text: nothing can be appended after it. */
  readonly final?: boolean;
  /** Append once, however often this is repeated within 5 minutes. Such an append ends its window; `at` costs less. */
  readonly idempotency_key?: string;
}

export interface ApiMapReadStateRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The `cursor` of the page before; absent for the first page. */
  readonly cursor?: string;
  /** The most entries; 0, or none, for the position alone, and -1 for all. */
  readonly limit?: number;
  /** Read this key alone. */
  readonly key?: string;
  /** The `offset` of the first page: later pages leave out what was changed since. */
  readonly revision_offset?: number;
  /** The `epoch` of the first page, likewise. */
  readonly revision_epoch?: string;
}

export interface ApiMapReadStreamRequest {
  /** The channel's name. */
  readonly channel: string;
  /** Read what comes after this offset, or with `reverse` before it. A position of another epoch is error 112. */
  readonly since_offset?: number;
  /** The epoch of the stream; empty for whichever it is. */
  readonly since_epoch?: string;
  /** The most entries; 0, or none, for the position alone, and -1 for all. */
  readonly limit?: number;
  /** The newest change comes first. */
  readonly reverse?: boolean;
}

export interface ApiMapStatsRequest {
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiMapClearRequest {
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiSharedPollPublishRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
  /** The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is required. At most 1048576 bytes. */
  readonly data?: unknown;
  /** Values with no greater version than the one that is known are dropped. */
  readonly version: number;
  /** The payload in base64, for bytes that aren't JSON; it wins over `data`. */
  readonly b64data?: string;
  /** The numbering that `version` belongs to. With another one all clients begin anew. */
  readonly epoch?: string;
}

export interface ApiMarkReadRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the last publication that is read. It can't be beyond the newest one. */
  readonly offset: number;
  /** The epoch of the offset; empty for the one of now. */
  readonly epoch?: string;
}

export interface ApiUnreadRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channels. */
  readonly channels: readonly string[];
}

export interface ApiDeliveredRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channel's name. */
  readonly channel: string;
}

export interface ApiMarksRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most marks of the page; none for 1000, and so is 0, but with `offset`, where the answer has no marks then. */
  readonly limit?: number;
  /** The users are counted who have read up to this offset. */
  readonly offset?: number;
}

export interface ApiForgetUserRequest {
  /** The user's ID. */
  readonly user: string;
  /** Also [erase](erasure.md#forget-a-user) what the user's clients have published, in namespaces with `erasable_by_user`. Answered 108 if there are none. */
  readonly publications?: boolean;
}

export interface ApiSetAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

export interface ApiAddAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

export interface ApiRemoveAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

export interface ApiAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}
