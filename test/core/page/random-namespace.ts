import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import type { Random } from "../../support/random.ts";

/** A namespace `ns` as an operator writes it, and the configuration that has it. */
export interface RandomNamespace {
  readonly type: (typeof types)[number];
  readonly options: Options;
  /** The section `map`. */
  readonly map: Options;
  readonly cursors: Options;
  /** "" for none. */
  readonly privatePrefix: string;
  readonly userBoundary: string;
  readonly config: Config;
}

export type Options = Readonly<Record<string, string | number | boolean | object>>;

const types = ["stream", "stream", "map", "map", "shared_poll", "map_users"] as const;
const endpoint = "https://backend.example/hooks";
const hooks = ["subscribe", "publish", "map_publish", "map_remove", "shared_poll_refresh"];
const proxy = Object.fromEntries(hooks.map((hook) => [hook, { endpoint }]));

/** Draws namespaces of all types, until the options of one go together. */
export function randomNamespace(random: Random): RandomNamespace {
  for (;;) {
    const type = random.pick(types);
    const isStream = type === "stream";
    const hasHistory = isStream && random.chance(0.7);
    const hasCursors = hasHistory && random.chance(0.6);
    const map = type === "map" ? randomMap(random) : { key_ttl: "60s" };
    const cursors = hasCursors ? randomCursors(random) : {};
    const options: Options = {
      ...flags(random, 0.4, common),
      ...flags(random, 0.2, ["subscribe_proxy_enabled", "publish_proxy_enabled"]),
      ...(hasHistory && { history_size: 5, history_ttl: "1m" }),
      ...(hasHistory && flags(random, 0.3, ["force_recovery", "allow_recovery"])),
      ...(isStream && random.chance(0.3) && { map_users_presence_channel_prefix: "users:" }),
    };
    const privatePrefix = random.pick(["$", "$", ""]);
    const userBoundary = random.pick(["#", "#", ""]);
    const namespace = {
      ...options,
      name: "ns",
      subscription_type: type,
      ...(type.startsWith("map") && { map }),
      ...(type === "shared_poll" && {
        shared_poll: { mode: "versioned", publish_enabled: random.chance(0.5) },
      }),
      ...(hasCursors && { cursors }),
    };
    const mirror = { map: { key_ttl: "60s" }, ...flags(random, 0.5, subscribing) };
    const parsed = parseConfig({
      channel: {
        proxy,
        private_prefix: privatePrefix,
        user_boundary: userBoundary,
        namespaces: [
          namespace,
          { name: "users", subscription_type: "map_users", ...mirror },
          { name: "seen", subscription_type: "map_receipts", ...mirror },
        ],
      },
    });
    if (parsed.outcome !== "bad")
      return { type, options, map, cursors, privatePrefix, userBoundary, config: parsed.config };
  }
}

function randomMap(random: Random): Options {
  const mode = random.pick(["persistent", "recoverable", "ephemeral"]);
  return {
    mode,
    ...(mode === "persistent" ? {} : { key_ttl: "60s" }),
    client_key: random.pick(["", "", "client_id", "user_id"]),
    append_window: random.pick(["0s", "250ms"]),
    ...flags(random, 0.4, [...forKinds("allow_publish"), ...forKinds("allow_remove")]),
    ...flags(random, 0.2, ["publish_proxy_enabled", "remove_proxy_enabled"]),
  };
}

function randomCursors(random: Random): Options {
  return {
    enabled: true,
    receipts: random.pick(["backend", "publisher", "subscriber"]),
    ...(random.chance(0.7) && { receipts_channel_prefix: "seen:" }),
  };
}

function flags(random: Random, share: number, names: readonly string[]): Options {
  return Object.fromEntries(names.filter(() => random.chance(share)).map((name) => [name, true]));
}

function forKinds(option: string): readonly string[] {
  return ["client", "subscriber", "anonymous"].map((kind) => `${option}_for_${kind}`);
}

const subscribing = ["allow_subscribe_for_client", "allow_subscribe_for_anonymous"];
const common = [
  ...subscribing,
  ...["allow_publish", "allow_presence", "allow_history"].flatMap(forKinds),
  "presence",
  "join_leave",
  "force_push_join_leave",
  "allow_user_limited_channels",
  "limited_channels_for_subscribers_only",
];
