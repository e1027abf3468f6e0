import type { NamespaceSettings, Settings } from "../answers.ts";
import { limitSentences, type ServerLimits } from "../namespace-limits.ts";
import { generalSentences, sentencesOf } from "../namespace-sentences.ts";
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
      <section>
        <h2>All namespaces</h2>
        <Sentences sentences={generalSentences(settings)} />
      </section>
      {settings.namespaces.map((one) => (
        <Namespace namespace={one} settings={settings} key={one.name} />
      ))}
    </>
  );
}

function Namespace({
  namespace,
  settings,
}: {
  readonly namespace: NamespaceSettings;
  readonly settings: Settings;
}) {
  const { name, options } = namespace;
  return (
    <section>
      <h2>{name === "" ? "Channels without a namespace" : name}</h2>
      <Sentences sentences={sentencesOf(namespace, settings)} />
      <h3>Limits</h3>
      <Sentences sentences={limitSentences(namespace, settings, serverLimits)} />
      <details>
        <summary>All options that aren't off</summary>
        <Facts facts={optionsOn(options)} />
      </details>
    </section>
  );
}

/** The options that aren't off, by names like those of the configuration, such as `map.allow_publish_for_client`. */
function optionsOn(options: object, section = ""): readonly (readonly [string, string])[] {
  return Object.entries(options).flatMap(([key, value]) => {
    const name = section + key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === "object") return optionsOn(value, `${name}.`);
    return value ? [[name, String(value)] as const] : [];
  });
}

function Sentences({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <ul>
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

/** The bounds of the server, which the build writes here. */
declare const serverLimits: ServerLimits;
