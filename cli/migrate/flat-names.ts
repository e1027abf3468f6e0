import { nestedName } from "../../src/config/flat-names.ts";

/**
 * The place in the nested configuration of a flat name of Centrifugo 4 or 5; undefined for a name that has none.
 *
 * `src/config/flat-names.ts` knows the names for which Dormouse has an option, because the Worker refuses them with a
 * hint. Here are the others, so that a conversion can say what becomes of them.
 */
export function placeOf(flat: string): string | undefined {
  const rule = rules.find(([name]) => name.test(flat));
  return rule === undefined ? nestedName(flat) : flat.replace(...rule);
}

/** The first rule that matches counts. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/^(engine|broker)$/, "$1.type"],
  [/^global_presence_ttl$/, "engine.redis.presence_ttl"],
  [/^redis_(.+)$/, "engine.redis.$1"],
  [/^tarantool_(.+)$/, "engine.tarantool.$1"],
  [/^nats_(.+)$/, "broker.nats.$1"],
  [/^name$/, "node.name"],
  [/^(node)_(info_.+)$/, "$1.$2"],
  [/^log_(level|file)$/, "log.$1"],
  [/^(address|port|internal_address|internal_port|gomaxprocs)$/, "http_server.$1"],
  [/^(tls|http3)$/, "http_server.$1.enabled"],
  [/^tls_(.+)$/, "http_server.tls.$1"],
  [/^shutdown_(.+)$/, "shutdown.$1"],
  [/^usage_stats_(disable)$/, "usage_stats.$1d"],
  [/^(websocket)_disable$/, "$1.disabled"],
  [
    /^(admin|debug|prometheus|health|swagger|graphite|opentelemetry|grpc_api|uni_grpc|uni_websocket|uni_sse|uni_http_stream|http_stream|sse|webtransport|sockjs)$/,
    "$1.enabled",
  ],
  [
    /^(admin|prometheus|health|swagger|graphite|opentelemetry|grpc_api|uni_grpc|uni_websocket|uni_sse|uni_http_stream|http_stream|sse|webtransport|sockjs|websocket|emulation)_(.+)$/,
    "$1.$2",
  ],
  [/^api_(error_mode|external|handler_prefix)$/, "http_api.$1"],
  [/^(?:api_disable|disable_api)$/, "http_api.disabled"],
  [/^(rpc)_(namespaces|namespace_boundary)$/, "$1.$2"],
  [/^rpc_ping$/, "rpc.ping.enabled"],
  [/^rpc_ping_(method)$/, "rpc.ping.$1"],
  [/^(client|user|redis_user)_command_rate_limit$/, "client.rate_limit.$1_command"],
  [/^client_error_limits$/, "client.rate_limit.client_error"],
  [
    /^((?:subscribe|publish|presence|history)_cel|(?:subscribe|publish|sub_refresh|subscribe_stream|cache_empty)_proxy_(?:name|enabled)|keep_latest_publication|shared_position_sync|auto_cache_recover|publication_data_format|force_recovery_mode)$/,
    "channel.without_namespace.$1",
  ],
  [
    /^proxy_(subscribe|publish|sub_refresh|subscribe_stream)$/,
    "channel.without_namespace.$1_proxy_enabled",
  ],
  [/^proxy_(subscribe_stream|cache_empty|state)_(endpoint|timeout)$/, "channel.proxy.$1.$2"],
];

/** The name of Centrifugo 6 for an option of a namespace, or of `proxies`, in Centrifugo 4 and 5. */
export function optionName(name: string): string {
  return name
    .replace(/^proxy_(subscribe|publish|sub_refresh|subscribe_stream)$/, "$1_proxy_enabled")
    .replace(/^rpc_proxy_name$/, "proxy_name");
}
