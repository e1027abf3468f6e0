/** The texts of all rules, which the console shows: of src/SPEC.md and of the READMEs that it names. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { boundValues } from "../limits-page/limits-page.ts";
import { packageRoot } from "../package-root.ts";

/** A rule. */
export interface RuleText {
  /** The title of its part, such as `Order`. */
  readonly part: string;
  /** One line, in which backticks enclose code. The bounds that it names have their values behind them. */
  readonly text: string;
}

/** All rules by their ids, those of a part one after the other. */
export function ruleTexts(): Readonly<Record<string, RuleText>> {
  const bounds = boundValues();
  const all = ruleFiles().flatMap((file) => rulesOf(readFileSync(join(packageRoot, file), "utf8")));
  return Object.fromEntries(
    all.map(({ id, part, text }) => [id, { part, text: shownText(text, bounds) }]),
  );
}

/** The files that hold rules. */
function ruleFiles(): readonly string[] {
  const readmes = ["src/**/README.md", "package/test/README.md"];
  return ["src/SPEC.md", ...globSync(readmes, { cwd: packageRoot }).toSorted()];
}

interface WrittenRule extends RuleText {
  readonly id: string;
}

/** The rules of a file, as they are written. A section of rules has a letter in its title, or the file has one title. */
function rulesOf(file: string): readonly WrittenRule[] {
  const [, title = ""] = /^# (.+)$/m.exec(file) ?? [];
  const found = file.matchAll(/^(?:## [A-Z]+\. (.+)|- \*\*([A-Z]+\d+)\*\* (.*(?:\n {2}.*)*))$/gm);
  const rules: WrittenRule[] = [];
  let part = title;
  for (const [, section, id, text = ""] of found)
    if (id === undefined) part = section ?? title;
    else rules.push({ id, part, text });
  return rules;
}

function shownText(written: string, bounds: ReadonlyMap<string, string>): string {
  return written
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll("**", "")
    .replaceAll(/`limits\.(\w+)`/g, (bound, name: string) => {
      const value = bounds.get(name);
      return value === undefined ? bound : `${bound} (${value})`;
    });
}
