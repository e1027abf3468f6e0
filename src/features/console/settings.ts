import type { ChannelOptions, ClientConfig, Config } from "../../config/config.ts";

/** Selects the settings that the console's pages need. It gives them no secret, and no address of a backend. */
export function shownSettings({ channel, client }: Config): object {
  const { withoutNamespace, namespaces, namespaceBoundary, privatePrefix, userBoundary } = channel;
  const { historyMaxPublicationLimit, recoveryMaxPublicationLimit } = client;
  const all = [["", withoutNamespace] as const, ...namespaces];
  return {
    namespace_boundary: namespaceBoundary,
    private_prefix: privatePrefix,
    user_boundary: userBoundary,
    max_length: channel.maxLengthBytes,
    users: client.users.enabled,
    history_max: historyMaxPublicationLimit,
    recovery_max: recoveryMaxPublicationLimit,
    namespaces: all.map(([name, options]) => shownNamespace(name, options, client)),
  };
}

function shownNamespace(name: string, options: ChannelOptions, client: ClientConfig): object {
  const hooks: string[] = [];
  const shown = shownOptions(options, "", hooks);
  return {
    name,
    presence: options.presence,
    type: options.subscriptionType,
    options: Object.fromEntries(shown),
    hooks,
    rates: [
      ...shownRates("connection", client.rateLimit, name),
      ...shownRates("user", client.userRateLimit, name),
    ],
  };
}

/** The rates of commands that hold in a namespace (rule B21). */
function shownRates(
  of: "connection" | "user",
  limit: ClientConfig["rateLimit"],
  namespace: string,
): readonly object[] {
  return [...limit].flatMap(([method, rates]) =>
    (rates.get(namespace) ?? rates.get("") ?? []).map(({ burst, perSecond }) => ({
      of,
      method,
      burst,
      perSecond,
    })),
  );
}

/**
 * The options that are on, by names like those of the configuration, such as `map.allow_publish_for_client`.
 *
 * @param section before their names
 * @param hooks   gets the names of the hooks among them, such as `map.publish`
 */
function shownOptions(
  options: object,
  section: string,
  hooks: string[],
): readonly (readonly [string, unknown])[] {
  return Object.entries(options).flatMap(([key, value]) => {
    const name = section + key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (name.endsWith("_hook")) hooks.push(name.slice(0, -"_hook".length));
    else if (typeof value === "object") return shownOptions(value, `${name}.`, hooks);
    else if (value) return [[name, value]];
    return [];
  });
}
