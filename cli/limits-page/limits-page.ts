/**
 * `npm run limits`: writes docs/limits.md. First the bounds that are met, as {@link metBounds} has them, and behind them a
 * list of all others, each with the first sentence of its comment. A test compares the page.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";
import { packageRoot } from "../package-root.ts";
import { boundsIn, type MetBound, metBounds } from "./met-bounds.ts";

/** The files of bounds, by what they are about, in the order of the page. */
const files = {
  "The kernel": "src/limits.ts",
  Connections: "src/session-limits.ts",
  "Tokens and keys": "src/access-limits.ts",
  Users: "src/user-limits.ts",
  "Changes of publications": "src/features/changes/limits.ts",
  Console: "src/features/console/limits.ts",
  Cursors: "src/features/cursors/limits.ts",
  Doctor: "cli/doctor/limits.ts",
  Events: "src/features/events/limits.ts",
  Hooks: "src/features/hooks/limits.ts",
  Maps: "src/features/maps/limits.ts",
  "Values that grow": "src/features/maps/growth/limits.ts",
  Metrics: "src/features/metrics/limits.ts",
  Outbox: "cli/outbox/limits.ts",
  "The Pusher protocol": "src/features/pusher/limits.ts",
  Procedures: "src/features/procedures/limits.ts",
  Queues: "src/features/queues/limits.ts",
  "Shared polls": "src/features/shared-polls/limits.ts",
  Why: "src/features/why/limits.ts",
} as const satisfies Readonly<Record<string, string>>;

/** The paths of the files that the page has. */
export const limitsFiles: readonly string[] = Object.values(files);

/** One bound, or several that share a comment. */
export interface Bound {
  readonly names: readonly { readonly name: string; readonly value: string }[];
  /** The whole comment. */
  readonly reason: string;
}

/** The values of all bounds, by their names. */
export function boundValues(): ReadonlyMap<string, string> {
  const all = allBounds().flatMap(([, , bounds]) => bounds.flatMap(({ names }) => names));
  return new Map(all.map(({ name, value }) => [name, value]));
}

/** The bounds of each file, as they stand in the source. */
export function allBounds(): readonly (readonly [title: string, file: string, readonly Bound[]])[] {
  return Object.entries(files).map(([title, file]) => [
    title,
    file,
    boundsOf(readFileSync(join(packageRoot, file), "utf8")),
  ]);
}

/** Writes the page. */
export function limitsText(): string {
  const values = boundValues();
  const met = new Set(Object.values(metBounds).flatMap((rows) => rows.flatMap(boundsIn)));
  const first = Object.entries(metBounds).map(
    ([title, rows]) =>
      `## ${title}\n\n| Subject | Limit | What you see | What you can do |\n| --- | --- | --- | --- |\n${rows.map((row) => metRow(row, values)).join("")}`,
  );
  const rest = allBounds().map(([title, file, bounds]) => {
    const rows = bounds.flatMap((bound) => otherRow(bound, met));
    return `### ${title}\n\n[\`${file}\`](../${file})\n\n| Bound | What it bounds |\n| --- | --- |\n${rows.join("")}`;
  });
  return [introduction, ...first, restIntroduction, ...rest].join("\n");
}

const introduction = `<!-- Written by \`npm run limits\`. A test compares it. -->

# Limits

What you may meet comes first, with what you see there. [All other bounds](#all-other-bounds) follow. Options are explained in
[configuration.md](configuration.md), error and close codes in [protocol.md](protocol.md#17-error-codes), and other symptoms in
[troubleshooting.md](troubleshooting.md).
`;

const restIntroduction = `## All other bounds

No option sets them. Names end with the unit; the files have the reason for each number, and what happens there.
`;

function metRow(row: MetBound, values: ReadonlyMap<string, string>): string {
  const value = row.value.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = values.get(name);
    if (found === undefined) throw new Error(`there is no bound ${name}`);
    return inUnits(name, found);
  });
  return `| ${row.subject} | ${value} | ${row.seen.map(seenText).join("; ")} | ${row.remedy} |\n`;
}

function seenText(given: MetBound["seen"][number]): string {
  const [seen, when] = "kind" in given ? [given, ""] : [given[0], ` ${given[1]}`];
  switch (seen.kind) {
    case "error":
    case "close":
      return `${seen.kind} ${seen.code} \`${seen.text}\`${when}`;
    case "status":
      return `status ${seen.code}${when}`;
    case "result":
      return `${seen.text}${when}`;
  }
}

/** A value in the largest unit that needs no fraction of more than a digit, as the end of the name says. */
function inUnits(name: string, text: string): string {
  const value = Number(text.replaceAll(",", ""));
  if (/Bytes/.test(name)) {
    if (value < 1_024) return `${text} bytes`;
    const [size, unit] = value >= 1 << 20 ? [value / (1 << 20), "MiB"] : [value / 1_024, "KiB"];
    return Number.isInteger(size * 10) ? `${size} ${unit}` : `${text} bytes`;
  }
  if (!/Ms(?:Max)?$/.test(name)) return text;
  return value % 60_000 === 0 ? `${value / 60_000} minutes` : `${value / 1_000} s`;
}

/** The row of a bound that isn't met; none if all of its names are. */
function otherRow({ names, reason }: Bound, met: ReadonlySet<string>): readonly string[] {
  const others = names.filter(({ name }) => !met.has(name));
  if (others.length === 0) return [];
  const shown = others.map(({ name, value }) => `\`${name}\`: ${value}`).join("<br>");
  return [`| ${shown} | ${firstSentence(reason)} |\n`];
}

/** The first sentence of a comment up to a colon, without the rules that it cites. */
function firstSentence(reason: string): string {
  const [, sentence = reason] = /^(.*?)(?:\.(?= [A-Z`])|:(?= )|\.?$)/.exec(reason) ?? [];
  return `${sentence.replaceAll(/ \((?:rules?|docs\/)[^)]*\)/g, "").trim()}.`;
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
  const path = join(packageRoot, "docs", "limits.md");
  writeFiles([{ path, shown: path, contents: limitsText(), replaces: true }]);
}
