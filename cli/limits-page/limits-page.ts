/**
 * `npm run limits`: writes the second part of docs/limits.md, every bound with its value and its reason, as the files of
 * bounds have them. A test compares it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";
import { packageRoot } from "../package-root.ts";

/** The files of bounds, by what they are about, in the order of the page. */
const files = {
  "The kernel": "src/limits.ts",
  Connections: "src/session-limits.ts",
  "Tokens and keys": "src/access-limits.ts",
  Users: "src/user-limits.ts",
  Console: "src/features/console/limits.ts",
  Cursors: "src/features/cursors/limits.ts",
  Events: "src/features/events/limits.ts",
  Hooks: "src/features/hooks/limits.ts",
  Maps: "src/features/maps/limits.ts",
  "Values that grow": "src/features/maps/growth/limits.ts",
  Metrics: "src/features/metrics/limits.ts",
  Queues: "src/features/queues/limits.ts",
  "Shared polls": "src/features/shared-polls/limits.ts",
  Why: "src/features/why/limits.ts",
} as const satisfies Readonly<Record<string, string>>;

/** The paths of the files that the page has. */
export const limitsFiles: readonly string[] = Object.values(files);

/** What stands before the part that is written. */
export const writtenFrom =
  "<!-- From here on written by `npm run limits`. A test compares it. -->\n";

/** The values of all bounds, by their names. */
export function boundValues(): ReadonlyMap<string, string> {
  const all = limitsFiles.flatMap((file) =>
    boundsOf(readFileSync(join(packageRoot, file), "utf8")),
  );
  return new Map(
    all.flatMap(({ names }) => names.map(({ name, value }) => [name, value] as const)),
  );
}

/** Writes the part. */
export function limitsText(): string {
  const sections = Object.entries(files).map(([title, file]) => {
    const bounds = boundsOf(readFileSync(join(packageRoot, file), "utf8"));
    const rows = bounds.map(({ names, reason }) => {
      const shown = names.map(({ name, value }) => `\`${name}\`: ${value}`);
      return `| ${shown.join("<br>")} | ${reason} |`;
    });
    return `\n### ${title}\n\n\`${file}\`\n\n| Bound | What it bounds, and why |\n| --- | --- |\n${rows.join("\n")}\n`;
  });
  return `${writtenFrom}\n## Every bound\n\nNames end with the unit.\n${sections.join("")}`;
}

/** One bound, or several that share a reason. */
interface Bound {
  readonly names: readonly { readonly name: string; readonly value: string }[];
  readonly reason: string;
}

/** The bounds of a file: a comment, and the properties that follow it. */
function boundsOf(text: string): readonly Bound[] {
  const object = text.slice(text.indexOf("Limits = {") + 1 || text.indexOf("limits = {"));
  const found = object.matchAll(/\/\*\*([^]*?)\*\/\n((?: +\w+: [^\n]+,\n)+)/g);
  return Array.from(found, ([, comment = "", properties = ""]) => ({
    names: Array.from(properties.matchAll(/(\w+): ([^\n]+),\n/g), ([, name = "", value = ""]) => ({
      name,
      value: value.replaceAll("_", ","),
    })),
    reason: comment
      .replaceAll(/\n\s*\*/g, " ")
      .replaceAll(/\{@link (\w+)\}/g, "`$1`")
      .replaceAll("|", "\\|")
      .replaceAll(/\s+/g, " ")
      .trim(),
  }));
}

if (import.meta.main) {
  const page = join(packageRoot, "docs", "limits.md");
  const [before = ""] = readFileSync(page, "utf8").split(writtenFrom);
  const contents = `${before.trimEnd()}\n\n${limitsText()}`;
  writeFiles([{ path: page, shown: page, contents, replaces: true }]);
}
