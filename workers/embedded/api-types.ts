// Written by `npm run openapi`. Don't edit it: a test compares it.

/** The request of each method of the HTTP API, in its names. */
export interface ApiRequests {
  readonly publish: ApiPublishRequest;
  readonly broadcast: ApiBroadcastRequest;
  readonly history: ApiHistoryRequest;
  readonly history_remove: ApiHistoryRemoveRequest;
  readonly presence: ApiPresenceRequest;
  readonly presence_stats: ApiPresenceStatsRequest;
  readonly disconnect: ApiDisconnectRequest;
  readonly unsubscribe: ApiUnsubscribeRequest;
  readonly subscribe: ApiSubscribeRequest;
  readonly refresh: ApiRefreshRequest;
  readonly block_user: ApiBlockUserRequest;
  readonly unblock_user: ApiUnblockUserRequest;
  readonly revoke_token: ApiRevokeTokenRequest;
  readonly invalidate_user_tokens: ApiInvalidateUserTokensRequest;
  readonly connections: ApiConnectionsRequest;
  readonly info: ApiInfoRequest;
  readonly channels: ApiChannelsRequest;
  readonly update_user_status: ApiUpdateUserStatusRequest;
  readonly get_user_status: ApiGetUserStatusRequest;
  readonly delete_user_status: ApiDeleteUserStatusRequest;
  readonly why: ApiWhyRequest;
  readonly inspect: ApiInspectRequest;
  readonly map_publish: ApiMapPublishRequest;
  readonly map_remove: ApiMapRemoveRequest;
  readonly map_append: ApiMapAppendRequest;
  readonly map_read_state: ApiMapReadStateRequest;
  readonly map_read_stream: ApiMapReadStreamRequest;
  readonly map_stats: ApiMapStatsRequest;
  readonly map_clear: ApiMapClearRequest;
  readonly shared_poll_publish: ApiSharedPollPublishRequest;
  readonly mark_read: ApiMarkReadRequest;
  readonly unread: ApiUnreadRequest;
  readonly delivered: ApiDeliveredRequest;
  readonly marks: ApiMarksRequest;
  readonly forget_user: ApiForgetUserRequest;
  readonly set_audience: ApiSetAudienceRequest;
  readonly add_audience: ApiAddAudienceRequest;
  readonly remove_audience: ApiRemoveAudienceRequest;
  readonly audience: ApiAudienceRequest;
}

/** The `result` of each method's answer. */
export interface ApiResults {
  readonly publish: ApiPublishResult;
  readonly broadcast: ApiBroadcastResult;
  readonly history: ApiHistoryResult;
  readonly history_remove: object;
  readonly presence: ApiPresenceResult;
  readonly presence_stats: ApiPresenceStatsResult;
  readonly disconnect: object;
  readonly unsubscribe: object;
  readonly subscribe: object;
  readonly refresh: object;
  readonly block_user: object;
  readonly unblock_user: object;
  readonly revoke_token: object;
  readonly invalidate_user_tokens: object;
  readonly connections: ApiConnectionsResult;
  readonly info: ApiInfoResult;
  readonly channels: ApiChannelsResult;
  readonly update_user_status: object;
  readonly get_user_status: ApiGetUserStatusResult;
  readonly delete_user_status: object;
  readonly why: ApiWhyResult;
  readonly inspect: ApiInspectResult;
  readonly map_publish: ApiMapPublishResult;
  readonly map_remove: ApiMapRemoveResult;
  readonly map_append: ApiMapAppendResult;
  readonly map_read_state: ApiMapReadStateResult;
  readonly map_read_stream: ApiMapReadStreamResult;
  readonly map_stats: ApiMapStatsResult;
  readonly map_clear: object;
  readonly shared_poll_publish: object;
  readonly mark_read: ApiMarkReadResult;
  readonly unread: ApiUnreadResult;
  readonly delivered: ApiDeliveredResult;
  readonly marks: ApiMarksResult;
  readonly forget_user: ApiForgetUserResult;
  readonly set_audience: ApiSetAudienceResult;
  readonly add_audience: ApiAddAudienceResult;
  readonly remove_audience: ApiRemoveAudienceResult;
  readonly audience: ApiAudienceResult;
}

interface ApiPublishRequest {
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

/** Where the publication is; or the newest one, if `if_offset` wasn't its offset. */
interface ApiPublishResult {
  /** The number of the publication; absent without history. */
  readonly offset?: number;
  /** The epoch of the stream; absent without history. */
  readonly epoch?: string;
  /** Nothing was published, because of `if_offset`. Dormouse's own. */
  readonly suppressed?: boolean;
  /** `position_mismatch`. Dormouse's own. */
  readonly suppress_reason?: string;
}

interface ApiBroadcastRequest {
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

/** What happened in each channel. */
interface ApiBroadcastResult {
  /** One for each channel, in the order of the request. */
  readonly responses: readonly (ApiPublishAnswer | ApiErrorAnswer)[];
}

/** The answer to a command that was carried out. */
interface ApiPublishAnswer {
  readonly result: ApiPublishResult;
}

/** The answer to a command that failed. */
interface ApiErrorAnswer {
  readonly error: ApiError;
}

/** An application error. */
interface ApiError {
  /** 100: internal server error, and the outcome may be unknown. 102: the namespace isn't configured. 103: the API key doesn't admit it. 106: a limit. 107: a bad request. 108: not available, such as history where the namespace has none. 111: too many requests, and nothing was done. 112: a position of another stream. A later release may have further codes. */
  readonly code: number;
  /** The code in words. `X-Dormouse-Error-Detail` says more. */
  readonly message: string;
}

interface ApiHistoryRequest {
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

/** The publications, and the top of the stream. */
interface ApiHistoryResult {
  /** The publications, in their order. */
  readonly publications: readonly ApiPublication[];
  /** The offset of the newest publication; 0 if there is none. */
  readonly offset: number;
  /** The epoch of the stream. */
  readonly epoch: string;
}

/** A publication that a channel keeps. */
interface ApiPublication {
  /** The payload. Bytes that aren't JSON are a text in base64. */
  readonly data: unknown;
  /** The number of the publication in its channel. */
  readonly offset: number;
  /** The tags of the publication; absent without any. */
  readonly tags?: { readonly [name: string]: string };
  /** The client that published; absent if a backend did. */
  readonly info?: ApiClientInfo;
}

/** A client as other clients are shown it. */
interface ApiClientInfo {
  /** The user's ID; empty for an anonymous user. */
  readonly user: string;
  /** The ID of the connection. */
  readonly client: string;
  /** The info of the connection's token; absent without any. */
  readonly conn_info?: unknown;
  /** The info of the subscription's token; absent without any. */
  readonly chan_info?: unknown;
}

interface ApiHistoryRemoveRequest {
  /** The channel's name. */
  readonly channel: string;
}

interface ApiPresenceRequest {
  /** The channel's name. */
  readonly channel: string;
}

/** The clients that are present. */
interface ApiPresenceResult {
  /** The clients by the ID of their connection. */
  readonly presence: { readonly [name: string]: ApiClientInfo };
  /** An object didn't answer in time, so something is missing. */
  readonly incomplete?: boolean;
}

interface ApiPresenceStatsRequest {
  /** The channel's name. */
  readonly channel: string;
}

/** The numbers of those who are present. */
interface ApiPresenceStatsResult {
  /** The clients. */
  readonly num_clients: number;
  /** The different users among them. */
  readonly num_users: number;
  /** An object didn't answer in time, so something is missing. */
  readonly incomplete?: boolean;
}

interface ApiDisconnectRequest {
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

interface ApiUnsubscribeRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must name one anonymous connection. */
  readonly user?: string;
  /** The ID of a connection: no other one is meant. */
  readonly client?: string;
  /** The session of a connection: no other one is meant. */
  readonly session?: string;
}

interface ApiSubscribeRequest {
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

interface ApiRefreshRequest {
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

interface ApiBlockUserRequest {
  /** The user's ID. */
  readonly user: string;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
}

interface ApiUnblockUserRequest {
  /** The user's ID. */
  readonly user: string;
}

interface ApiRevokeTokenRequest {
  /** The claim `jti` of the token. */
  readonly uid: string;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
}

interface ApiInvalidateUserTokensRequest {
  /** The user's ID. */
  readonly user: string;
  /** Tokens whose claim `iat` is less than this are meant, in seconds since 1970; 0, or none, for now. */
  readonly issued_before?: number;
  /** Until when, in seconds since 1970; 0, or none, for ever. */
  readonly expire_at?: number;
  /** Only subscription tokens for this channel are meant; absent for all tokens. */
  readonly channel?: string;
}

interface ApiConnectionsRequest {
  /** The user's ID. */
  readonly user: string;
}

/** The connections. */
interface ApiConnectionsResult {
  /** The connections by their IDs. */
  readonly connections: { readonly [name: string]: ApiConnection };
  /** Connections may be missing: an object didn't answer in time, or there are more than 1000. Dormouse's own. */
  readonly incomplete?: boolean;
}

/** A connection of a user. */
interface ApiConnection {
  /** The user's ID. */
  readonly user: string;
  /** `websocket`, `sse`, `http_stream`, the same after `uni_`, or `long_poll`. */
  readonly transport: string;
  /** `json`, `protobuf` or `messagepack`. */
  readonly protocol: string;
  /** When the connection was opened, in ms since 1970. */
  readonly connected_at_ms: number;
  /** -1: unknown. */
  readonly ping_pong_latency_ms: number;
  /** The object that holds the connection. Dormouse's own. */
  readonly node: string;
  /** Empty. */
  readonly labels: { readonly [name: string]: unknown };
  readonly state: ApiConnectionState;
  /** `name` of the client's connect; absent if empty. */
  readonly app_name?: string;
  /** `version` of the client's connect; absent if empty. */
  readonly app_version?: string;
  /** The region of the object; a channel's own object has none. Dormouse's own. */
  readonly region?: string;
  /** When the connection's token ends, in seconds since 1970; absent for never. Dormouse's own. */
  readonly expire_at?: number;
}

/** What a connection is subscribed to, and the tokens that it came with. */
interface ApiConnectionState {
  /** Subscriptions by channel. */
  readonly channels: { readonly [name: string]: ApiSubscription };
  /** Absent without a token that has a name or an age. */
  readonly connection_token?: ApiTokenInfo;
  /** Tokens of subscriptions, by channel. */
  readonly subscription_tokens?: { readonly [name: string]: ApiTokenInfo };
}

/** A subscription of a connection. */
interface ApiSubscription {
  /** What made it: 1 the connection's token, 2 the connect hook, 3 a subscription token, 4 the subscribe hook, 5 a user-limited channel, 6 the namespace allows it, 7 `client.insecure`, 8 a unidirectional client's request, 9 the personal channel, 10 the API's `subscribe`, 11 a capability. */
  readonly source: number;
  /** The newest offset that the object has passed on; absent without history, and while it isn't known. */
  readonly offset?: number;
  /** The epoch that the offset belongs to. */
  readonly epoch?: string;
  /** When the subscription ends, in seconds since 1970; absent for never. */
  readonly expire_at?: number;
  /** The client may recover what it missed. */
  readonly recoverable?: boolean;
  /** The server checks that the client misses nothing. */
  readonly positioned?: boolean;
  /** The client is present on the channel. */
  readonly presence?: boolean;
  /** The client's joins and leaves are told. */
  readonly join_leave?: boolean;
  /** The client is told joins and leaves. */
  readonly push_join_leave?: boolean;
  /** The client gets deltas. */
  readonly delta?: boolean;
  /** The client has set a tags filter. */
  readonly tags_filter?: boolean;
  /** The client's token or a backend has set a tags filter. */
  readonly server_tags_filter?: boolean;
}

/** The name and the age of a token. */
interface ApiTokenInfo {
  /** The claim `jti`. */
  readonly uid?: string;
  /** The claim `iat`, in seconds since 1970. */
  readonly issued_at?: number;
}

interface ApiInfoRequest {
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}

/** A page of gateways. */
interface ApiInfoResult {
  /** The gateways, in the order of their names. */
  readonly nodes: readonly ApiNode[];
  /** Where the objects are, by what they are; absent if the configuration doesn't say. */
  readonly placement?: { readonly [name: string]: ApiPlacement };
  /** Another page follows: ask with this `cursor`. Absent on the last page. Dormouse's own. */
  readonly cursor?: string;
  /** An object didn't answer in time, so something is missing. Dormouse's own. */
  readonly incomplete?: boolean;
}

/** A gateway, which is what Centrifugo calls a node. */
interface ApiNode {
  /** The node that connections on it show. */
  readonly uid: string;
  /** The name of the gateway. */
  readonly name: string;
  /** The release that it runs. */
  readonly version: string;
  /** Its connections. */
  readonly num_clients: number;
  /** The different users among them. */
  readonly num_users: number;
  /** The channels that they are subscribed to. */
  readonly num_channels: number;
  /** Their subscriptions. */
  readonly num_subs: number;
  /** The seconds since it last woke. */
  readonly uptime: number;
  /** The region whose connections it holds. Dormouse's own. */
  readonly region?: string;
}

/** Where an object is kept. */
interface ApiPlacement {
  /** The jurisdiction that it never leaves, or `none`. */
  readonly jurisdiction: string;
  /** Near what it is created; absent: near the first caller. */
  readonly location?: string;
}

interface ApiChannelsRequest {
  /** Only channels whose names match this glob: `*` stands for any characters, `?` for one, `[a-z]` for one of a class, `{a,b}` for one of several globs. Absent for all channels. */
  readonly pattern?: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}

/** A page of channels. */
interface ApiChannelsResult {
  /** The channels by name. */
  readonly channels: { readonly [name: string]: ApiChannelInfo };
  /** Another page follows: ask with this `cursor`. Absent on the last page. Dormouse's own. */
  readonly cursor?: string;
  /** An object didn't answer in time, so something is missing. Dormouse's own. */
  readonly incomplete?: boolean;
}

/** A channel that has subscribers. */
interface ApiChannelInfo {
  /** Its subscribers, in all objects together. */
  readonly num_clients: number;
}

interface ApiUpdateUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
  /** A state of your own, such as "busy". At most 1024 bytes. */
  readonly state?: string;
}

interface ApiGetUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
}

/** The statuses. */
interface ApiGetUserStatusResult {
  /** The statuses of the users. */
  readonly statuses: readonly ApiUserStatus[];
  /** An object didn't answer in time, so something is missing. Dormouse's own. */
  readonly incomplete?: boolean;
}

/** When a user was active and online. */
interface ApiUserStatus {
  /** The user's ID. */
  readonly user: string;
  /** When a backend last updated the status, in seconds since 1970; 0 for never. */
  readonly active: number;
  /** When the user was last known to be connected, in seconds since 1970; 0 for never. */
  readonly online: number;
  /** The state that the last update gave. */
  readonly state: string;
}

interface ApiDeleteUserStatusRequest {
  /** The IDs of the users. */
  readonly users: readonly string[];
}

interface ApiWhyRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the publication, which the answer to `publish` has. */
  readonly offset: number;
  /** The user whose connections are told of. `user` or `client` is required. */
  readonly user?: string;
  /** The ID of the connection that is told of. Without `user`, only objects that follow the channel are asked, and the one that the ID of an anonymous connection names. */
  readonly client?: string;
}

/** The way of the publication. */
interface ApiWhyResult {
  /** The channel. */
  readonly channel: string;
  /** The offset of the publication. */
  readonly offset: number;
  /** The answer in a sentence. */
  readonly summary: string;
  readonly publication: ApiTracedPublication;
  /** The objects that were asked, the channel's own first. */
  readonly objects: readonly ApiAskedObject[];
  /** The connections, and what became of it. */
  readonly connections: readonly ApiTracedConnection[];
  /** The asked user; absent if the request has none. */
  readonly user?: string;
  /** The asked connection; absent if the request has none. */
  readonly client?: string;
  /** Something may be missing: an object or the user's home didn't answer, or there were too many. */
  readonly incomplete?: boolean;
}

/** What the channel's object knows of the publication. */
interface ApiTracedPublication {
  /** `remembered`, `in_history`, `forgotten` or `not_published`. */
  readonly state: string;
  /** The epoch of the stream; absent without a stream. */
  readonly epoch?: string;
  /** The newest offset of the stream; absent without a stream. */
  readonly top?: number;
  /** When it came, in ms since 1970. */
  readonly published_at_ms?: number;
  /** When it was known to be durable, in ms since 1970. */
  readonly committed_at_ms?: number;
  readonly by?: ApiPublisher;
  /** It stores text that was appended to a value of a map. Subscribers with deltas got the pieces before, without an offset. */
  readonly appended?: boolean;
}

/** Who published; empty if that isn't known. */
interface ApiPublisher {
  /** The ID of the client's connection. */
  readonly client?: string;
  /** The client's user. */
  readonly user?: string;
  /** The name of the API key or of the consumer. */
  readonly key?: string;
}

/** What an object knows of the publication's way. */
interface ApiAskedObject {
  /** The object: `channel:` or `gateway:` and its name. */
  readonly object: string;
  /** `unknown` if the object didn't answer; it has no other field then. */
  readonly state?: string;
  readonly memory?: ApiObjectMemory;
  /** How many subscribers the channel has on it. */
  readonly subscribers?: number;
  /** Up to where they have been sent everything; absent while it isn't known. */
  readonly offset?: number;
  readonly told?: ApiCallsToGateway;
  /** When a gateway took the publication, in ms since 1970. */
  readonly taken_at_ms?: number;
  /** The gateway had missed it, and read it from the history. */
  readonly was_read?: boolean;
  readonly frame?: ApiSentFrame;
  /** A sentence about an object that is registered with the user's home and knows no connection of the user. */
  readonly note?: string;
}

/** Since when an object remembers, in ms since 1970. */
interface ApiObjectMemory {
  /** When it last woke. */
  readonly since_ms: number;
  /** The same for frames, if it had to forget some. */
  readonly frames_since_ms?: number;
  /** The same for subscriptions. */
  readonly subscriptions_since_ms?: number;
  /** The same for connections that ended. */
  readonly closes_since_ms?: number;
}

/** The calls with which the channel's object told a gateway of the publication. */
interface ApiCallsToGateway {
  /** When the first one began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** How many there were. */
  readonly attempts: number;
  /** When the last one ended, in ms since 1970; absent while it is under way. */
  readonly ended_at_ms?: number;
  /** `taken`, `left` (it had no subscriber), `busy` or `failed`. */
  readonly outcome?: string;
}

/** The WebSocket message with the publication. */
interface ApiSentFrame {
  /** How many publications share it. */
  readonly publications: number;
  /** When sending began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** To how many subscribers without a filter it went. */
  readonly subscribers: number;
  /** To how many with a filter it went. */
  readonly filtered: number;
  /** How many had a filter that left nothing of it. */
  readonly left_out: number;
  /** How many were closed instead, because they were too far behind. */
  readonly slow: number;
  /** When sending ended, in ms since 1970; absent while it is under way. */
  readonly sent_at_ms?: number;
}

/** What became of the publication for one connection. */
interface ApiTracedConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** The object that holds or held it. */
  readonly object: string;
  /** `sent`, `recovered`, `had_it`, `sending`, `not_taken`, `filtered`, `not_recovered`, `subscribed_later`, `not_subscribed`, `unsubscribed`, `subscribing`, `connecting`, `connected_later`, `closed_before`, `slow` or `unknown`. */
  readonly outcome: string;
  /** The same in a sentence. */
  readonly summary: string;
  /** `connecting`, `connected` or `closed`. */
  readonly state: string;
  /** When it was opened, in ms since 1970. */
  readonly opened_at_ms: number;
  /** Its subscriptions to the channel, oldest first. */
  readonly events: readonly ApiSubscriptionEvent[];
  /** Of an open connection: as `connections` tells it. */
  readonly transport?: string;
  /** Of an open connection: `json`, `protobuf` or `messagepack`. */
  readonly protocol?: string;
  /** Of an open connection: `none`, `pending` or `begun`. */
  readonly subscription?: string;
  /** What the subscription's tags filter does with the publication: `passes`, `holds_back` or `unknown`; absent without a filter. */
  readonly filter?: string;
  /** What the client of an open connection was sent and hasn't taken, in bytes. */
  readonly backlog_bytes?: number;
  /** When the connection ended, in ms since 1970; absent if it is open. */
  readonly closed_at_ms?: number;
  /** The code of the close. */
  readonly code?: number;
  /** Who closed: `client` or `server`. */
  readonly by?: string;
}

/** A subscription to the channel that began or ended. */
interface ApiSubscriptionEvent {
  /** `subscribed` or `unsubscribed`. */
  readonly event: string;
  /** When, in ms since 1970. */
  readonly at_ms: number;
  /** The offset after which the subscription gets publications. */
  readonly offset?: number;
  /** The offset after which the client asked to recover. */
  readonly since_offset?: number;
  /** Whether it recovered; absent if it didn't ask. */
  readonly recovered?: boolean;
  /** How many publications were in the reply; absent if it didn't ask. */
  readonly publications?: number;
  /** The code of the end; 0 if the client ended it. */
  readonly code?: number;
}

interface ApiInspectRequest {
  /** The channel. Either `channel` or `object` is required; both have to name the same. */
  readonly channel?: string;
  /** An object, as the log and `connections` name it: `gateway:eu/0` or `channel:news`. `edge` for what the Worker itself has refused; it is remembered with `console.enabled` or `prometheus.enabled`. */
  readonly object?: string;
  /** How many of the object's last refusals are told; 0, or none, for none. */
  readonly refusals?: number;
}

/** The live state of an object. Of the edge, only what was refused there is told. */
interface ApiInspectResult {
  /** The object, or `edge`. */
  readonly object: string;
  /** The release that it runs. */
  readonly version: string;
  /** When it last woke, in ms since 1970: it remembers nothing from before. */
  readonly awake_since_ms?: number;
  readonly placement?: ApiPlacement;
  /** The kind of event that woke it. */
  readonly woken_by?: string;
  /** How often events came, by their kind. */
  readonly events?: { readonly [name: string]: ApiEventCount };
  /** The size of its storage. */
  readonly stored_bytes?: number;
  readonly connections?: ApiConnectionCounts;
  /** What its clients were sent and haven't taken, in bytes. */
  readonly backlog_bytes?: number;
  /** The connections furthest behind, the furthest first. */
  readonly behind?: readonly ApiBehindConnection[];
  /** The last connections that ended, newest first. */
  readonly closes?: readonly ApiClosedConnection[];
  /** When its alarm rings next, in ms since 1970; absent if none is set. */
  readonly alarm_at_ms?: number;
  /** The channel's subscribers on the object's own sockets. */
  readonly subscribers?: ApiSubscriberCounts;
  readonly gateway?: ApiGatewayState;
  readonly channel?: ApiChannelState;
  /** The last refusals, newest first; absent if there are none. */
  readonly refusals?: readonly ApiKeptRefusal[];
  /** Something may be missing: an object or the user's home didn't answer, or there were too many. */
  readonly incomplete?: boolean;
}

/** How often events of a kind came. */
interface ApiEventCount {
  /** Since the object woke. */
  readonly since_wake: number;
  /** In the last hour of that. */
  readonly last_hour: number;
}

/** The open connections of an object. */
interface ApiConnectionCounts {
  /** Those whose connect has been answered. */
  readonly connected: number;
  /** Those whose connect hasn't been answered. */
  readonly connecting: number;
  /** How many there are by transport. */
  readonly by_transport: { readonly [name: string]: number };
  /** How many there are by protocol. */
  readonly by_protocol: { readonly [name: string]: number };
}

/** A connection that hasn't taken all that it was sent. */
interface ApiBehindConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** What it hasn't taken, in bytes. */
  readonly bytes: number;
}

/** A connection that has ended. */
interface ApiClosedConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** When it was opened, in ms since 1970. */
  readonly opened_at_ms: number;
  /** When it ended, in ms since 1970. */
  readonly closed_at_ms: number;
  /** The code of the close; 1006 if the connection was lost. */
  readonly code: number;
  /** Who closed: `client` or `server`. */
  readonly by: string;
  /** Whether its connect had been answered. */
  readonly had_connected: boolean;
}

/** The subscribers to a channel on the sockets of one object. */
interface ApiSubscriberCounts {
  /** All of them. */
  readonly count: number;
  /** How many there are by transport. */
  readonly by_transport: { readonly [name: string]: number };
  /** How many there are by protocol. */
  readonly by_protocol: { readonly [name: string]: number };
  /** Those with a tags filter. */
  readonly filtered: number;
  /** Those that get deltas. */
  readonly delta: number;
  /** Subscribes that haven't been answered; they aren't in `count`. */
  readonly pending: number;
  /** Whether a frame is on its way. */
  readonly sending: boolean;
  /** Whether something is collected for the next frame. */
  readonly collecting: boolean;
  /** Up to where they have been sent everything; absent while it isn't known. */
  readonly offset?: number;
  /** The epoch that the offset belongs to. */
  readonly epoch?: string;
  /** Of a gateway: the number of the last entry that it took; absent if unknown. */
  readonly sequence?: number;
}

/** What a gateway follows. */
interface ApiGatewayState {
  /** The channels that it follows. */
  readonly channels: number;
  /** The memory that they take, estimated, in bytes. */
  readonly held_bytes: number;
}

/** A channel, as its own object knows it. */
interface ApiChannelState {
  /** The channel. */
  readonly name: string;
  /** Whether the configuration has its namespace. */
  readonly namespace_configured: boolean;
  readonly history: ApiHistorySize;
  /** The number of the last entry that gateways are told. */
  readonly sequence: number;
  /** Whether a commit is under way. */
  readonly committing: boolean;
  /** What waits for the next commit, in bytes. */
  readonly waiting_bytes: number;
  /** The gateways that follow the channel. */
  readonly gateways: readonly ApiFollowingGateway[];
  /** The newest offset; absent without a stream. */
  readonly offset?: number;
  /** The epoch of the stream; absent without a stream. */
  readonly epoch?: string;
  /** When the newest publication came, or the stream was made or emptied, in ms since 1970. */
  readonly newest_ms?: number;
}

/** How much a channel keeps. */
interface ApiHistorySize {
  /** The publications that can be read. */
  readonly publications: number;
  /** How many may be kept; 0 without history. */
  readonly size: number;
}

/** A gateway that follows a channel. */
interface ApiFollowingGateway {
  /** The gateway. */
  readonly object: string;
  /** How many entries it isn't known to have taken. */
  readonly lag: number;
  /** How many calls to it have failed in a row. */
  readonly failures: number;
  /** Until when it isn't called because of that, in ms since 1970. */
  readonly waits_until_ms?: number;
  readonly last_call?: ApiLastCall;
  /** `unknown` if it didn't answer, `not asked` if there are too many; otherwise absent. */
  readonly state?: string;
  readonly subscribers?: ApiSubscriberCounts;
  /** False until it has taken something of the channel's present instance. */
  readonly follows_this_instance?: boolean;
  /** When the gateway last woke, in ms since 1970. */
  readonly awake_since_ms?: number;
  /** What its clients were sent and haven't taken, in bytes. */
  readonly backlog_bytes?: number;
}

/** The last call to a gateway. */
interface ApiLastCall {
  /** When it began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** When it ended, in ms since 1970; absent while it is under way. */
  readonly ended_at_ms?: number;
}

/** A refusal, or several equal ones in a row. */
interface ApiKeptRefusal {
  /** When it last happened, in ms since 1970. */
  readonly at_ms: number;
  /** How often in a row. */
  readonly count: number;
  /** What was refused, as the log has it. */
  readonly refused: string;
  /** The rule by which it was refused. */
  readonly rule: string;
  /** Why, in words. */
  readonly reason: string;
  /** The code of the error or of the close. */
  readonly code?: number;
  /** The user. */
  readonly user?: string;
  /** The channel. */
  readonly channel?: string;
  /** The name of the backend's API key, for a refusal of the edge. */
  readonly key?: string;
}

interface ApiMapPublishRequest {
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

/** Where the change is; or the position of the map, if there is no change. */
interface ApiMapPublishResult {
  /** The number of the change, or of the newest one if the change wasn't made. */
  readonly offset: number;
  /** The epoch of the map. */
  readonly epoch: string;
  /** The change was not made. */
  readonly suppressed?: boolean;
  /** Why it wasn't: `idempotency`, `version`, `key_exists`, `key_not_found` or `position_mismatch`. */
  readonly suppress_reason?: string;
  /** With `position_mismatch`: the offset of the key's last change; 0 if the map hasn't the key. Dormouse's own. */
  readonly current_offset?: number;
}

interface ApiMapRemoveRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
  /** Make the change only if this is the offset of the key's last change; 0: only if the map hasn't the key. Dormouse's own. */
  readonly if_offset?: number;
  /** A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys belong to a channel. */
  readonly idempotency_key?: string;
}

/** Where the change is; or the position of the map, if there is no change. */
interface ApiMapRemoveResult {
  /** The number of the change, or of the newest one if the change wasn't made. */
  readonly offset: number;
  /** The epoch of the map. */
  readonly epoch: string;
  /** The change was not made. */
  readonly suppressed?: boolean;
  /** Why it wasn't: `idempotency`, `version`, `key_exists`, `key_not_found` or `position_mismatch`. */
  readonly suppress_reason?: string;
  /** With `position_mismatch`: the offset of the key's last change; 0 if the map hasn't the key. Dormouse's own. */
  readonly current_offset?: number;
}

interface ApiMapAppendRequest {
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

/** How long the text is. */
interface ApiMapAppendResult {
  /** The length of the text, in UTF-16 units. */
  readonly length: number;
  /** The number of the newest change of the map; absent if nothing was appended. */
  readonly offset?: number;
  /** The epoch of the map; absent if nothing was appended. */
  readonly epoch?: string;
  /** Nothing was appended. */
  readonly suppressed?: boolean;
  /** Why nothing was: `idempotency`, `length_mismatch`, `final`, or `not_text` if the value isn't a text that can grow. */
  readonly suppress_reason?: string;
}

interface ApiMapReadStateRequest {
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

/** The entries, and the position of the map. */
interface ApiMapReadStateResult {
  /** The entries, in the order of their keys. */
  readonly entries: readonly ApiMapEntry[];
  /** The number of the newest change of the map; 0 if there is none. */
  readonly offset: number;
  /** The epoch of the map. */
  readonly epoch: string;
  /** For the next page; absent if this is the last one. */
  readonly cursor?: string;
}

/** The value of a key of a map, or a change of it. */
interface ApiMapEntry {
  /** The key. */
  readonly key: string;
  /** The number of the change. */
  readonly offset: number;
  /** The value; absent if the key was removed. */
  readonly data?: unknown;
  /** The tags of the value; absent without any. */
  readonly tags?: { readonly [name: string]: string };
  /** The score of the value; absent for 0. */
  readonly score?: number;
  /** The client that published; absent if a backend did. */
  readonly info?: ApiClientInfo;
  /** The key was removed. */
  readonly removed?: boolean;
  /** When the change was made, in ms since 1970; absent if it isn't known. */
  readonly time?: number;
}

interface ApiMapReadStreamRequest {
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

/** The changes, and the position of the map. */
interface ApiMapReadStreamResult {
  /** The changes, in their order. */
  readonly entries: readonly ApiMapEntry[];
  /** The number of the newest change of the map; 0 if there is none. */
  readonly offset: number;
  /** The epoch of the map. */
  readonly epoch: string;
}

interface ApiMapStatsRequest {
  /** The channel's name. */
  readonly channel: string;
}

/** The number of keys. */
interface ApiMapStatsResult {
  /** The keys. */
  readonly num_keys: number;
}

interface ApiMapClearRequest {
  /** The channel's name. */
  readonly channel: string;
}

interface ApiSharedPollPublishRequest {
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

interface ApiMarkReadRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the last publication that is read. It can't be beyond the newest one. */
  readonly offset: number;
  /** The epoch of the offset; empty for the one of now. */
  readonly epoch?: string;
}

/** The user's mark. */
interface ApiMarkReadResult {
  /** Everything up to this offset is read. */
  readonly read: number;
  /** The epoch of the stream. */
  readonly epoch: string;
}

interface ApiUnreadRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channels. */
  readonly channels: readonly string[];
}

/** Each channel has its answer: the count of unread publications, or an error. */
interface ApiUnreadResult {
  /** By the channels' names. */
  readonly channels: { readonly [name: string]: ApiUnreadChannel };
}

/** One channel's answer: how much the user hasn't read, or why that isn't known. */
interface ApiUnreadChannel {
  /** How many publications are unread; at most `cursors.unread_max`. */
  readonly unread?: number;
  /** There are more. */
  readonly capped?: boolean;
  /** Everything up to this offset is read. */
  readonly read?: number;
  /** The history began anew after the user had marked something, so the mark is gone. */
  readonly reset?: boolean;
  /** The newest offset of the channel; 0 if there is none. */
  readonly offset?: number;
  /** The epoch of the stream. */
  readonly epoch?: string;
  readonly error?: ApiError;
}

interface ApiDeliveredRequest {
  /** The user's ID. */
  readonly user: string;
  /** The channel's name. */
  readonly channel: string;
}

/** What is known; offset 0 if nothing is. */
interface ApiDeliveredResult {
  /** Everything after `since` and up to this offset has arrived. */
  readonly offset: number;
  /** The epoch of the stream. */
  readonly epoch: string;
  /** Nothing is claimed of the publications up to this offset; absent for 0. */
  readonly since?: number;
  /** How it is known: a client answered a later ping, recovered from there, or marked up to there. Absent if nothing is known. */
  readonly by?: "ping" | "recovery" | "command";
  /** When it was known at the latest, in milliseconds since 1970. */
  readonly at_ms?: number;
}

interface ApiMarksRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most marks of the page; none for 1000, and so is 0, but with `offset`, where the answer has no marks then. */
  readonly limit?: number;
  /** The users are counted who have read up to this offset. */
  readonly offset?: number;
}

/** A page of marks. It may have fewer than `limit`, even none, and a `cursor`. */
interface ApiMarksResult {
  /** In the order of the bytes of the users' IDs. */
  readonly marks: readonly ApiUserMark[];
  /** The epoch of the stream. */
  readonly epoch: string;
  /** The newest offset of the channel; 0 if there is none. */
  readonly offset: number;
  /** How many of the users after `cursor` have read up to `offset`; of at most 10000 users. */
  readonly count?: number;
  /** More users follow than were counted. With `limit` 0 a request with this `cursor` counts the next ones. */
  readonly capped?: boolean;
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

/** How far a user has read. */
interface ApiUserMark {
  /** The ID of the user. */
  readonly user: string;
  /** Everything up to this offset is read. */
  readonly read: number;
  /** When the user marked that, in milliseconds since 1970. */
  readonly at_ms: number;
}

interface ApiForgetUserRequest {
  /** The user's ID. */
  readonly user: string;
}

/** Empty. */
interface ApiForgetUserResult {}

interface ApiSetAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

/** The audience. */
interface ApiSetAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

interface ApiAddAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

/** The audience. */
interface ApiAddAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

interface ApiRemoveAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The IDs of the users. */
  readonly users: readonly string[];
}

/** The audience. */
interface ApiRemoveAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

interface ApiAudienceRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The `cursor` of the page before; absent for the first page. Dormouse's own. */
  readonly cursor?: string;
  /** The most entries of the page; 0, or none, for 1000. Dormouse's own. */
  readonly limit?: number;
}

/** A page of the audience. */
interface ApiAudienceResult {
  /** In the order of their bytes. */
  readonly users: readonly string[];
  /** How many members the audience has. */
  readonly members: number;
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}
