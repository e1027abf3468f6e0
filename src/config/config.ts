import type { ApiKey } from "../access/api-keys.ts";
import type { PublicKey } from "../access/keys.ts";
import type { HookHeader } from "../contract/session-snapshot.ts";
import type { DisconnectCode, ErrorCode } from "../protocol/codes.ts";
import type { connectionOptions, sessionOptions } from "./client-options.ts";
import type {
  dataOptions,
  lastingOptions,
  nameOptions,
  permissionOptions,
  streamOptions,
} from "./channel-options.ts";
import type { Values } from "./option.ts";
import type { apiKeyOptions, httpApiOptions } from "./http-api-options.ts";
import type { RateLimits } from "./rate-limit.ts";
import type { transportOptions } from "./transports.ts";
import type {
  claimOptions,
  issuerClaimOptions,
  issuerOptions,
  previousSecretOptions,
} from "./token-options.ts";

/**
 * The whole configuration, checked and with defaults filled in. The names are those of Centrifugo's configuration. Each
 * feature adds its own sections.
 */
export interface Config {
  readonly client: ClientConfig;
  readonly channel: ChannelConfig;
  readonly httpApi: HttpApiConfig;
  /** The transports beside WebSocket that are on (docs/protocol.md 4). */
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

/** The address of a backend. */
export type HookEndpoint =
  | { readonly kind: "url"; readonly url: string }
  /** Another Worker of the account: the name of its binding, and the entrypoint that the binding has to name. */
  | { readonly kind: "service"; readonly binding: string; readonly entrypoint?: string };

/** A backend's refusal. */
export type HookRefusal =
  | { readonly outcome: "error"; readonly error: ErrorCode }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode };

/** The transports beside WebSocket, and whether each is on. */
export interface TransportsConfig extends Values<typeof transportOptions> {}

/** The section `client` (docs/protocol.md 5.7). */
export interface ClientConfig
  extends Values<typeof connectionOptions>, RateLimits, Values<typeof sessionOptions> {
  /** Clients are told why they are refused; under `npm start` only (rule W13). */
  readonly tellsReasons?: true;
  /** Which connection tokens are accepted; also which subscription tokens, unless `subscriptionToken` is present. */
  readonly token: TokenConfig;
  /** Which subscription tokens are accepted; if absent, `token` applies. */
  readonly subscriptionToken?: TokenConfig;
}

/** The rules by which the server accepts tokens (docs/protocol.md 5.1 and 5.3). */
export interface TokenConfig extends TokenRules, Values<typeof issuerClaimOptions> {
  /** Dormouse's own: the issuers, each with keys and rules of its own (rule A15). If there are any, nothing else is set. */
  readonly issuers: readonly IssuerConfig[];
}

/**
 * The keys that verify tokens, and the rules for their claims. The secrets aren't part of the configuration: the Worker
 * gets them from its environment.
 */
export interface TokenRules
  extends Values<typeof previousSecretOptions>, Values<typeof claimOptions> {
  /** The keys of `rsa_public_key`, `ecdsa_public_key` and, Dormouse's own, `eddsa_public_key`. */
  readonly publicKeys: readonly PublicKey[];
  /** The URL from which keys are fetched; if present, no other key and no secret is used. */
  readonly jwksPublicEndpoint?: string;
}

/** One of `issuers`: it has a public key, a JWKS or a secret. */
export interface IssuerConfig extends TokenRules, Values<typeof issuerOptions> {}

/** The section `channel`: the syntax of channel names, and the namespaces (docs/protocol.md 5.4). */
export interface ChannelConfig extends Values<typeof nameOptions> {
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
export interface ChannelOptions
  extends
    Values<typeof lastingOptions>,
    Values<typeof streamOptions>,
    Values<typeof permissionOptions>,
    Values<typeof dataOptions> {
  /** The kind of the namespace's channels, which decides how clients subscribe to them (docs/protocol.md 1.3). */
  readonly subscriptionType: keyof ChannelTypes;
}

/** The types of channels, by their names. Each feature adds its own. */
export interface ChannelTypes {
  readonly stream: true;
}

/** The section `http_api` (docs/protocol.md 6.1). */
export interface HttpApiConfig extends Values<typeof httpApiOptions> {
  /** Dormouse's own: keys beside `API_KEY`, which admit less (rule A14). */
  readonly keys: readonly ApiKeyConfig[];
}

/** The section `swagger`. */
interface SwaggerConfig {
  /** The description of the HTTP API and the page that shows it are served (rule W8). */
  readonly enabled: boolean;
}

/** One of `http_api.keys`. Its secret is "" if only callers by a service binding have its name. */
export interface ApiKeyConfig
  extends Required<Omit<ApiKey, "title">>, Values<typeof apiKeyOptions> {}
