/**
 * All options of the configuration: the rows of the kernel and of the features, in one tree. The Worker reads each section by
 * its own rows; this is for the programs that show the whole.
 */
import { apiKeyOptions, apiKeyRightOptions, httpApiOptions } from "../config/http-api-options.ts";
import {
  dataOptions,
  inheritedOptions,
  lastingOptions,
  namespaceNameOptions,
  nameOptions,
  permissionOptions,
  streamOptions,
} from "../config/channel-options.ts";
import { connectionOptions, sessionOptions } from "../config/client-options.ts";
import type { Options, WrittenOptions } from "../config/option.ts";
import { rootOptions } from "../config/parse-config.ts";
import { objectPlacementOptions, serverPlacementOptions } from "../config/placement.ts";
import { bucketOptions, switchOptions } from "../config/rate-limit.ts";
import { subscriptionTypeOption } from "../config/subscription-type.ts";
import {
  claimOptions,
  issuerClaimOptions,
  issuerOptions,
  previousSecretOptions,
  publicKeyOptions,
  separateTokenOptions,
} from "../config/token-options.ts";
import { swaggerOptions, transportOptions } from "../config/transports.ts";
import { consoleOptions } from "./console/config.ts";
import { changeOptions } from "./changes/config.ts";
import { noticeOptions, readerOptions } from "./cursors/config.ts";
import { eventOptions } from "./events/config.ts";
import {
  askingOptions,
  backendNameOptions,
  contentOptions,
  endpointOptions,
  httpOptions,
} from "./hooks/backends.ts";
import {
  channelHookOptions,
  connectOptions,
  methodNameOptions,
  methodsOptions,
  pingOptions,
} from "./hooks/config.ts";
import {
  clientsOptions,
  growthOptions,
  keyOptions,
  mapHookOptions,
  mapStreamOptions,
  pageOptions,
} from "./maps/config.ts";
import { callOptions } from "./procedures/config.ts";
import { prometheusOptions } from "./metrics/config.ts";
import { presenceOptions } from "./presence/config.ts";
import { pusherOptions } from "./pusher/config.ts";
import { consumerOptions } from "./queues/config.ts";
import { channelTypes } from "./sections.ts";
import {
  allPollsOptions,
  pollHookOptions,
  pollKindOptions,
  pollOptions,
} from "./shared-polls/config.ts";

/** A backend: `client.proxy.connect`, `channel.proxy.subscribe`, each of `proxies` and so on. */
export const backendOptions = {
  ...endpointOptions,
  ...askingOptions,
  /** Options of requests over HTTP alone. */
  http: { is: "section", of: httpOptions },
  ...contentOptions,
} as const satisfies Options;

/** `client.proxy.*` */
export const clientHookOptions = {
  /** The backend that decides who may connect. */
  connect: {
    is: "section",
    of: {
      ...connectOptions,
      /**
       * Asks about connects without a token.
       *
       * @differs asked for connects without a token
       */
      enabled: { is: "boolean" },
      ...backendOptions,
    },
  },
  /** The backend that extends connections. */
  refresh: {
    is: "section",
    of: {
      /**
       * The server asks at the end of a connection, and clients don't refresh themselves.
       *
       * @differs the server asks at the end of a connection
       */
      enabled: { is: "boolean" },
      ...backendOptions,
    },
  },
  /** The backend to which clients send messages. */
  message: {
    is: "section",
    own: true,
    of: {
      /** Takes what clients send with `send`. */
      enabled: { is: "boolean" },
      ...backendOptions,
    },
  },
} as const satisfies Options;

/** `client.token`; `client.subscription_token` has `enabled` beside them. */
export const tokenOptions = {
  ...publicKeyOptions,
  ...previousSecretOptions,
  ...claimOptions,
  ...issuerClaimOptions,
  /**
   * Issuers, each with keys and rules of its own, in place of all other keys of the section; see
   * [Several issuers](configuration.md#several-issuers).
   */
  issuers: {
    is: "sections",
    own: true,
    of: { ...issuerOptions, ...publicKeyOptions, ...previousSecretOptions, ...claimOptions },
  },
} as const satisfies Options;

/** Rates of one kind of commands. */
export const rateOptions = {
  ...switchOptions,
  /** The rates, up to 4, all of which must be kept. */
  buckets: { is: "sections", of: bucketOptions },
} as const satisfies Options;

/** Rates of a kind of commands that is about a channel, whose namespace may have rates of its own. */
export const channelRateOptions = {
  ...rateOptions,
  /** Rates that take the place of the others in all channels of one namespace together. */
  namespace_overrides: {
    is: "sections",
    of: {
      /**
       * The namespace.
       *
       * @default required
       */
      namespace_name: { is: "text" },
      ...rateOptions,
    },
  },
} as const satisfies Options;

/** `client.rate_limit.client_command` and `client.rate_limit.user_command` of Centrifugo PRO. */
export const commandRateOptions = {
  ...switchOptions,
  /** The rates of all commands together. */
  total: { is: "section", of: rateOptions },
  /** The rates of `rpc`. */
  rpc: { is: "section", of: rateOptions },
  /** The rates of `send`; one too many closes the connection with 3013. */
  send: { is: "section", of: rateOptions },
  /** The rates of `subscribe`. */
  subscribe: { is: "section", of: channelRateOptions },
  /** The rates of `publish`. */
  publish: { is: "section", of: channelRateOptions },
  /** The rates of `presence`. */
  presence: { is: "section", of: channelRateOptions },
  /** The rates of `presence_stats`. */
  presence_stats: { is: "section", of: channelRateOptions },
  /** The rates of `history`. */
  history: { is: "section", of: channelRateOptions },
} as const satisfies Options;

/** The section `client`, but for what features add to it. */
export const clientOptions = {
  ...connectionOptions,
  /** How fast clients may send commands: see [Rates of commands](configuration.md#rates-of-commands). */
  rate_limit: {
    is: "section",
    of: {
      /** How fast one connection may send commands. */
      client_command: { is: "section", of: commandRateOptions },
      /**
       * How fast the connections of one user on one object may send commands together.
       *
       * @differs each object counts for itself, as each node does in Centrifugo PRO
       */
      user_command: { is: "section", of: commandRateOptions },
    },
  },
  ...sessionOptions,
  /** The backends that are asked about connections: see [Hooks](configuration.md#hooks). */
  proxy: { is: "section", of: clientHookOptions },
  /** Which tokens are accepted. */
  token: { is: "section", of: tokenOptions },
  /** Which subscription tokens are accepted, where their keys differ from those of connection tokens. */
  subscription_token: { is: "section", of: { ...separateTokenOptions, ...tokenOptions } },
} as const satisfies Options;

/** `rpc.*` */
export const rpcOptions = {
  /** The method that needs no backend. */
  ping: { is: "section", of: pingOptions },
  /** The backend that answers the other methods. */
  proxy: { is: "section", of: backendOptions },
  /** Methods without a namespace. */
  without_namespace: { is: "section", of: methodsOptions },
  /** Namespaces of methods; a namespace is the part of a method's name before the boundary. */
  namespaces: { is: "sections", of: { ...backendNameOptions, ...methodsOptions } },
  ...methodNameOptions,
} as const satisfies Options;

/** The section `map` of a namespace. */
export const mapOptions = {
  ...keyOptions,
  ...mapStreamOptions,
  ...mapHookOptions,
  ...growthOptions,
  ...clientsOptions,
  ...pageOptions,
} as const satisfies Options;

/** Where the objects of a namespace's channels are, instead of what `placement` says. */
export const channelPlacementOptions = {
  /**
   * Where the objects of the namespace's channels are kept and run: as in [`placement`](configuration.md#placement), and
   * instead of it.
   *
   * @default that of `placement`
   */
  jurisdiction: { ...objectPlacementOptions.jurisdiction, own: true },
  /**
   * Near what they are created: as in `placement`, and instead of it.
   *
   * @default that of `placement`
   */
  location: { ...objectPlacementOptions.location, own: true },
} as const satisfies Options;

/** The options of a namespace of channels, and of channels without one. */
export const channelOptions = {
  ...lastingOptions,
  ...streamOptions,
  /**
   * `"stream"`, the default; `"map"`: each channel is a map, which keeps the newest value of each key, with the
   * [options of a map](configuration.md#options-of-a-map); `"map_clients"` and `"map_users"`: each channel shows who is
   * subscribed to another one, as a [presence map](maps.md#who-is-there); `"map_receipts"`, which is Dormouse's own: each
   * channel shows what users have read of another one ([cursors.md](cursors.md#seen-by-live)); `"shared_poll"`: each channel
   * is a shared poll, with the [options of one](configuration.md#options-of-a-shared-poll). None of these but the first takes
   * the options of history, positioning and recovery.
   *
   * @differs `map_receipts` is Dormouse's own
   */
  subscription_type: subscriptionTypeOption(channelTypes),
  ...presenceOptions,
  /** The options of a map: see [Options of a map](configuration.md#options-of-a-map). */
  map: { is: "section", of: mapOptions },
  /** The options of a shared poll: see [Options of a shared poll](configuration.md#options-of-a-shared-poll). */
  shared_poll: {
    is: "section",
    of: { ...pollHookOptions, ...pollKindOptions, ...pollOptions },
  },
  ...permissionOptions,
  ...callOptions,
  ...channelHookOptions,
  ...changeOptions,
  /** How far each user has read: see [Options of cursors](configuration.md#options-of-cursors). */
  cursors: { is: "section", own: true, of: { ...noticeOptions, ...readerOptions } },
  ...channelPlacementOptions,
  ...dataOptions,
} as const satisfies Options;

export const channelProxyOptions = {
  /** The backend that decides on subscribes without a token. */
  subscribe: { is: "section", of: backendOptions },
  /** The backend that decides on publishes of clients. */
  publish: { is: "section", of: backendOptions },
  /** The backend that decides on the end of subscriptions. */
  sub_refresh: { is: "section", of: backendOptions },
  /** The backend that decides on what clients set in maps. */
  map_publish: { is: "section", of: backendOptions },
  /** The backend that decides on what clients remove from maps. */
  map_remove: { is: "section", of: backendOptions },
  /** The backend that is polled for shared polls. */
  shared_poll_refresh: { is: "section", of: backendOptions },
} as const satisfies Options;

/** The whole configuration. */
export const configuration = {
  ...rootOptions,
  /** A backend that is told of publications, connections, subscriptions, users and channels. */
  events: { is: "section", own: true, of: eventOptions },
  /** How connections are admitted, kept and closed. */
  client: { is: "section", of: clientOptions },
  /** The syntax of channels' names, and the options of each namespace. */
  channel: {
    is: "section",
    of: {
      ...inheritedOptions,
      /** The backends that namespaces switch on: see [Hooks](configuration.md#hooks). */
      proxy: { is: "section", of: channelProxyOptions },
      ...nameOptions,
      /** The options of channels without a namespace. */
      without_namespace: { is: "section", of: channelOptions },
      /** The namespaces, each with its `name` and options. */
      namespaces: { is: "sections", of: { ...namespaceNameOptions, ...channelOptions } },
    },
  },
  /**
   * Backends with a `name`, to which `subscribe_proxy_name`, `proxy_name` and their like refer.
   *
   * @differs at most 100, by `name`
   */
  proxies: { is: "sections", of: { ...backendNameOptions, ...backendOptions } },
  /** The HTTP API. */
  http_api: {
    is: "section",
    of: {
      ...httpApiOptions,
      /** Further keys, which admit less than `API_KEY`; see [Keys](configuration.md#keys-of-the-http-api). */
      keys: { is: "sections", own: true, of: { ...apiKeyOptions, ...apiKeyRightOptions } },
    },
  },
  /** Calls of clients that backends answer. */
  rpc: { is: "section", of: rpcOptions },
  /** The operator's page at `/console` ([console.md](console.md)). */
  console: { is: "section", own: true, of: consoleOptions },
  /** Metrics. */
  prometheus: { is: "section", of: prometheusOptions },
  ...transportOptions,
  /** The description of the HTTP API. */
  swagger: { is: "section", of: swaggerOptions },
  /** Where Cloudflare keeps the objects; [placement.md](placement.md) explains it. */
  placement: {
    is: "section",
    own: true,
    of: { ...objectPlacementOptions, ...serverPlacementOptions },
  },
  /** Options of all shared polls together. */
  shared_poll: { is: "section", of: allPollsOptions },
  /**
   * Queues of Cloudflare Queues whose messages Dormouse carries out: commands or publications of backends
   * ([queue.md](queue.md)).
   */
  consumers: { is: "sections", of: consumerOptions },
  /**
   * Applications whose clients and servers speak the Pusher protocol, as those of Pusher, Laravel Reverb and soketi do.
   */
  pusher: { is: "section", own: true, of: pusherOptions },
} as const satisfies Options;

/** The configuration, as it stands under `[vars.config]` (docs/configuration.md). */
export type DormouseConfig = WrittenOptions<typeof configuration>;
