import { describe, expect, it } from "vitest";
import type { MapOptions } from "../../../../src/features/maps/config.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { mapDefaults } from "../../../support/map-defaults.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const path = "channel.without_namespace";

const optionsOf = (map: object, others: object = {}) =>
  configOf({ channel: { without_namespace: { subscription_type: "map", map, ...others } } }).channel
    .withoutNamespace;

const problemsOfMap = (map: object, others: object = {}) =>
  problemsOf({ channel: { without_namespace: { subscription_type: "map", map, ...others } } });

const namespace = (map: object) => ({
  subscription_type: "map",
  map: { mode: "persistent", ...map },
});

const minuteMs = 60_000;
const forEverMs = 10 * 365 * 24 * 60 * minuteMs;

describe("[A8] the options of a map", () => {
  it.each([
    [
      { mode: "persistent" },
      { historySize: 100, historyTtlMs: minuteMs, historyMetaTtlMs: forEverMs },
      { ...mapDefaults, mode: "persistent", keyTtlMs: 0 },
    ],
    [
      { mode: "recoverable", key_ttl: "1m" },
      { historySize: 100, historyTtlMs: minuteMs, historyMetaTtlMs: 10 * minuteMs },
      { ...mapDefaults, mode: "recoverable", keyTtlMs: minuteMs },
    ],
    [
      { mode: "recoverable", key_ttl: "1h", stream_size: 7, stream_ttl: "30s" },
      { historySize: 7, historyTtlMs: 30_000, historyMetaTtlMs: 60 * minuteMs },
      { ...mapDefaults, mode: "recoverable", keyTtlMs: 60 * minuteMs },
    ],
    [
      { mode: "persistent", stream_ttl: "2m", meta_ttl: "2m" },
      { historySize: 100, historyTtlMs: 2 * minuteMs, historyMetaTtlMs: 2 * minuteMs },
      { ...mapDefaults, mode: "persistent", keyTtlMs: 0 },
    ],
    [
      { mode: "recoverable", key_ttl: "50000h" },
      { historySize: 100, historyTtlMs: minuteMs, historyMetaTtlMs: 50_000 * 60 * minuteMs },
      { ...mapDefaults, mode: "recoverable", keyTtlMs: 50_000 * 60 * minuteMs },
    ],
    [
      { mode: "ephemeral", key_ttl: "10s" },
      { historySize: 0, historyTtlMs: 0, historyMetaTtlMs: 10_000 },
      { ...mapDefaults, mode: "ephemeral", keyTtlMs: 10_000 },
    ],
  ])("are those of Centrifugo by default: %j", (written, stream, map) => {
    const off = configOf({}).channel.withoutNamespace;
    const expected = { ...off, ...stream, subscriptionType: "map", map };
    expect(optionsOf(written)).toStrictEqual(expected);
    expect(optionsOf({ ...zero, ...written })).toStrictEqual(expected);
  });

  /** Centrifugo's own defaults, as it writes them. */
  const zero = {
    key_ttl: "0s",
    stream_size: 0,
    stream_ttl: "0s",
    meta_ttl: "0s",
    client_key: "",
    publish_proxy_enabled: false,
    publish_proxy_name: "default",
    remove_proxy_name: "",
    default_page_size: 0,
    min_page_size: 0,
    max_page_size: 0,
    live_transition_max_publication_limit: 0,
    subscribe_catch_up_timeout: "0s",
    ordered: false,
  };

  it.each<[object, Partial<MapOptions>]>([
    [{ default_page_size: 20 }, { defaultPageSize: 20, minPageSize: 20 }],
    [{ min_page_size: 5 }, { minPageSize: 5 }],
    [{ min_page_size: 200 }, { minPageSize: 200, defaultPageSize: 200 }],
    [
      { max_page_size: 50 },
      {
        maxPageSize: 50,
        minPageSize: 50,
        defaultPageSize: 50,
        liveTransitionMaxPublicationLimit: 50,
      },
    ],
    [
      { default_page_size: 2_000 },
      { defaultPageSize: 2_000, maxPageSize: 2_000, liveTransitionMaxPublicationLimit: 2_000 },
    ],
    [{ live_transition_max_publication_limit: 7 }, { liveTransitionMaxPublicationLimit: 7 }],
    [{ subscribe_catch_up_timeout: "1m" }, { subscribeCatchUpTimeoutMs: minuteMs }],
  ])("are taken: %j", (written, options) => {
    const { map } = optionsOf({ mode: "persistent", ...written });
    expect(map).toStrictEqual({ ...mapDefaults, mode: "persistent", keyTtlMs: 0, ...options });
  });

  it("may be those of a namespace, beside permissions, deltas, presence and tags filters", () => {
    const others = {
      presence: true,
      join_leave: true,
      allow_subscribe_for_client: true,
      allowed_delta_types: ["fossil"],
      delta_publish: true,
      allow_tags_filter: true,
    };
    expect(optionsOf({ mode: "ephemeral", key_ttl: "1m" }, others)).toMatchObject({
      presence: true,
      allowDelta: true,
      deltaPublish: true,
      allowTagsFilter: true,
    });
  });

  it.each<[object, string]>([
    [{}, 'mode is missing: "ephemeral", "recoverable" or "persistent"'],
    [{ mode: "ephemeral" }, 'key_ttl is missing: the mode "ephemeral" requires it'],
    [
      { mode: "recoverable", key_ttl: "0s" },
      'key_ttl is missing: the mode "recoverable" requires it',
    ],
    [
      { mode: "persistent", key_ttl: "1m" },
      'key_ttl is not for the mode "persistent", whose keys never expire',
    ],
    [
      { mode: "ephemeral", key_ttl: "99ms" },
      `key_ttl is shorter than ${mapLimits.mapKeyTtlMsMin / 1_000}s`,
    ],
    ...["stream_ttl", "meta_ttl"].map((name): [object, string] => [
      { mode: "ephemeral", key_ttl: "1m", [name]: "1s" },
      `${name} is not for the mode "ephemeral", which has no stream`,
    ]),
    [
      { mode: "ephemeral", key_ttl: "1m", stream_size: 1 },
      'stream_size is not for the mode "ephemeral", which has no stream',
    ],
    [{ mode: "persistent", meta_ttl: "59s" }, "meta_ttl is shorter than stream_ttl"],
    [
      { mode: "persistent", stream_ttl: "2m", meta_ttl: "1m" },
      "meta_ttl is shorter than stream_ttl",
    ],
    [
      { mode: "persistent", min_page_size: 3, max_page_size: 2 },
      "min_page_size exceeds max_page_size",
    ],
    [
      { mode: "persistent", default_page_size: 3, max_page_size: 2 },
      "default_page_size exceeds max_page_size",
    ],
    [
      { mode: "persistent", default_page_size: 2, min_page_size: 3 },
      "default_page_size is under min_page_size",
    ],
    [
      { mode: "persistent", ordered: true },
      "ordered is not supported by Dormouse: entries are in the order of their keys",
    ],
    [{ mode: "persistent", key_tll: "1m" }, "key_tll is unknown; did you mean key_ttl?"],
    [{ mode: "persistent", client_key: "session" }, "client_key is not one of"],
  ])("are refused: %j", (map, problem) => {
    expect(problemsOfMap(map)).toEqual([expect.stringContaining(`${path}.map.${problem}`)]);
  });

  it("are those of maps only, where the type is right", () => {
    expect(problemsOf({ channel: { without_namespace: { map: { mode: "persistent" } } } })).toEqual(
      [`${path}.map is for namespaces of the subscription_type "map"`],
    );
    const misspelt = { subscription_type: "maps", map: { mode: "persistent" }, shared_poll: 7 };
    expect(problemsOf({ channel: { without_namespace: misspelt } })).toEqual([
      expect.stringContaining(`${path}.subscription_type: "maps" is not one of`),
    ]);
  });

  const stream = "is not for maps, whose stream has map.stream_size and its like";
  const recovered = "is not for maps, which are always recovered";
  it.each([
    [{ history_size: 1 }, "history_size", stream],
    [{ history_ttl: "1s" }, "history_ttl", stream],
    [{ history_meta_ttl: "1s" }, "history_meta_ttl", stream],
    [{ force_recovery: true }, "force_recovery", recovered],
    [{ allow_recovery: true }, "allow_recovery", recovered],
    [{ force_positioning: true }, "force_positioning", recovered],
    [{ allow_positioning: true }, "allow_positioning", recovered],
    [{ force_recovery_mode: "cache" }, "force_recovery_mode", recovered],
  ])("go without those of streams: %j", (options, name, reason) => {
    expect(problemsOfMap({ mode: "persistent" }, options)).toEqual([`${path}.${name} ${reason}`]);
  });

  it("inherit no history_meta_ttl of the channel section", () => {
    const channel = {
      history_meta_ttl: "10s",
      without_namespace: { subscription_type: "map", map: { mode: "persistent" } },
    };
    expect(configOf({ channel }).channel.withoutNamespace.historyMetaTtlMs).toBe(forEverMs);
  });
});

describe("[A8] the hooks of a map", () => {
  const proxy = {
    map_publish: { endpoint: "https://example.com/publish" },
    map_remove: { endpoint: "https://example.com/remove" },
  };

  it("are those of the channel section, or named ones, and are in the list of all hooks", () => {
    const config = configOf({
      proxies: [{ name: "game", endpoint: "https://example.com/game" }],
      channel: {
        proxy,
        without_namespace: namespace({ publish_proxy_enabled: true, remove_proxy_enabled: true }),
        namespaces: [
          {
            name: "game",
            ...namespace({ publish_proxy_enabled: true, publish_proxy_name: "game" }),
          },
        ],
      },
    });
    const { withoutNamespace, namespaces } = config.channel;
    expect(withoutNamespace.map?.publishHook?.name).toBe("channel.proxy.map_publish");
    expect(withoutNamespace.map?.removeHook?.name).toBe("channel.proxy.map_remove");
    expect(namespaces.get("game")?.map?.publishHook?.name).toBe("proxies.game");
    expect(namespaces.get("game")?.map?.removeHook).toBeUndefined();
    expect([...config.hooks.targets.keys()]).toStrictEqual([
      "channel.proxy.map_publish",
      "channel.proxy.map_remove",
      "proxies.game",
    ]);
  });

  it.each([
    [
      { publish_proxy_enabled: true },
      "publish_proxy_enabled requires channel.proxy.map_publish.endpoint",
    ],
    [
      { remove_proxy_enabled: true, remove_proxy_name: "" },
      "remove_proxy_enabled requires channel.proxy.map_remove.endpoint",
    ],
    [
      { remove_proxy_enabled: true, remove_proxy_name: "game" },
      'remove_proxy_name: "game" is not the name of one of proxies',
    ],
  ])("need a backend: %j", (map, problem) => {
    expect(problemsOfMap({ mode: "persistent", ...map })).toEqual([`${path}.map.${problem}`]);
  });

  it.each(["publish_proxy_enabled", "remove_proxy_enabled"])("set the keys: %s", (name) => {
    const options = namespace({ [name]: true, client_key: "user_id" });
    expect(problemsOf({ channel: { proxy, without_namespace: options } })).toEqual([
      `${path}.map.client_key is not for maps with ${name}: the backend sets the keys`,
    ]);
  });
});

it("[A11] insecure mode opens a map to all clients", () => {
  const written = { subscription_type: "map", map: { mode: "persistent" } };
  const config = { client: { insecure: true }, channel: { without_namespace: written } };
  const map = {
    allowPublishForClient: true,
    allowPublishForAnonymous: true,
    allowRemoveForClient: true,
    allowRemoveForAnonymous: true,
  };
  expect(parseConfig(config, { development: true })).toMatchObject({
    config: { channel: { withoutNamespace: { map } } },
  });
});
