/**
 * Part of `npm run build`: writes `llms.txt`, the list of the pages of `docs`, and `llms-full.txt`, their text, for the
 * assistants that write people's first lines. Both are made from the README and the index of `docs`, and aren't committed:
 * they are in the package, at its root.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeChanged } from "../build/write-changed.ts";
import { packageRoot } from "../package-root.ts";

/** A section of the index of `docs`. */
export interface IndexSection {
  readonly title: string;
  readonly pages: readonly IndexPage[];
}

/** A page of the package, with what a reader wants who needs it. */
export interface IndexPage {
  /** Its path in the package, such as `docs/tokens.md`. */
  readonly path: string;
  readonly wish: string;
}

/** The sections of the index with their pages of `docs`, in their order. Examples and sources aren't in the package. */
export function indexSections(): readonly IndexSection[] {
  const sections: { readonly title: string; readonly pages: IndexPage[] }[] = [];
  for (const line of textOf("docs/README.md").split("\n")) {
    const [, title] = /^\| \*\*(.+)\*\* \| \|$/.exec(line) ?? [];
    if (title !== undefined) sections.push({ title, pages: [] });
    const [, wish = "", links = ""] = /^\| (.+) \| (\[.+) \|$/.exec(line) ?? [];
    for (const [, name = ""] of links.matchAll(/\]\(([\w-]+\.md)\)/g))
      sections.at(-1)?.pages.push({ path: `docs/${name}`, wish: withoutLinks(wish) });
  }
  return sections;
}

/** The list of the pages. */
export function llmsText(): string {
  const [, claim = ""] = /^\*\*(.+)\*\*$/m.exec(textOf("README.md")) ?? [];
  const lists = indexSections().map(({ title, pages }) => {
    const rows = pages.map(({ path, wish }) => `- [${titleOf(path)}](${path}): ${wish}`);
    return `## To ${title}\n\n${rows.join("\n")}\n`;
  });
  const note =
    "Paths are those of the package and of the repository. All of these pages but the last section's are in llms-full.txt.\n";
  return [`# Dormouse\n\n> ${claim}\n\n${note}`, ...lists].join("\n");
}

/** The README and the pages in one text, but those of the last section, with which nobody writes an application. */
export function llmsFullText(): string {
  const pages = indexSections().slice(0, -1);
  const paths = new Set(pages.flatMap((section) => section.pages.map(({ path }) => path)));
  const texts = ["README.md", ...paths].map(
    (path) => `<!-- ${path} -->\n\n${withoutPictures(textOf(path)).trim()}\n`,
  );
  return texts.join("\n");
}

function textOf(path: string): string {
  return readFileSync(join(packageRoot, path), "utf8");
}

function titleOf(path: string): string {
  const [, title = path] = /^# (.+)$/m.exec(textOf(path)) ?? [];
  return title;
}

function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}

/** What only a browser shows, and what says that a page is generated. */
function withoutPictures(text: string): string {
  return text.replaceAll(/^(?:!\[.*\)|<img .*>|<!-- .* -->|\[!\[.*\))\n/gm, "");
}

if (import.meta.main) {
  writeChanged(join(packageRoot, "llms.txt"), Buffer.from(llmsText()));
  writeChanged(join(packageRoot, "llms-full.txt"), Buffer.from(llmsFullText()));
}
