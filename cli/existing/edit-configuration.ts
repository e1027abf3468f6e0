import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { type Additions, boundObjects, hasLifecycle, sectionOf } from "./additions.ts";
import type { FilePart } from "./file-part.ts";

/**
 * Adds to the text of a `wrangler.json` or `wrangler.jsonc`. Comments and the layout of everything else stay.
 *
 * @param document what the text says
 */
export function editJson(text: string, document: FilePart, additions: Additions): string {
  const { bindings, classes, environment } = additions;
  const place = environment === undefined ? [] : ["env", environment];
  const section = sectionOf(document, environment);
  const insertSpaces = !/^\t/m.test(text);
  const tabSize = /^( +)"/m.exec(text)?.[1]?.length ?? 2;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  let edited = text;
  const change = (path: JSONPath, value: unknown, isArrayInsertion = false): void => {
    const formattingOptions = { insertSpaces, tabSize: insertSpaces ? tabSize : 1, eol };
    edited = applyEdits(
      edited,
      modify(edited, path, value, { formattingOptions, isArrayInsertion }),
    );
  };
  const append = (path: JSONPath, length: number, value: unknown): void =>
    length === 0 ? change(path, [value]) : change([...path, length], value, true);

  let bound = boundObjects(section).length;
  for (const binding of bindings)
    append([...place, "durable_objects", "bindings"], bound++, binding);
  const lifecycle = hasLifecycle(section) ? place : [];
  if (classes.form === "exports") {
    const exported = { type: "durable-object", storage: "sqlite" };
    for (const name of classes.names) change([...lifecycle, "exports", name], exported);
  } else if (classes.names.length > 0) {
    const owner = lifecycle.length > 0 ? section : document;
    const migration = { tag: classes.tag, new_sqlite_classes: classes.names };
    append([...lifecycle, "migrations"], owner.at("migrations").list().length, migration);
  }
  return edited;
}

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
