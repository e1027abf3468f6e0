import type { ChannelBackends } from "../../config/channel-features.ts";
import type { ChannelOptions, Config, HookTarget } from "../../config/config.ts";
import { readOption, readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import type { Target } from "../../config/targets.ts";
import { not, notYet, pro, type UnsupportedKeys } from "../../config/unsupported.ts";
import { hookLimits } from "./limits.ts";
import { backendNameOptions, type NamedTargets, readBackends, readTarget } from "./backends.ts";

declare module "../../config/config.ts" {
  interface Config {
    readonly hooks: HooksConfig;
    readonly rpc: RpcConfig;
  }
  interface ChannelOptions {
    /** The backend that decides on subscribes without a token (docs/protocol.md 7). */
    readonly subscribeHook?: HookTarget;
    /** The backend that decides on publishes of clients. */
    readonly publishHook?: HookTarget;
    /** The backend that extends subscriptions without a token, when they expire. */
    readonly subRefreshHook?: HookTarget;
  }
}

/**
 * The hooks of connections (docs/protocol.md 7). Those of channels stand with their namespaces, and those of calls in
 * {@link RpcConfig}.
 */
export interface HooksConfig {
  readonly connect?: HookTarget;
  /**
   * Dormouse's own: when `connect` is asked about. "upgrade": by the edge, before any object is called (rule Q10);
   * "connect": by the object, for the client's connect.
   */
  readonly connectAt: "connect" | "upgrade";
  /** The server refreshes connections; clients don't (rule Q9). */
  readonly refresh?: HookTarget;
  /** Dormouse's own: takes what clients send with `send`. */
  readonly message?: HookTarget;
  /** Whether a hook gets the metadata of connections. */
  readonly keepsMeta: boolean;
  /** The targets of all hooks that are switched on, by {@link HookTarget.name}. */
  readonly targets: ReadonlyMap<string, HookTarget>;
}

/** The section `rpc` (docs/protocol.md 1.6 and 7): which backend answers which methods. */
export interface RpcConfig {
  /** Whether the method `ping` is answered, without a backend. */
  readonly pingEnabled: boolean;
  readonly namespaceBoundary: string;
  /** Absent if the hook isn't switched on for methods without a namespace. */
  readonly withoutNamespace?: HookTarget;
  /** The namespaces of methods; undefined where the hook isn't switched on. */
  readonly namespaces: ReadonlyMap<string, HookTarget | undefined>;
}

/** The options of `client.proxy.connect` beside its backend. */
export const connectOptions = {
  /**
   * When the backend is asked: `"upgrade"` is before any object is called, see
   * [hooks.md](hooks.md#asking-at-the-upgrade).
   *
   * @differs with `"upgrade"` the backend is asked before any object is called
   */
  at: { is: "choice", own: true, of: ["connect", "upgrade"] },
} as const satisfies Options;

/** `rpc.ping.*` */
export const pingOptions = {
  /** Clients may call the method `ping`, which is answered with `{}`. */
  enabled: { is: "boolean" },
} as const satisfies Options;

export const methodNameOptions = {
  /** The part of a method's name before it is the namespace. */
  namespace_boundary: { is: "text", default: ":" },
} as const satisfies Options;

/** The option that names the backend for the methods of a namespace, or for those without one. */
export const methodsOptions = {
  /** A backend answers the methods. */
  proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `rpc.proxy`, or the name of one of `proxies`. */
  proxy_name: { is: "text", default: "default" },
} as const satisfies Options;

/** The hooks of a namespace of channels. */
export const channelHookOptions = {
  /** A backend decides on subscribes without a token: see [hooks.md](hooks.md). */
  subscribe_proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `channel.proxy.subscribe`, or the name of one of `proxies`. */
  subscribe_proxy_name: { is: "text", default: "default" },
  /** A backend decides on publishes of clients. */
  publish_proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `channel.proxy.publish`, or the name of one of `proxies`. */
  publish_proxy_name: { is: "text", default: "default" },
  /** A backend decides on the end of subscriptions. */
  sub_refresh_proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `channel.proxy.sub_refresh`, or the name of one of `proxies`. */
  sub_refresh_proxy_name: { is: "text", default: "default" },
} as const satisfies Options;

/**
 * Reads `client.proxy`: the hooks of connections.
 *
 * @param section receives the problems
 */
export function readClientHooks(section: Section): ClientHooks {
  const ofConnect = section.section("connect");
  const connectAt = readOption(ofConnect, "at", connectOptions.at);
  const connect = readSwitched(ofConnect);
  const [refresh, message] = (["refresh", "message"] as const).map((name) =>
    readSwitched(section.section(name)),
  );
  section.refuseOthers({});
  return {
    connectAt,
    ...(connect && { connect }),
    ...(refresh && { refresh }),
    ...(message && { message }),
  };
}

function readSwitched(section: Section): HookTarget | undefined {
  const enabled = readOption(section, "enabled", { is: "boolean" });
  const target = readTarget(section);
  if (!enabled) return undefined;
  if (target === undefined) section.problem("enabled", "requires endpoint");
  return target;
}

/**
 * Reads `rpc`: which backend answers which methods (docs/protocol.md 1.6 and 7).
 *
 * @param section receives the problems
 */
export function readRpcSection(section: Section, proxies: NamedTargets): RpcConfig {
  const ping = section.section("ping");
  const backends = readBackends(section, ["proxy"], proxies);
  const withoutNamespace = readMethods(section.section("without_namespace"), backends);
  const sections = section.sections("namespaces", "name", hookLimits.hookTargetsMax);
  const owners = new Map<string, string>();
  const namespaces = new Map<string, HookTarget | undefined>();
  for (const one of sections) {
    const name = readOption(one, "name", backendNameOptions.name);
    one.demand("name");
    one.demandUnique("name", owners);
    namespaces.set(name, readMethods(one, backends));
  }
  const config: RpcConfig = {
    pingEnabled: readOption(ping, "enabled", pingOptions.enabled),
    ...readOptions(section, methodNameOptions),
    ...(withoutNamespace && { withoutNamespace }),
    namespaces,
  };
  ping.refuseOthers(unsupportedRpcPingKeys);
  section.refuseOthers({});
  return config;
}

function readMethods(section: Section, backends: ChannelBackends): HookTarget | undefined {
  const target = backends.switched(section, "proxy_", "proxy");
  section.refuseOthers({});
  return target;
}

/**
 * Reads `channel.proxy`: the backends that namespaces mean by the name `default`.
 *
 * @param section receives the problems
 * @param keys    of the hooks of channels
 */
export function readChannelBackends(
  section: Section,
  keys: readonly string[],
  proxies: NamedTargets,
): ChannelBackends {
  const backends = readBackends(section, keys, proxies);
  section.refuseOthers(unsupportedChannelProxyKeys);
  return backends;
}

/** The keys of `channel.proxy` that hooks of channels have. */
export const channelHookKeys = ["subscribe", "publish", "sub_refresh"];

/**
 * Reads the hooks of one namespace of channels.
 *
 * @param section receives the problems
 */
export function readChannelHooks(
  section: Section,
  backends: ChannelBackends,
): Partial<ChannelOptions> {
  const subscribeHook = backends.switched(section, "subscribe_proxy_", "subscribe");
  const publishHook = backends.switched(section, "publish_proxy_", "publish");
  const subRefreshHook = backends.switched(section, "sub_refresh_proxy_", "sub_refresh");
  return {
    ...(subscribeHook && { subscribeHook }),
    ...(publishHook && { publishHook }),
    ...(subRefreshHook && { subRefreshHook }),
  };
}

/** The backends of one namespace's hooks. */
export function channelHooks({
  subscribeHook,
  publishHook,
  subRefreshHook,
}: ChannelOptions): HookTargets {
  return [subscribeHook, publishHook, subRefreshHook];
}

/** Backends; undefined where a hook isn't switched on. */
export type HookTargets = readonly (HookTarget | undefined)[];

/**
 * The hooks of connections, with what all hooks of the configuration have in common.
 *
 * @param ofChannels the backends of all namespaces' hooks
 */
export function allHooks(hooks: ClientHooks, rpc: RpcConfig, ofChannels: HookTargets): HooksConfig {
  const { connect, refresh, message } = hooks;
  const ofCalls = [rpc.withoutNamespace, ...rpc.namespaces.values()];
  const on = [connect, refresh, message, ...ofCalls, ...ofChannels].filter(
    (one) => one !== undefined,
  );
  return {
    ...hooks,
    keepsMeta: on.some(({ includesMeta }) => includesMeta),
    targets: new Map(on.map((one) => [one.name, one])),
  };
}

/** The backends of all hooks. */
export function hookTargets({ hooks }: Config): readonly Target[] {
  return [...hooks.targets.values()].map(({ name, endpoint }) => ({
    key: `${name}.endpoint`,
    endpoint,
  }));
}

/** Signs the requests to backends (rules E4 and Q8). */
export const hookSecret = "HOOK_SIGNING_SECRET";

/** The hooks of connections. */
export type ClientHooks = Pick<HooksConfig, "connect" | "connectAt" | "refresh" | "message">;

/** `rpc.ping.*` (docs/protocol.md 1.6). */
export const unsupportedRpcPingKeys: UnsupportedKeys = {
  method: { ...not, accepted: ["ping"] },
};

/** Options of namespaces about hooks that Dormouse doesn't have (docs/protocol.md 7). */
export const unsupportedHookOptions: UnsupportedKeys = {
  subscribe_stream_proxy_enabled: notYet,
  // Set by default, and without effect until the hook is enabled.
  subscribe_stream_proxy_name: { ...notYet, accepted: ["default"] },
  subscribe_stream_proxy_bidirectional: notYet,
  cache_empty_proxy_enabled: pro,
  cache_empty_proxy_name: pro,
  state_proxy_enabled: pro,
  state_proxy_name: pro,
};

/** `channel.proxy.*` (docs/protocol.md 7). */
export const unsupportedChannelProxyKeys: UnsupportedKeys = {
  subscribe_stream: { ...notYet, accepted: { timeout: ["1s", "1000ms"] } },
  cache_empty: pro,
  state: pro,
};
