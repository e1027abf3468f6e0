/**
 * The place in Centrifugo's nested configuration of a name from Centrifugo 5, whose configuration was flat; undefined
 * for any other name.
 *
 * @param name a key at the top level that isn't known there
 */
export function nestedName(name: string): string | undefined {
  const rule = rules.find(([flat]) => flat.test(name));
  return rule === undefined ? undefined : name.replace(...rule);
}

/** The first rule that matches counts. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/^user_subscribe_to_personal$/, "client.subscribe_to_user_personal_channel.enabled"],
  [/^user_(personal_channel_namespace)$/, "client.subscribe_to_user_personal_channel.$1"],
  [/^user_personal_(single_connection)$/, "client.subscribe_to_user_personal_channel.$1"],
  [/^global_(history_meta_ttl)$/, "channel.$1"],
  [/^(namespaces)$/, "channel.$1"],
  [
    /^channel_(max_length|private_prefix|(?:namespace|user)_boundary|user_separator)$/,
    "channel.$1",
  ],
  [/^separate_subscription_token_config$/, "client.subscription_token.enabled"],
  [/^(subscription_token|token)_(.+)$/, "client.$1.$2"],
  [/^(allowed_origins|(?:dis)?allow_anonymous_.+|ping_interval|pong_timeout)$/, "client.$1"],
  [/^client_(.+)$/, "client.$1"],
  [/^proxy_(connect|refresh)_(endpoint|timeout)$/, "client.proxy.$1.$2"],
  [/^proxy_(subscribe|publish|sub_refresh)_(endpoint|timeout)$/, "channel.proxy.$1.$2"],
  [/^proxy_rpc_(endpoint|timeout)$/, "rpc.proxy.$1"],
  [/^api_(key|insecure)$/, "http_api.$1"],
  [
    /^(presence|join_leave|channel_regex|allowed_delta_types|delta_publish|(?:force|history|allow)_.+)$/,
    "channel.without_namespace.$1",
  ],
];
