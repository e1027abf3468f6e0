import { parse } from "smol-toml";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { parseFile } from "../configuration/document.ts";
import { type Additions, hasLifecycle, isComplete, missingFrom, objectIn } from "./additions.ts";
import { usageFailure } from "../shell.ts";

/**
 * Adds to the text of a `wrangler.toml`: tables at its end, so that comments and layout stay. No library for TOML keeps
 * them.
 *
 * @param document what the text says
 * @throws {Failure} with the lines to add, if the file has inline arrays, to which no table can be added
 */
export function editToml(text: string, document: JsonObject, additions: Additions): string {
  const tables = tablesOf(document, additions);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
  const edited = `${start}${eol}${tables.replaceAll("\n", eol)}`;
  if (adds(edited, additions)) return edited;
  throw usageFailure(
    `the file has bindings or migrations in arrays, to which init can't add. Write them as tables, or add to them what ` +
      `these say:\n\n${tables}`,
  );
}

/** Whether the text is TOML in which nothing is missing any more. */
function adds(edited: string, { environment }: Additions): boolean {
  try {
    parse(edited);
  } catch {
    return false; // Its only error says where the text stops being TOML.
  }
  const parsed = parseFile("wrangler.toml", edited);
  return parsed.outcome === "document" && isComplete(missingFrom(parsed.document, environment));
}

function tablesOf(document: JsonObject, { bindings, classes, environment }: Additions): string {
  const place = environment === undefined ? "" : `env.${keyOf(environment)}.`;
  const section = environment === undefined ? {} : objectIn(objectIn(document["env"])[environment]);
  const lifecycle = hasLifecycle(section) ? place : "";
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
