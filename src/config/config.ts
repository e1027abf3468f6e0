import type { ClaimRules } from "../access/parse-claims.ts";
import type { PublicKey } from "../access/keys.ts";

/** Everything an operator can set, checked and with defaults filled in. Names mirror Centrifugo's configuration. */
export interface Config {
  readonly client: ClientConfig;
  readonly channel: ChannelConfig;
  readonly httpApi: HttpApiConfig;
  readonly rpc: RpcConfig;
  readonly transports: TransportsConfig;
}

/** By what a client can connect beside the WebSocket, which is always there (docs/protocol.md 4). Everything is off unless set. */
export interface TransportsConfig {
  readonly sse: boolean;
  readonly httpStream: boolean;
  readonly uniSse: boolean;
  readonly uniHttpStream: boolean;
  readonly uniWebsocket: boolean;
  /** Ours: a channel can be read by asking again and again. */
  readonly longPoll: boolean;
}

export interface RpcConfig {
  /** Whether the method `ping` is answered; every other one needs a backend and has none. */
  readonly pingEnabled: boolean;
}

export interface ClientConfig {
  /** Glob patterns an Origin header must match; empty: only requests without that header. */
  readonly allowedOrigins: readonly string[];
  readonly allowAnonymousConnectWithoutToken: boolean;
  readonly disallowAnonymousConnectionTokens: boolean;
  readonly pingIntervalMs: number;
  readonly staleCloseDelayMs: number;
  readonly expiredCloseDelayMs: number;
  readonly expiredSubCloseDelayMs: number;
  /** Bytes a connection may have outstanding before it is cut as slow. */
  readonly queueMaxSizeBytes: number;
  /** Publications in one answer to a client's history command. */
  readonly historyMaxPublicationLimit: number;
  /** Publications missed beyond which a recovery fails. */
  readonly recoveryMaxPublicationLimit: number;
  /** Sockets one object holds. */
  readonly connectionLimit: number;
  /** Sockets one object takes in a second; 0 for as many as come. */
  readonly connectionRateLimit: number;
  /** Subscriptions of one connection, the server's included. */
  readonly channelLimit: number;
  readonly connectIncludeServerTime: boolean;
  readonly personalChannel: PersonalChannelConfig;
  /** Ours: a WebSocket upgrade without a valid token is answered 401. */
  readonly requireEdgeToken: boolean;
  /** Ours: the cookie that may carry the token; "" for none. */
  readonly tokenCookie: string;
  /** Which connection tokens are believed; and which subscription tokens, unless they have a section of their own. */
  readonly token: TokenConfig;
  /** Which subscription tokens are believed; absent: those that `token` says. */
  readonly subscriptionToken?: TokenConfig;
}

/** Which tokens are believed, but for the secrets that sign them, which are the Worker's (docs/protocol.md 5.1 and 5.3). */
export interface TokenConfig extends ClaimRules {
  /** `rsa_public_key`, `ecdsa_public_key` and, ours, `eddsa_public_key`: those that there are. */
  readonly publicKeys: readonly PublicKey[];
  /** Where keys are fetched from. With it, no other key and no secret counts; absent: nowhere. */
  readonly jwksPublicEndpoint?: string;
  /** Until when the previous secret counts, in seconds since 1970; 0: as long as it is there. */
  readonly hmacPreviousSecretKeyValidUntilSeconds: number;
}

/** The channel that each user's connections are subscribed to by the server (docs/protocol.md 2.7). */
export interface PersonalChannelConfig {
  readonly enabled: boolean;
  /** Whose options it has; "" for those of channels without one. */
  readonly namespace: string;
  /** A user's new connection makes the older ones close with 3504. */
  readonly singleConnection: boolean;
}

export interface ChannelConfig {
  readonly maxLengthBytes: number;
  readonly privatePrefix: string;
  readonly namespaceBoundary: string;
  readonly userBoundary: string;
  readonly userSeparator: string;
  readonly withoutNamespace: ChannelOptions;
  readonly namespaces: ReadonlyMap<string, ChannelOptions>;
}

/** What channels of one namespace may do (docs/protocol.md 5.6). Everything is off unless set. */
export interface ChannelOptions {
  readonly presence: boolean;
  readonly joinLeave: boolean;
  readonly forcePushJoinLeave: boolean;
  /** Publications kept; 0 turns history off, and so does a TTL of 0. */
  readonly historySize: number;
  readonly historyTtlMs: number;
  readonly historyMetaTtlMs: number;
  readonly forcePositioning: boolean;
  readonly allowPositioning: boolean;
  readonly forceRecovery: boolean;
  /** What a returning subscriber gets: all it missed, or the newest publication only. */
  readonly recoveryMode: "stream" | "cache";
  /** With cache recovery: whoever subscribes gets the newest publication, asked for or not. */
  readonly autoCacheRecover: boolean;
  readonly allowRecovery: boolean;
  readonly allowSubscribeForClient: boolean;
  readonly allowSubscribeForAnonymous: boolean;
  readonly allowPublishForClient: boolean;
  readonly allowPublishForSubscriber: boolean;
  readonly allowPublishForAnonymous: boolean;
  readonly allowPresenceForClient: boolean;
  readonly allowPresenceForSubscriber: boolean;
  readonly allowPresenceForAnonymous: boolean;
  readonly allowHistoryForClient: boolean;
  readonly allowHistoryForSubscriber: boolean;
  readonly allowHistoryForAnonymous: boolean;
  readonly allowUserLimitedChannels: boolean;
  /** The part of the name after the namespace must match; absent: the name must be ASCII. */
  readonly channelRegex?: RegExp;
  readonly publicationDataFormat: "" | "json" | "json_object" | "binary";
  /** Subscribers may ask for patches (docs/protocol.md 3.1). */
  readonly allowDelta: boolean;
  /** Every publication may be a patch, not only those whose publisher says so. */
  readonly deltaPublish: boolean;
  /** Subscribers may say by tags which publications they want (docs/protocol.md 3.2). */
  readonly allowTagsFilter: boolean;
}

export interface HttpApiConfig {
  /** "transport" turns API errors into HTTP statuses even without the request header. */
  readonly errorMode: "" | "transport";
}
