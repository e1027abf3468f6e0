import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../cli/package-root.ts";
import { productionBundle } from "../../cli/build/production-bundle.ts";
import { apiKey } from "./dormouse-wire.ts";
import { bundled, withChangedCopy } from "../../test/verification/weakened/changed-copy.ts";
import { HookBackend } from "./hook-backend.ts";
import { type SystemOptions, type System, usualHistorySize } from "./system.ts";
import { type ArrivalRule, changesWithout } from "./weakened.ts";
import { type SystemName, tokenSecret } from "./wire.ts";
import { startOnWorkerd } from "./workerd-system.ts";

/**
 * The production bundle. The clients' addresses decide whether sockets are on the channel's object or on a gateway.
 *
 * @param without a rule that is taken out of it; absent for none
 */
export function dormouse(
  name: SystemName,
  stream: "history" | "no-history",
  without?: ArrivalRule,
): System {
  return {
    name,
    start: async (options) => {
      const served = { "edge.js": bundleWith(without, options) };
      const backend = options.connectHook === undefined ? undefined : await HookBackend.start();
      const running = await startOnWorkerd(options, {
        modules: options.counted === true ? { "counting.js": counting(), ...served } : served,
        classNames: { CHANNELS: "ChannelObject", GATEWAYS: "GatewayObject", USERS: "UsersObject" },
        variables: { config: JSON.stringify(configuration(options, stream, backend?.url)) },
        secrets: {
          API_KEY: apiKey,
          TOKEN_HMAC_SECRET_KEY: tokenSecret,
          HOOK_SIGNING_SECRET: hookSecret,
        },
        countsPath: "/bench/counts",
      });
      const stop = async (): Promise<void> => {
        await running.stop();
        await backend?.stop();
      };
      return { ...running, stop };
    },
  };
}

/** @param backend the address that is asked about connects, if one is */
function configuration(
  options: SystemOptions,
  stream: "history" | "no-history",
  backend: string | undefined,
): object {
  const {
    historySize = usualHistorySize,
    tokens = false,
    socketsPerObject,
    homes,
    connectHook,
    patient = false,
    pingIntervalMs,
  } = options;
  return {
    client: {
      ...(patient && { stale_close_delay: "5m" }),
      // A client may recover all that the history keeps.
      ...(historySize > usualHistorySize && { recovery_max_publication_limit: historySize + 1 }),
      ...(connectHook !== undefined && {
        // The backend is never down. How long clients wait is what is measured.
        proxy: { connect: { enabled: true, at: connectHook, endpoint: backend, timeout: "20s" } },
      }),
      // All clients are asked for pongs, whatever their channels show of them.
      ...(pingIntervalMs !== undefined && {
        ping_interval: `${pingIntervalMs}ms`,
        pong: "always",
      }),
      ...(homes === "none" && { users: { enabled: false } }),
      allow_anonymous_connect_without_token: !tokens,
      ...(socketsPerObject !== undefined && { connection_limit: socketsPerObject }),
    },
    uni_http_stream: { enabled: true },
    channel: {
      without_namespace: {
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: !tokens,
        ...(stream === "history" && {
          history_size: historySize,
          history_ttl: "5m",
          force_recovery: true,
        }),
      },
      namespaces: [
        {
          name: "room",
          allow_subscribe_for_client: true,
          history_size: historySize,
          history_ttl: "5m",
          force_recovery: true,
          cursors: { enabled: true },
        },
        {
          name: "code",
          allow_subscribe_for_client: true,
          allow_subscribe_for_anonymous: !tokens,
          history_size: historySize,
          history_ttl: "5m",
          force_recovery: true,
        },
        mapNamespace("lasting", tokens, { mode: "persistent" }),
        mapNamespace("kept", tokens, { mode: "recoverable", key_ttl: "1h" }),
        mapNamespace("brief", tokens, { mode: "ephemeral", key_ttl: "1h" }),
        {
          ...mapNamespace("text", tokens, { mode: "persistent" }),
          allowed_delta_types: ["fossil"],
        },
      ],
    },
  };
}

/** A namespace of maps, whose clients may take a minute to read one: many of them may read at the same time. */
function mapNamespace(name: string, tokens: boolean, map: object): object {
  return {
    name,
    subscription_type: "map",
    allow_subscribe_for_client: true,
    allow_subscribe_for_anonymous: !tokens,
    map: { ...map, subscribe_catch_up_timeout: "1m" },
  };
}

const hookSecret = "the bench's secret that signs questions";

function counting(): string {
  return readFileSync(new URL("./counting.js", import.meta.url), "utf8");
}

function bundleWith(
  without: ArrivalRule | undefined,
  { homes = "shared", code = false }: SystemOptions,
): string {
  if (code) {
    const coded = bundles.get(entryWithCode) ?? productionBundle(packageRoot, [entryWithCode]);
    bundles.set(entryWithCode, coded);
    return coded;
  }
  const changes = [
    ...(homes === "one-each" ? [homeEach] : []),
    ...(without === undefined ? [] : changesWithout[without]),
  ];
  const key = changes.map(({ name }) => name).join(", ");
  const bundle =
    bundles.get(key) ??
    (changes.length === 0
      ? productionBundle()
      : withChangedCopy(changes, bundled, productionBundle));
  bundles.set(key, bundle);
  return bundle;
}

/** By the names of their changes. Built once, on first use, because that takes seconds. */
const bundles = new Map<string, string>();

const entryWithCode = fileURLToPath(new URL("./coded/edge.js", import.meta.url));

/** Gives each user a home of its own, to see what sharing saves. */
const homeEach = {
  name: "a home for each user",
  file: "src/contract/object-names.ts",
  code: "return String(hashOf(user) % limits.homes);",
  weakened: "return `${user} ${hashOf(user)}`;",
};
