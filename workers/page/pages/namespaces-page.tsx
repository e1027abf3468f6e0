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
function sentencesOf(namespace: NamespaceSettings): readonly string[] {
  const { type, options } = namespace;
  return [
    ...(type === "stream" ? [] : [`The channels are of the type ${type}.`]),
    ...subscribing(namespace),
    ...changing(namespace),
    ...(options["presence"] === true
      ? ["It is known who is here.", ...may(namespace, "presence", "see who is here")]
      : []),
    ...keeping(namespace),
    ...(type === "stream" && Number(options["history_size"] ?? 0) > 0
      ? may(namespace, "history", "read the history")
      : []),
    ...(options["cursors.enabled"] === true
      ? ["How far each user has read is kept, and clients may mark and ask for their own user."]
      : []),
  ];
}

function subscribing(namespace: NamespaceSettings): readonly string[] {
  const sentences = [
    ...asked(namespace, "subscribe", "subscribes"),
    ...may(namespace, "subscribe", "subscribe"),
    ...(namespace.options["allow_user_limited_channels"] === true
      ? ["To a channel whose name lists users, such as name#42, exactly these may subscribe."]
      : []),
  ];
  const otherwise = "Only a subscription token, or a token's capability, lets a client subscribe.";
  return orElse(sentences, otherwise);
}

/** Who may publish, or change the keys of a map. */
function changing(namespace: NamespaceSettings): readonly string[] {
  switch (namespace.type) {
    case "stream": {
      const publishing = [
        ...asked(namespace, "publish", "publishes"),
        ...may(namespace, "publish", "publish"),
      ];
      const otherwise =
        "Clients don't publish, unless a token's capability lets them; backends do.";
      return orElse(publishing, otherwise);
    }
    case "map": {
      const changes = [
        ...asked(namespace, "map_publish", "sets a key"),
        ...may(namespace, "publish", "set keys", "map."),
        ...asked(namespace, "map_remove", "removes a key"),
        ...may(namespace, "remove", "remove keys", "map."),
      ];
      const otherwise =
        "Clients don't change keys, unless a token's capability lets them; backends do.";
      return orElse(changes, otherwise);
    }
    case "shared_poll":
      return ["The values come from a backend."];
    default:
      return ["Only the server changes the keys."];
  }
}

/** What is kept, and who gets it. */
function keeping({ type, options }: NamespaceSettings): readonly string[] {
  if (type !== "stream" && type !== "map") return [];
  const size = Number(options["history_size"] ?? 0);
  const what = type === "map" ? "change" : "publication";
  const newest = size === 1 ? `newest ${what} is` : `newest ${size} ${what}s are`;
  const kept = `The ${newest} kept, for ${duration(options["history_ttl_ms"])} after the newest one.`;
  const isRecovered = options["force_recovery"] === true || options["allow_recovery"] === true;
  const recovery =
    options["recovery_mode"] === "cache"
      ? "Clients that come get the newest publication."
      : "Clients that were away recover what they missed.";
  if (size > 0) return [kept, ...(isRecovered ? [recovery] : [])];
  return type === "stream" ? ["Nothing is kept: who is away misses what is published."] : [];
}

/** The sentences, or another one where there are none. */
function orElse(sentences: readonly string[], otherwise: string): readonly string[] {
  return sentences.length === 0 ? [otherwise] : sentences;
}

/** That a backend is asked before a client does something; nothing if none is. */
function asked({ hooks }: NamespaceSettings, hook: string, what: string): readonly string[] {
  return hooks.includes(hook) ? [`A backend is asked before a client ${what}.`] : [];
}

/**
 * Who may do something by the namespace's options; nothing if nobody may.
 *
 * @param name    in the options, such as "publish"
 * @param section before the options' names: "map." or ""
 */
function may(
  { options }: NamespaceSettings,
  name: string,
  what: string,
  section = "",
): readonly string[] {
  const is = (kind: string): boolean => options[`${section}allow_${name}_for_${kind}`] === true;
  const anonymous = is("anonymous") ? "" : " with a user";
  if (is("client")) return [`Every client${anonymous} may ${what}.`];
  return is("subscriber") ? [`Every subscriber${anonymous} may ${what}.`] : [];
}

function duration(ms: number | string | boolean | undefined): string {
  const seconds = Number(ms ?? 0) / 1_000;
  if (seconds >= 7_200) return `${Math.round(seconds / 3_600)} hours`;
  return seconds >= 120 ? `${Math.round(seconds / 60)} minutes` : `${seconds} seconds`;
}
