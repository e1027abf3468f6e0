import { readConfig } from "../../src/config/parse-config.ts";
import type { JsonValue } from "../../src/protocol/wire-value.ts";
import { ProbedSection, type ReadKey, type ReadKeys } from "./probed-section.ts";
import type { TypeSchema } from "./type-text.ts";

/** The keys of the configuration and the types of their values, as JSON Schema has them. */
export function configSchema(): TypeSchema {
  const keys: ReadKeys = new Map();
  for (const types of decidingTypes)
    for (const probe of probes) {
      const valueOf = (name: string) => (name in types ? types[name] : probe);
      readConfig(new ProbedSection("", keys, valueOf), true);
    }
  // The readers of a type's options have seen its name only where it was right.
  return schemaOfKeys(keys, "");
}

/** A value of a wrong type for each kind of reader; absent comes last, so that defaults are read as well. */
const probes: readonly (JsonValue | undefined)[] = [null, 5, "?", undefined];

/** Values of the keys on which depends what else is read; `null` finds out which types there are. */
const decidingTypes: readonly Readonly<Record<string, JsonValue>>[] = [
  ...[null, "stream", "map", "map_clients", "map_users", "map_receipts", "shared_poll"].map(
    (type) => ({
      subscription_type: type,
    }),
  ),
  { subscription_type: "stream", type: "cloudflare_queue" },
];

function schemaOfKeys(keys: ReadKeys, path: string): TypeSchema {
  const properties = [...keys]
    .map(([name, key]): readonly [string, TypeSchema] => [name, schemaOf(key, `${path}.${name}`)])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function schemaOf(key: ReadKey, path: string): TypeSchema {
  switch (key.kind) {
    case "section":
      return schemaOfKeys(key.keys, path);
    case "sections":
      return { type: "array", items: schemaOfKeys(key.keys, path) };
    case "value":
      return schemaOfValue(key.expected, path);
  }
}

/** @throws if a reader says something else of its values: then its words belong here */
function schemaOfValue(expected: string, path: string): TypeSchema {
  if (expected === "true or false") return { type: "boolean" };
  if (expected.startsWith("a whole number")) {
    const [, min, max] = /(?:from|at least) (-?\d+)(?: to (\d+))?/.exec(expected) ?? [];
    return {
      type: "integer",
      ...(min !== undefined && { minimum: Number(min) }),
      ...(max !== undefined && { maximum: Number(max) }),
    };
  }
  if (expected.startsWith("a duration"))
    return { type: "string", description: 'A duration such as "25s", "5m" or "720h".' };
  if (expected === "a string") return { type: "string" };
  if (expected === "an array of strings") return { type: "array", items: { type: "string" } };
  if (expected === "a tags filter")
    return { type: "object", additionalProperties: {}, description: "A tags filter." };
  if (expected === "an object of strings")
    return { type: "object", additionalProperties: { type: "string" } };
  if (expected.startsWith("one of ")) {
    const choices: readonly string[] = JSON.parse(`[${expected.slice("one of ".length)}]`);
    return { type: "string", enum: choices };
  }
  throw new Error(`${path.slice(1)} is read as ${JSON.stringify(expected)}, which has no schema`);
}
