import { type Additions, hasLifecycle, sectionOf } from "./additions.ts";
import type { FilePart } from "./file-part.ts";

/** Adds to the text of a `wrangler.toml`: tables at its end, so that comments and layout stay. No library for TOML keeps them. */
export function editToml(text: string, tables: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
  return `${start}${eol}${tables.replaceAll("\n", eol)}`;
}

/**
 * The tables that say what is missing.
 *
 * @param document the whole file
 */
export function tablesOf(
  document: FilePart,
  { bindings, classes, environment }: Additions,
): string {
  const place = environment === undefined ? "" : `env.${keyOf(environment)}.`;
  const lifecycle = hasLifecycle(sectionOf(document, environment)) ? place : "";
  const tables = bindings.map(
    ({ name, class_name: className }) =>
      `[[${place}durable_objects.bindings]]\nname = "${name}"\nclass_name = "${className}"\n`,
  );
  if (classes.form === "exports") {
    for (const name of classes.names)
      tables.push(`[${lifecycle}exports.${name}]\ntype = "durable-object"\nstorage = "sqlite"\n`);
  } else if (classes.names.length > 0) {
    const names = classes.names.map((name) => `"${name}"`).join(", ");
    tables.push(
      `[[${lifecycle}migrations]]\ntag = "${classes.tag}"\nnew_sqlite_classes = [${names}]\n`,
    );
  }
  return tables.join("\n");
}

/** A key of TOML, in quotes if it has other characters than a bare one. */
function keyOf(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}
