import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";

/** What a compose file says of Centrifugo. */
export type ComposedConfig =
  /** The document has no services: it is something else. */
  | { readonly outcome: "other" }
  | { readonly outcome: "variables"; readonly variables: Readonly<Record<string, string>> }
  | { readonly outcome: "bad"; readonly problem: string };

/** Reads the environment of the one service of a compose file that has an image of Centrifugo. */
export function composedConfig(document: JsonObject): ComposedConfig {
  const { services } = document;
  if (services === undefined || !isJsonObject(services)) return { outcome: "other" };
  const found = Object.entries(services).flatMap(([name, service]) =>
    isJsonObject(service) && image.test(shown(service["image"])) ? [{ name, service }] : [],
  );
  const [first, ...others] = found;
  if (first === undefined)
    return { outcome: "bad", problem: "has no service with an image of Centrifugo" };
  if (others.length > 0) {
    const names = found.map(({ name }) => shown(name)).join(", ");
    return { outcome: "bad", problem: `has several services of Centrifugo, leave one: ${names}` };
  }
  const variables = variablesOf(first.service["environment"] ?? {});
  return Object.keys(variables).some((name) => name.startsWith("CENTRIFUGO_"))
    ? { outcome: "variables", variables }
    : {
        outcome: "bad",
        problem: `gives Centrifugo no CENTRIFUGO_… variables: migrate the file that ${shown(first.name)} mounts`,
      };
}

/** Such as `centrifugo/centrifugo:v6`, also from another registry. */
const image = /(?:^|\/)centrifugo(?:-pro)?(?:[:@]|$)/;

/** The variables as a map, or as a list of `NAME=value`; one without a value comes from elsewhere. */
function variablesOf(environment: JsonValue): Readonly<Record<string, string>> {
  const pairs = isJsonArray(environment)
    ? environment.map(shown).flatMap((line) => {
        const [, name, value] = /^([^=]+)=(.*)$/s.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value] as const];
      })
    : Object.entries(isJsonObject(environment) ? environment : {}).flatMap(([name, value]) =>
        value === null ? [] : [[name, shown(value)] as const],
      );
  return Object.fromEntries(pairs);
}
