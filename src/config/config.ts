/** Everything an operator can set, checked and with defaults filled in. Names mirror Centrifugo's configuration. */
export interface Config {
  readonly client: ClientConfig;
  readonly channel: ChannelConfig;
  readonly httpApi: HttpApiConfig;
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
  readonly connectIncludeServerTime: boolean;
  /** Ours: a WebSocket upgrade without a valid token is answered 401. */
  readonly requireEdgeToken: boolean;
  /** Ours: the cookie that may carry the token; "" for none. */
  readonly tokenCookie: string;
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

/** What channels of one namespace may do (reference 5.6). Everything is off unless set. */
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
  readonly publicationDataFormat: "" | "json" | "json_object";
}

export interface HttpApiConfig {
  /** "transport" turns API errors into HTTP statuses even without the request header. */
  readonly errorMode: "" | "transport";
}
