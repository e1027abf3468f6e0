import { type SecretUse, secretPair } from "../../access/secrets.ts";
import type { Config, HookEndpoint } from "../../config/config.ts";
import { readOptions, readText, readTexts } from "../../config/fields.ts";
import type { Options, Values } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import { parseEndpoint, type Target, urlMeaning } from "../../config/targets.ts";
import { pusherLimits } from "./limits.ts";

declare module "../../config/config.ts" {
  interface Config {
    /** Dormouse's own: the applications whose clients and servers speak the Pusher protocol; absent if there are none. */
    readonly pusher?: { readonly apps: readonly PusherApp[] };
  }
}

/** One of `pusher.apps`. */
export type PusherApp = Values<typeof appOptions>;

/** Each of `pusher.apps[].webhooks`. @public */
export const webhookOptions = {
  /**
   * Where the events are posted: `https://…` (`http://` for localhost, or with `insecure_endpoints`), or `service:BINDING`
   * with or without `#ENTRYPOINT`.
   *
   * @default required
   */
  url: { is: "text", as: "endpoint", read: readUrl },
  /**
   * The kinds of events that are sent: `channel_occupied` with `channel_vacated`, `member_added` with `member_removed`, `client_event`,
   * `cache_miss` and `subscription_count`.
   *
   * @default required
   */
  event_types: { is: "texts", read: readEventTypes },
} as const satisfies Options;

/** Each of `pusher.apps`. @public */
export const appOptions = {
  /**
   * The application's ID, which stands in the path of the HTTP API: at most 64 of `A-Z`, `a-z`, `0-9`, `-` and `_`.
   *
   * @default required
   */
  id: { is: "text", shape: /^[-\w]{0,64}$/, meaning: "at most 64 of A-Z, a-z, 0-9, - and _" },
  /**
   * The key, with which clients connect. It is no secret: every page has it.
   *
   * @default required
   */
  key: { is: "text", shape: /^[-\w]{0,64}$/, meaning: "at most 64 of A-Z, a-z, 0-9, - and _" },
  /**
   * The name of the Worker's secret that holds the application's secret: `PUSHER_SECRET_` and more of `A-Z`, `0-9` and `_`.
   * While it is replaced, the name with `_PREVIOUS` holds the one before. The secret itself never stands in the
   * configuration.
   *
   * @default required
   */
  secret: { is: "text", secret: "PUSHER_SECRET" },
  /**
   * The namespace of the application's channels, which needs `presence` and no other `subscription_type` than `"stream"`:
   * `private-room` of the application is the channel `NAMESPACE:private-room`. The events of `cache` channels are the
   * newest publications of the namespace's history.
   *
   * @default required
   */
  namespace: { is: "text" },
  /** Clients may send events of their own on private and presence channels. */
  enable_client_messages: { is: "boolean" },
  /**
   * Clients on public and private channels are told how many subscriptions a channel has, when that changes. It costs a row
   * for each change of a gateway's number.
   */
  enable_subscription_count: { is: "boolean" },
  /**
   * Users who sign in with a `watchlist` are told which of those users come and go. It costs a channel for each user who
   * is online, or is watched by one who is.
   */
  enable_watchlist_events: { is: "boolean" },
  /** A client that hasn't signed a user in 30 s after it has connected is closed with 4009. */
  require_signin: { is: "boolean" },
  /** Backends that are told what happens on the application's channels, signed as Pusher signs. */
  webhooks: { is: "sections", of: webhookOptions, read: readWebhooks },
} as const satisfies Options;

/** `pusher.*` */
export const pusherOptions = {
  /** The applications. */
  apps: { is: "sections", of: appOptions },
} as const satisfies Options;

/** The events of webhooks. */
export type WebhookType = (typeof webhookTypes)[number];

/** One of an application's webhooks. */
export type Webhook = Values<typeof webhookOptions>;

const webhookTypes = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
  "subscription_count",
] as const;

/** Types of which one undoes the other: a receiver that is told of one of them alone can't know what holds. */
const pairs = [
  ["channel_occupied", "channel_vacated"],
  ["member_added", "member_removed"],
] as const;

/** An invalid URL isn't quoted, because it may contain a password by mistake. */
function readUrl(section: Section, name: string): HookEndpoint {
  const text = readText(section, name);
  const endpoint = parseEndpoint(text, section.plainHttp);
  if (endpoint === undefined && text !== "")
    section.problem(name, `is neither "service:BINDING" nor ${urlMeaning(section.plainHttp)}`);
  return endpoint ?? { kind: "url", url: text };
}

function readEventTypes(section: Section, name: string): ReadonlySet<WebhookType> {
  const shape = new RegExp(`^(?:${webhookTypes.join("|")})$`);
  const given = readTexts(section, name, { shape, meaning: `one of ${webhookTypes.join(", ")}` });
  const types = new Set(given.flatMap((one) => webhookTypes.find((type) => type === one) ?? []));
  for (const [one, other] of pairs) {
    if (types.has(one) === types.has(other)) continue;
    const [has, lacks] = types.has(one) ? [one, other] : [other, one];
    section.problem(name, `has "${has}" without "${lacks}": the two belong together`);
  }
  return types;
}

function readWebhooks(section: Section, name: string): readonly Webhook[] {
  return section.sections(name, "", pusherLimits.webhooksMax).map((one) => {
    const webhook = readOptions(one, webhookOptions);
    for (const needed of ["url", "event_types"]) one.demand(needed);
    one.refuseOthers({});
    return webhook;
  });
}

/** Reads `pusher`, Dormouse's own. @returns nothing if there are no applications */
export function readPusher(root: Section): Pick<Config, "pusher"> {
  const section = root.section("pusher");
  const apps = readApps(section);
  section.refuseOthers({});
  return apps.length === 0 ? {} : { pusher: { apps } };
}

function readApps(section: Section): readonly PusherApp[] {
  const sections = section.sections("apps", "id", pusherLimits.appsMax);
  const owners = { id: new Map(), key: new Map(), secret: new Map() };
  return sections.map((one) => {
    const app = readOptions(one, appOptions);
    for (const name of ["id", "key", "secret", "namespace"]) one.demand(name);
    one.demandUnique("id", owners.id);
    one.demandUnique("key", owners.key);
    one.demandUnique("secret", owners.secret);
    one.refuseOthers({});
    return app;
  });
}

/** Reports applications whose channels can't be those of their namespaces. */
export function checkPusher({ pusher, channel }: Config, root: Section): void {
  for (const [index, { namespace }] of (pusher?.apps ?? []).entries()) {
    if (namespace === "") continue;
    const options = channel.namespaces.get(namespace);
    const name = `pusher.apps[${index}].namespace`;
    if (channel.namespaceBoundary === "") root.problem(name, "requires channel.namespace_boundary");
    if (options === undefined) root.wrongValue(name, namespace, "is not the name of a namespace");
    else if (options.subscriptionType !== "stream")
      root.wrongValue(name, namespace, 'is not a namespace of the subscription_type "stream"');
    else if (!options.presence)
      root.wrongValue(name, namespace, "is a namespace without presence, which lists members");
  }
}

/** The application of that ID; undefined if the configuration hasn't one. */
export function appOf({ pusher }: Config, id: string | undefined): PusherApp | undefined {
  return pusher?.apps.find((app) => app.id === id);
}

/** The application of a kind of clients. */
export function appOfKind(config: Config, kind: string | undefined): PusherApp | undefined {
  return appOf(config, kind?.replace(offsetsEnd, ""));
}

/** The end of the key with which a client asks for offsets (rule PU17), and of its kind, after the application's ID. */
export const offsetsEnd = "+offsets";

/** The places to which webhooks are sent. */
export function webhookTargets({ pusher }: Config): readonly Target[] {
  return (pusher?.apps ?? []).flatMap(({ webhooks }, index) =>
    webhooks.map(({ endpoint }, at) => ({
      key: `pusher.apps[${index}].webhooks[${at}].url`,
      endpoint,
    })),
  );
}

/** The secrets of the applications. */
export function appSecrets({ pusher }: Config): readonly SecretUse[] {
  return (pusher?.apps ?? []).flatMap(({ secret }) => secretPair(secret, "application"));
}
