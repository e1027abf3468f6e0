import type { NamespaceSettings, Settings } from "../answers.ts";
import { Facts } from "../parts.tsx";

/** The namespaces of the configuration in force, with what clients may do in each. */
export function NamespacesPage({ settings }: { readonly settings: Settings }) {
  return (
    <>
      <h1>Namespaces</h1>
      <p class="quiet">
        What stands before “{settings.namespace_boundary}” in a channel's name is its namespace.
        This is the configuration in force.
      </p>
      {settings.namespaces.map((one) => (
        <section key={one.name}>
          <h2>{one.name === "" ? "Channels without a namespace" : one.name}</h2>
          <ul>
            {sentencesOf(one).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <details>
            <summary>All options that aren't off</summary>
            <Facts
              facts={Object.entries(one.options).map(([name, value]) => [name, String(value)])}
            />
          </details>
        </section>
      ))}
    </>
  );
}

/** What clients may do, in words. */
function sentencesOf({ type, options, hooks }: NamespaceSettings): readonly string[] {
  const is = (name: string): boolean => options[name] === true;
  const who = (name: string): string | undefined => {
    if (is(`allow_${name}_for_client`))
      return is(`allow_${name}_for_anonymous`) ? "Everybody" : "Every user";
    if (is(`allow_${name}_for_subscriber`)) return "Whoever is subscribed";
    return undefined;
  };
  const asked = (hook: string, what: string): readonly string[] =>
    hooks.includes(hook) ? [`A backend is asked before a client ${what}.`] : [];
  const may = (name: string, what: string): readonly string[] => {
    const those = who(name);
    return those === undefined ? [] : [`${those} may ${what}.`];
  };
  const subscribing = may("subscribe", "subscribe");
  return [
    ...(type === "stream" ? [] : [`The channels are of the type ${type}.`]),
    ...asked("subscribe", "subscribes"),
    ...subscribing,
    ...(subscribing.length === 0 && !hooks.includes("subscribe")
      ? ["Only a subscription token, or a token's capability, lets a client subscribe."]
      : []),
    ...asked("publish", "publishes"),
    ...may("publish", "publish"),
    ...(who("publish") === undefined && !hooks.includes("publish")
      ? ["Clients don't publish; backends do."]
      : []),
    ...(is("presence") ? ["It is known who is here."] : []),
    ...may("presence", "see who is here"),
    ...(Number(options["history_size"] ?? 0) > 0
      ? [
          `The newest ${options["history_size"]} publications are kept, for ${duration(options["history_ttl_ms"])} after the newest one.`,
        ]
      : type === "stream"
        ? ["Nothing is kept: who is away misses what is published."]
        : []),
    ...may("history", "read the history"),
    ...(is("force_recovery") || is("allow_recovery")
      ? ["Clients that were away recover what they missed."]
      : []),
  ];
}

function duration(ms: number | string | boolean | undefined): string {
  const seconds = Number(ms ?? 0) / 1_000;
  if (seconds >= 7_200) return `${Math.round(seconds / 3_600)} hours`;
  return seconds >= 120 ? `${Math.round(seconds / 60)} minutes` : `${seconds} seconds`;
}
