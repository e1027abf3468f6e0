// Written by `npm run openapi`. Don't edit it: a test compares it.

/** Where the publication is; or the newest one, if `if_offset` wasn't its offset. */
export interface ApiPublishResult {
  /** The number of the publication; absent without history. */
  readonly offset?: number;
  /** The epoch of the stream; absent without history. */
  readonly epoch?: string;
  /** Nothing was published, because of `if_offset`. Dormouse's own. */
  readonly suppressed?: boolean;
  /** `position_mismatch`. Dormouse's own. */
  readonly suppress_reason?: string;
}

/** What happened in each channel. */
export interface ApiBroadcastResult {
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

/** The publications, and the top of the stream. */
export interface ApiHistoryResult {
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

/** The clients that are present. */
export interface ApiPresenceResult {
  /** The clients by the ID of their connection. */
  readonly presence: { readonly [name: string]: ApiClientInfo };
  /** An object didn't answer in time, so something is missing. */
  readonly incomplete?: boolean;
}

/** The numbers of those who are present. */
export interface ApiPresenceStatsResult {
  /** The clients. */
  readonly num_clients: number;
  /** The different users among them. */
  readonly num_users: number;
  /** An object didn't answer in time, so something is missing. */
  readonly incomplete?: boolean;
}

/** The connections. */
export interface ApiConnectionsResult {
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

/** A page of gateways. */
export interface ApiInfoResult {
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
export interface ApiPlacement {
  /** The jurisdiction that it never leaves, or `none`. */
  readonly jurisdiction: string;
  /** Near what it is created; absent: near the first caller. */
  readonly location?: string;
}

/** A page of channels. */
export interface ApiChannelsResult {
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

/** The statuses. */
export interface ApiGetUserStatusResult {
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

/** Where the change is; or the position of the map, if there is no change. */
export interface ApiMapPublishResult {
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

/** Where the change is; or the position of the map, if there is no change. */
export interface ApiMapRemoveResult {
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

/** How long the text is. */
export interface ApiMapAppendResult {
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

/** The entries, and the position of the map. */
export interface ApiMapReadStateResult {
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

/** The changes, and the position of the map. */
export interface ApiMapReadStreamResult {
  /** The changes, in their order. */
  readonly entries: readonly ApiMapEntry[];
  /** The number of the newest change of the map; 0 if there is none. */
  readonly offset: number;
  /** The epoch of the map. */
  readonly epoch: string;
}

/** The number of keys. */
export interface ApiMapStatsResult {
  /** The keys. */
  readonly num_keys: number;
}

/** The user's mark. */
export interface ApiMarkReadResult {
  /** Everything up to this offset is read. */
  readonly read: number;
  /** The epoch of the stream. */
  readonly epoch: string;
}

/** Each channel has its answer: the count of unread publications, or an error. */
export interface ApiUnreadResult {
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

/** What is known; offset 0 if nothing is. */
export interface ApiDeliveredResult {
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

/** A page of marks. It may have fewer than `limit`, even none, and a `cursor`. */
export interface ApiMarksResult {
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

/** Empty without `publications`. */
export interface ApiForgetUserResult {
  /** Namespaces that keep publications or keys, but have no `erasable_by_user`: what the user has published there is still there. Absent if there are none. */
  readonly unsearched?: readonly string[];
  /** The user has published to more than 10000 channels with `erasable_by_user`: in those beyond, nothing was erased. */
  readonly incomplete?: boolean;
}

/** The audience. */
export interface ApiSetAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

/** The audience. */
export interface ApiAddAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

/** The audience. */
export interface ApiRemoveAudienceResult {
  /** How many members the audience has. */
  readonly members: number;
}

/** A page of the audience. */
export interface ApiAudienceResult {
  /** In the order of their bytes. */
  readonly users: readonly string[];
  /** How many members the audience has. */
  readonly members: number;
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}
