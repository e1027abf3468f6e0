import type { ChannelOptions, ClientConfig, Config } from "../../config/config.ts";

/** Selects the settings that the console's pages need. It gives them no secret, and no address of a backend. */
export function shownSettings({ channel, client, pusher }: Config): object {
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
    // The key is public: the pages of the application have it.
    apps: (pusher?.apps ?? []).map(({ id, key, namespace }) => ({ id, key, namespace })),
    namespaces: all.map(([name, options]) => shownNamespace(name, options, client)),
  };
}

function shownNamespace(name: string, options: ChannelOptions, client: ClientConfig): object {
  return {
    name,
    presence: options.presence,
    type: options.subscriptionType,
    options: shownOptions(options),
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

/** The options as sessions have them, so that the page asks of them what sessions ask; of a backend only its section. */
function shownOptions(options: object): object {
  const shown = Object.entries(options).map(([name, value]) => {
    if (name.endsWith("Hook")) return [name, value.name];
    const isSection = typeof value === "object" && !Array.isArray(value);
    return [name, isSection ? shownOptions(value) : value];
  });
  return Object.fromEntries(shown);
}
