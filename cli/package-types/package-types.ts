/**
 * `npm run package-types`: writes the types that the package gives to the configuration and to the methods of the HTTP API.
 * Those of the configuration are found by its own readers; those of the methods are in `public/openapi.json`. The schema for
 * editors is made of the same.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isCommandName, operationNames } from "../../src/api/operations.ts";
import { writeFiles } from "../configuration/write-files.ts";
import { packageRoot } from "../package-root.ts";
import { configSchema } from "./config-schema.ts";
import { wranglerSchema } from "./wrangler-schema.ts";
import { sharedShapes } from "./shared-shapes.ts";
import { commentText, typeName, type TypeSchema, typeText } from "./type-text.ts";

/** The files that are written, with their texts before they are formatted. */
export function packageTypes(): ReadonlyMap<string, string> {
  return new Map([
    ["workers/embedded/config-types.ts", configTypes()],
    ["workers/embedded/api-types.ts", apiTypes()],
    ["docs/wrangler-schema.json", JSON.stringify(wranglerSchema())],
  ]);
}

const heading = "// Written by `npm run package-types`. Don't edit it: a test compares it.\n\n";

function configTypes(): string {
  const { schema, shared } = sharedShapes(configSchema());
  const shapes = [...shared].map(
    ([name, shape]) => `\ninterface ${configTypeName(name)} ${typeText(shape, configTypeName)}\n`,
  );
  return `${heading}/** The configuration, as it stands under \`[vars.config]\` (docs/configuration.md). */\nexport interface DormouseConfig ${typeText(schema, configTypeName)}\n${shapes.join("")}`;
}

function configTypeName(name: string): string {
  return `Config${name}`;
}

function apiTypes(): string {
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

if (import.meta.main) {
  const files = packageTypes();
  writeFiles(
    Array.from(files, ([file, contents]) => ({
      path: join(packageRoot, file),
      shown: file,
      contents,
      replaces: true,
    })),
  );
  execFileSync("npx", ["oxfmt", ...files.keys()], { cwd: packageRoot, stdio: "inherit" });
}
