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

/** The texts of the files, before they are formatted, by their names. Each schema is in the file of the first that uses it. */
export function apiTypes(): ReadonlyMap<string, string> {
  const { schemas } = document().components;
  const methods = operationNames().filter(isCommandName);
  const placed = new Map<string, string>();
  const place = (name: string, file: string): void => {
    const schema = schemas[name];
    if (schema === undefined || placed.has(name)) return;
    placed.set(name, file);
    for (const one of referencesIn(schema)) place(one, file);
  };
  place("CodeState", codeFile);
  const rows = methods.map((name) => {
    const [request, result] = [`${pascal(name)}Request`, `${pascal(name)}Result`];
    const own = ownFiles.get(name);
    place(request, own ?? "api-requests.ts");
    place(result, own ?? "api-results.ts");
    return { name, request, result };
  });
  const files = Map.groupBy(placed.keys(), (name) => placed.get(name) ?? "");
  const imports = (needed: ReadonlySet<string>, into: string): string =>
    Array.from(files, ([file, names]) => {
      const types = names.filter((name) => needed.has(name)).map((name) => typeName(name));
      return file === into || types.length === 0
        ? ""
        : `import type { ${types.join(", ")} } from "./${file}";\n`;
    }).join("");
  const named = new Set(rows.flatMap(({ request, result }) => [request, result]));
  const fromElsewhere = [...placed].flatMap(([name, file]) =>
    referencesIn(schemas[name]).filter((one) => placed.get(one) !== file),
  );
  const exported = new Set([...named, ...fromElsewhere]);
  const texts = Array.from(files, ([file, names]) => {
    const types = names.map((name) => {
      const keyword = exported.has(name) ? "export " : "";
      return declared(name, schemas[name] ?? {}, keyword);
    });
    const needed = new Set(names.flatMap((name) => referencesIn(schemas[name])));
    return [file, `${heading}${imports(needed, file)}\n${types.join("\n")}`] as const;
  });
  const table = (title: string, comment: string, of: "request" | "result"): string => {
    const members = rows.map((row) => {
      const type = row[of] in schemas ? typeName(row[of]) : "object";
      return `readonly ${row.name}: ${type};\n`;
    });
    return `${commentText(comment)}export interface ${title} {\n${members.join("")}}\n`;
  };
  const tables = [
    table("ApiRequests", "The request of each method of the HTTP API, in its names.", "request"),
    table("ApiResults", "The `result` of each method's answer.", "result"),
  ];
  return new Map([
    ["api-types.ts", `${heading}${imports(named, "api-types.ts")}\n${tables.join("\n")}`],
    ...texts,
  ]);
}

/** The file of the types of the code of channels. */
const codeFile = "api-code.ts";

/** The files of methods whose types would make the files of all others too long. */
const ownFiles: ReadonlyMap<string, string> = new Map([
  ["why", "api-inspections.ts"],
  ["inspect", "api-inspections.ts"],
  ["update_publication", "api-changes.ts"],
  ["delete_publication", "api-changes.ts"],
  ["erase", "api-changes.ts"],
  ["call", codeFile],
]);

const heading = "// Written by `npm run openapi`. Don't edit it: a test compares it.\n\n";

function declared(name: string, schema: TypeSchema, keyword: string): string {
  const text = typeText(schema);
  const isInterface = text.startsWith("{") && text.endsWith("}") && schema.type === "object";
  const declaration = isInterface
    ? `interface ${typeName(name)} ${text}`
    : `type ${typeName(name)} = ${text};`;
  return `${commentText(schema.description)}${keyword}${declaration}\n`;
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
