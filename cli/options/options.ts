/**
 * `npm run options`: writes what is made of the rows of options: the tables of docs/configuration.md and of
 * docs/compatibility.md, and the schema that an editor finds beside a fresh clone's wrangler.toml, which is why it isn't left
 * to a build. With `--check` it only says whether they are current, as a test does.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { UnsupportedKey } from "../../src/config/unsupported.ts";
import { writeFiles } from "../configuration/write-files.ts";
import { packageRoot } from "../package-root.ts";
import { rowsOf, type TableRow, tables } from "./tables.ts";
import { boundsOf, defaultOf, explained } from "./words.ts";
import { wranglerSchema } from "./wrangler-schema.ts";

/** The files with their texts, by their paths. */
export function optionFiles(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/configuration.md", withTables("docs/configuration.md", configurationTable)],
    ["docs/compatibility.md", withTables("docs/compatibility.md", compatibilityTable)],
    ["docs/wrangler-schema.json", `${JSON.stringify(wranglerSchema())}\n`],
  ]);
}

/** A document with its tables made anew. @throws if it has a place for a table that there isn't */
function withTables(file: string, tableOf: (name: string) => string): string {
  return readFileSync(join(packageRoot, file), "utf8").replaceAll(
    places,
    (_, name: string) => `<!-- options: ${name} -->\n\n${tableOf(name)}\n<!-- end of options -->`,
  );
}

const places = /<!-- options: (\w+) -->\n[^]*?<!-- end of options -->/g;

function tableNamed(name: string) {
  const table = tables[name];
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
}

function configurationTable(name: string): string {
  const rows = rowsOf(tableNamed(name)).map((row) => {
    const { shown, option, said, isOwn } = row;
    const byDefault = said.default ?? codeOf(defaultOf(option));
    const meaning = explained(option, said, isOwn).join(" ").replaceAll("(configuration.md#", "(#");
    return `| \`${shown}\` | ${byDefault} | ${cell(meaning)} |\n`;
  });
  return `| Key | Default | Meaning |\n| --- | --- | --- |\n${rows.join("")}`;
}

function compatibilityTable(name: string): string {
  const table = tableNamed(name);
  const { unsupported = {}, prefix = "" } = table;
  const known = rowsOf(table).map((row) => [row.shown, differenceOf(row)] as const);
  const others = Object.entries(unsupported).map(([key, row]) => {
    const isPro = row.refusal.includes("Centrifugo PRO");
    return [prefix + key, refusalOf(row), isPro ? " (PRO)" : ""] as const;
  });
  const rows = [...known, ...others].map(
    ([key, second, mark = ""]) => `| \`${key}\`${mark} | ${cell(second)} |\n`,
  );
  return `| Option | Dormouse |\n| --- | --- |\n${rows.join("")}`;
}

/** The cell about an option that Dormouse has: its differences from Centrifugo. */
function differenceOf({ option, said, isOwn }: TableRow): string {
  const bounds = boundsOf(option);
  const all = [isOwn ? "Dormouse's own" : "", said.differs ?? "", bounds].filter(
    (one) => one !== "",
  );
  return all.length === 0 ? "yes" : `yes: ${all.join("; ")}`;
}

/** The cell about an option that Dormouse doesn't have: whether it is ignored or refused, and why. */
function refusalOf({ refusal, accepted, because, switched }: UnsupportedKey): string {
  if (because !== undefined) {
    const where = Array.isArray(accepted) ? `, where it is ${listed(accepted)}` : "";
    return `ignored${where}: ${because}`;
  }
  const reason = refusal
    .replace(/^is (?:an option of Centrifugo PRO, )?not supported by Dormouse(?:: )?/, "")
    .replace(/^is an option of Centrifugo PRO: /, "")
    .replace(/^is /, "");
  const unless = Array.isArray(accepted)
    ? `, unless ${listed(accepted)}`
    : accepted === undefined
      ? ""
      : ", unless default";
  const on = switched === true ? " if enabled" : "";
  return `refused${on}${unless}${reason === "" ? "" : `: ${reason.trim()}`}`;
}

function listed(accepted: readonly (string | number | boolean)[]): string {
  return accepted.map((one) => `\`${JSON.stringify(one)}\``).join(" or ");
}

function codeOf(value: string): string {
  return value === "" ? "" : `\`${value}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) {
  const files = optionFiles();
  const changed = [...files].filter(
    ([file, text]) => readFileSync(join(packageRoot, file), "utf8") !== text,
  );
  if (process.argv.includes("--check")) {
    for (const [file] of changed) console.error(`${file} isn't current: npm run options`);
    process.exitCode = changed.length > 0 ? 1 : 0;
  } else
    writeFiles(
      changed.map(([file, contents]) => ({
        path: join(packageRoot, file),
        shown: file,
        contents,
        replaces: true,
      })),
    );
}
