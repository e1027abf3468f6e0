/**
 * The types of the methods' requests and results that the package gives to Workers, of the schemas in `public/openapi.json`.
 * `npm run openapi` writes them. They stay in the repository, because the sources of the package import them: without them a
 * fresh clone would have no types before its first build.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isCommandName, operationNames } from "../../src/api/operations.ts";
import { packageRoot } from "../package-root.ts";
import { commentText, typeName, type TypeSchema, typeText } from "./type-text.ts";

const heading = "// Written by `npm run openapi`. Don't edit it: a test compares it.\n\n";

/** The text of the file, before it is formatted. */
export function apiTypes(): string {
  const { schemas } = document().components;
  const names = operationNames().filter(isCommandName);
  const used = new Map<string, TypeSchema>();
  const use = (schema: TypeSchema | undefined): void => {
    for (const name of referencesIn(schema)) {
      const found = schemas[name];
      if (found === undefined || used.has(name)) continue;
      used.set(name, found);
      use(found);
    }
  };
  const rows = names.map((name) => {
    const base = pascal(name);
    const [request, result] = [`${base}Request`, `${base}Result`];
    const hasResult = schemas[result] !== undefined;
    const refs = [request, ...(hasResult ? [result] : [])].filter((one) => one in schemas);
    for (const one of refs) use({ $ref: `#/${one}` });
    return {
      name,
      request: request in schemas ? typeName(request) : "object",
      result: hasResult ? typeName(result) : "object",
    };
  });
  const types = [...used].map(
    ([name, schema]) => `${commentText(schema.description)}${declared(name, schema)}\n`,
  );
  const table = (title: string, comment: string, of: "request" | "result"): string =>
    `${commentText(comment)}export interface ${title} {\n${rows.map((row) => `readonly ${row.name}: ${row[of]};\n`).join("")}}\n`;
  return [
    heading,
    table("ApiRequests", "The request of each method of the HTTP API, in its names.", "request"),
    "\n",
    table("ApiResults", "The `result` of each method's answer.", "result"),
    "\n",
    types.join("\n"),
  ].join("");
}

function declared(name: string, schema: TypeSchema): string {
  const text = typeText(schema);
  return text.startsWith("{") && text.endsWith("}") && schema.type === "object"
    ? `interface ${typeName(name)} ${text}`
    : `type ${typeName(name)} = ${text};`;
}

/** The names of the schemas that a schema refers to. */
function referencesIn(schema: TypeSchema | undefined): readonly string[] {
  return [...JSON.stringify(schema ?? {}).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)].map(
    ([, name = ""]) => name,
  );
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, TypeSchema>> };
}

function document(): Described {
  const described: Described = JSON.parse(
    readFileSync(join(packageRoot, "public", "openapi.json"), "utf8"),
  );
  return described;
}
