import type { ApiKey } from "../access/api-keys.ts";
import type { ClaimRules } from "../access/parse-claims.ts";
import type { Pattern } from "../access/pattern.ts";
import type { PublicKey } from "../access/keys.ts";
import type { HookHeader } from "../contract/session-snapshot.ts";
import type { DisconnectCode, ErrorCode } from "../protocol/codes.ts";

/**
 * The whole configuration, checked and with defaults filled in. The names are those of Centrifugo's configuration. Each
 * feature adds its own sections.
 */
export interface Config {
  readonly client: ClientConfig;
  readonly channel: ChannelConfig;
  readonly httpApi: HttpApiConfig;
  readonly transports: TransportsConfig;
  readonly swagger: SwaggerConfig;
}

/** A queue of the account, by the name of the binding with which the Worker sends to it. */
export interface QueueTarget {
  readonly kind: "queue";
  readonly binding: string;
}

/** A backend's address for one or more hooks, and how it is asked. */
export interface HookTarget {
  /** The path of its section, such as `client.proxy.connect`, or `proxies.` and its name. Two releases agree on it. */
  readonly name: string;
  readonly endpoint: HookEndpoint;
  readonly timeoutMs: number;
  /** The headers of the client's handshake that the backend gets, in lower case. */
  readonly httpHeaders: readonly string[];
  /** The headers of the client's connect command that the backend gets, in lower case (docs/protocol.md 7). */
  readonly emulatedHeaders: readonly string[];
  readonly staticHeaders: readonly HookHeader[];
  /** The refusals for which other statuses than 200 stand; a call whose status isn't among them has failed. */
  readonly statuses: ReadonlyMap<number, HookRefusal>;
  /** Payloads are sent in base64. */
  readonly binaryEncoding: boolean;
  /** The backend gets the connection's metadata. */
  readonly includesMeta: boolean;
}

/** Where a backend is. */
export type HookEndpoint =
  | { readonly kind: "url"; readonly url: string }
  /** Another Worker of the account: the name of its binding, and the entrypoint that the binding has to name. */
  | { readonly kind: "service"; readonly binding: string; readonly entrypoint?: string };

/** A backend's refusal. */
export type HookRefusal =
  | { readonly outcome: "error"; readonly error: ErrorCode }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode };

/**
 * The transports beside WebSocket, which is always enabled (docs/protocol.md 4). Each is off unless the configuration
 * enables it.
 */
export interface TransportsConfig {
  readonly sse: boolean;
  readonly httpStream: boolean;
  readonly uniSse: boolean;
  readonly uniHttpStream: boolean;
  readonly uniWebsocket: boolean;
  /** Dormouse's own: clients may read a channel by long polling (rule T9). */
  readonly longPoll: boolean;
}

/** The section `client` (docs/protocol.md 5.7). */
export interface ClientConfig {
  /** Glob patterns for the Origin header. If there are none, only requests without that header are allowed. */
  readonly allowedOrigins: readonly string[];
  readonly allowAnonymousConnectWithoutToken: boolean;
  readonly disallowAnonymousConnectionTokens: boolean;
  readonly pingIntervalMs: number;
  /** Dormouse's own: which clients are asked to answer pings. auto: those that others may see (rule K10). */
  readonly pong: "auto" | "always" | "never";
  readonly staleCloseDelayMs: number;
  readonly expiredCloseDelayMs: number;
  readonly expiredSubCloseDelayMs: number;
  /** The backlog in bytes from which a connection is closed as slow (rule F4). */
  readonly queueMaxSizeBytes: number;
  /** The most publications in one answer to a client's history command. */
  readonly historyMaxPublicationLimit: number;
  /** The number of missed publications from which a recovery fails (rule R4). */
  readonly recoveryMaxPublicationLimit: number;
  /** The most sockets that one object holds (rule B5). */
  readonly connectionLimit: number;
  /** The most connections of one user, in all objects together; 0 for no limit (rule U12). */
  readonly userConnectionLimit: number;
  /** The most sockets that one object accepts per second; 0 for no limit (rule B23). */
  readonly connectionRateLimit: number;
  /** How fast one connection may send commands: of a method by its name, and of all by "total" (rule B21). */
  readonly rateLimit: ReadonlyMap<string, CommandRates>;
  /** The same for all connections of one user on one object together. */
  readonly userRateLimit: ReadonlyMap<string, CommandRates>;
  /** The most subscriptions of one connection, server-side ones included (rule G1). */
  readonly channelLimit: number;
  readonly connectIncludeServerTime: boolean;
  readonly personalChannel: PersonalChannelConfig;
  /** Dormouse's own. */
  readonly users: UsersConfig;
  /** Clients may do everything, and their tokens don't end; under `npm start` only (rule A11). */
  readonly insecure: boolean;
  /** Clients are told why they are refused; under `npm start` only (rule W13). */
  readonly tellsReasons?: true;
  /** Dormouse's own: an upgrade without a valid token is answered with status 401. */
  readonly requireEdgeToken: boolean;
  /** Dormouse's own: the name of a cookie that may carry the token; "" for none. */
  readonly tokenCookie: string;
  /** Which connection tokens are accepted; also which subscription tokens, unless `subscriptionToken` is present. */
  readonly token: TokenConfig;
  /** Which subscription tokens are accepted; if absent, `token` applies. */
  readonly subscriptionToken?: TokenConfig;
}

/**
 * The rates of one kind of commands by the namespace of the channel, and by "" for all other namespaces. All rates of
 * one namespace must be kept.
 */
export type CommandRates = ReadonlyMap<string, readonly Rate[]>;

/** How often something may be done. */
export interface Rate {
  /** How many times at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Which tokens are accepted (docs/protocol.md 5.1 and 5.3). */
export interface TokenConfig extends TokenRules {
  /** Dormouse's own: the issuers, each with keys and rules of its own (rule A15). If there are any, nothing else is set. */
  readonly issuers: readonly IssuerConfig[];
}

/**
 * The keys that verify tokens, and the rules for their claims. The secrets aren't part of the configuration: the Worker
 * gets them from its environment.
 */
export interface TokenRules extends ClaimRules {
  /** The keys of `rsa_public_key`, `ecdsa_public_key` and, Dormouse's own, `eddsa_public_key`. */
  readonly publicKeys: readonly PublicKey[];
  /** The URL from which keys are fetched; if present, no other key and no secret is used. */
  readonly jwksPublicEndpoint?: string;
  /** The time until which the previous secret is accepted, in seconds since 1970; 0 for no end. */
  readonly hmacPreviousSecretKeyValidUntilSeconds: number;
}

/** One of `issuers`: it has a public key, a JWKS or a secret. */
export interface IssuerConfig extends TokenRules {
  /** The issuer that the tokens name in `iss`. */
  readonly issuer: string;
  /** The name of the Worker's secret that signs the issuer's tokens; absent if public keys do. */
  readonly hmacSecret?: string;
}

/** The personal channel, to which the server subscribes each user's connections (docs/protocol.md 2.7). */
export interface PersonalChannelConfig {
  readonly enabled: boolean;
  /** The namespace of personal channels; "" for channels without a namespace. */
  readonly namespace: string;
  /** A new connection of a user closes the user's older connections with 3504 (rule C10). */
  readonly singleConnection: boolean;
}

/** The users' homes (rules U1 to U6). */
export interface UsersConfig {
  /** Backends can give orders for the connections of a user, and each user is registered with a home. */
  readonly enabled: boolean;
  /** Homes note when users were last online, and backends can ask (rule U25). */
  readonly status: boolean;
}

/** The section `channel`: the syntax of channel names, and the namespaces (docs/protocol.md 5.4). */
export interface ChannelConfig {
  readonly maxLengthBytes: number;
  readonly privatePrefix: string;
  readonly namespaceBoundary: string;
  readonly userBoundary: string;
  readonly userSeparator: string;
  readonly withoutNamespace: ChannelOptions;
  readonly namespaces: ReadonlyMap<string, ChannelOptions>;
}

/** The options of all namespaces, and of the channels without one. */
export function everyOptions(channel: ChannelConfig): readonly ChannelOptions[] {
  return [channel.withoutNamespace, ...channel.namespaces.values()];
}

/**
 * The options of the channels of one namespace (docs/protocol.md 5.6). Everything is off unless set. Each feature adds
 * its own options, none of which is required.
 */
export interface ChannelOptions {
  readonly presence: boolean;
  readonly joinLeave: boolean;
  readonly forcePushJoinLeave: boolean;
  /** The number of publications that are kept. History is off if this or the TTL is 0. */
  readonly historySize: number;
  readonly historyTtlMs: number;
  readonly historyMetaTtlMs: number;
  readonly forcePositioning: boolean;
  readonly allowPositioning: boolean;
  readonly forceRecovery: boolean;
  /** Whether recovery returns all missed publications, or the newest publication only. */
  readonly recoveryMode: "stream" | "cache";
  /** With cache recovery: every subscriber gets the newest publication, whether it asks for recovery or not. */
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
  /**
   * Dormouse's own: in private and user-limited channels, what is open to clients is open to subscribers only (rule
   * A5).
   */
  readonly limitedChannelsForSubscribersOnly: boolean;
  /** The pattern that the part of the name after the namespace must match. If absent, the name must be ASCII. */
  readonly channelRegex?: Pick<Pattern, "test">;
  readonly publicationDataFormat: "" | "json" | "json_object" | "binary";
  /** Subscribers may ask for deltas (docs/protocol.md 3.1). */
  readonly allowDelta: boolean;
  /** Every publication may be sent as a delta, not only those whose publisher asks for it. */
  readonly deltaPublish: boolean;
  /** Subscribers may filter publications by tags (docs/protocol.md 3.2). */
  readonly allowTagsFilter: boolean;
  /** The kind of the namespace's channels, which decides how clients subscribe to them (docs/protocol.md 1.3). */
  readonly subscriptionType: keyof ChannelTypes;
}

/** The types of channels, by their names. Each feature adds its own. */
export interface ChannelTypes {
  readonly stream: true;
}

/** The section `http_api` (docs/protocol.md 6.1). */
export interface HttpApiConfig {
  /** With "transport", API errors become HTTP statuses even without the request header. */
  readonly errorMode: "" | "transport";
  /** Requests need no API key; under `npm start` only (rule A11). */
  readonly insecure: boolean;
  /** Dormouse's own: keys beside `API_KEY`, which admit less (rule A14). */
  readonly keys: readonly ApiKeyConfig[];
}

/** The section `swagger`. */
interface SwaggerConfig {
  /** The description of the HTTP API and the page that shows it are served (rule W8). */
  readonly enabled: boolean;
}

/** One of `http_api.keys`. */
export interface ApiKeyConfig extends Required<Omit<ApiKey, "title">> {
  /** The name of the Worker's secret that holds the key; "" if only callers by a service binding have its name. */
  readonly secret: string;
}
