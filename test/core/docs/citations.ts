import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** A text file of the repository. */
export interface SourceFile {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A place in a file that names something: a rule, a heading, a file. */
export interface Citation {
  readonly line: number;
  /** The name in the text, such as "O2", "4.3" or "src/limits.ts". */
  readonly cited: string;
}

/** The files whose citations are checked. Programs write the others, or they hold no prose. */
export function sourceFiles(): readonly SourceFile[] {
  const folders = [
    ".ci",
    ".github",
    "cli",
    "package",
    "docs",
    "examples",
    "public",
    "src",
    "test",
    "workers",
  ];
  const below = folders.filter((folder) => existsSync(folder)).flatMap(filesIn);
  const top = readdirSync(".").filter((path) => statSync(path).isFile());
  return [...top, ...below]
    .filter((path) => extensions.has(extname(path)))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/**
 * All files below a folder but those that are built, those of installed packages, and those that tools keep in folders
 * such as .wrangler.
 */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    const isInstalled = entry.name === "node_modules" || path === builtFolder;
    const isOurs = !isInstalled && !entry.name.startsWith(".");
    if (entry.isDirectory()) return isOurs ? filesIn(path) : [];
    return [path];
  });
}

/** What `npm run build` makes of `workers/page`: it is there or not. */
const builtFolder = "public/console";

const extensions: ReadonlySet<string> = new Set(
  ["html", "java", "js", "md", "proto", "py", "toml", "ts", "yml"].map((name) => `.${name}`),
);

/** All rules: those of src/SPEC.md, and those in the READMEs of folders of `src` and of the test kit. */
export function rulesIn(files: readonly SourceFile[]): string {
  const holders = files.filter(({ path }) =>
    /^(?:src\/(?:SPEC|.+\/README)|package\/test\/README)\.md$/.test(path),
  );
  return holders.map(({ text }) => text).join("\n\n");
}

/** The ids of the rules that a specification lists as `- **O1** …`. */
export function ruleIds(specification: string): readonly string[] {
  return ruleWords(specification).map(([rule]) => rule);
}

/** How many words each rule of a specification has after its id. */
export function ruleWords(
  specification: string,
): readonly (readonly [id: string, words: number])[] {
  const rules = new RegExp(`^- \\*\\*(${id})\\*\\* (.*(?:\\n {2}.*)*)`, "gm");
  return Array.from(specification.matchAll(rules), ([, rule = "", text = ""]) => [
    rule,
    text.trim().split(/\s+/).length,
  ]);
}

/** The numbers of a document's headings: "4" of `## 4. Title`, "4.3" of `### 4.3 Title`. */
export function headingNumbers(document: string): ReadonlySet<string> {
  return new Set(
    headings(document).flatMap((title) => /^(\d+(?:\.\d+)*)\.? /.exec(title)?.[1] ?? []),
  );
}

/** The anchors that a document's headings have where the repository is hosted. */
function headingAnchors(document: string): ReadonlySet<string> {
  return new Set(
    headings(document).map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** The titles of a document's headings. A line of a code block is none. */
function headings(document: string): readonly string[] {
  const prose = document.replaceAll(/^```.*?^```/gms, "");
  return Array.from(prose.matchAll(/^#{1,6} +(.+?) *$/gm), ([, title = ""]) => title);
}

/**
 * The headings of docs/protocol.md that a text names: `docs/protocol.md 4.3`, with a list of further numbers such as
 * `docs/protocol.md 1.1, 4.1 and 4.2`.
 */
export function protocolCitations({ text }: SourceFile): readonly Citation[] {
  const citation =
    /\bprotocol\.md`?(?:\]\([^)\s]*\))?\s+(?:(?:part|section)\s+)?(\d+(?:\.\d+)*(?:(?:,|\s+and|\s+or|\s+to)\s+\d+\.\d+)*)/g;
  return citations(text, citation).flatMap(({ line, cited }) =>
    Array.from(cited.matchAll(/\d+(?:\.\d+)*/g), ([number]) => ({ line, cited: number })),
  );
}

/**
 * The rules that a text names: `rule O2`, `rules O1 to O4`, `rules L1, L3 and L6` anywhere, and in Markdown also
 * `(O3, R2)` and `"\[O1\]"`, the argument of a command line. A range names all rules from its first to its last.
 */
export function ruleCitations(file: SourceFile): readonly Citation[] {
  const list = `${id}(?:(?:,|\\s+and|\\s+or|\\s+to)\\s+${id})*`;
  const named = citations(file.text, new RegExp(`\\b[Rr]ules?\\s+(${list})`, "g"));
  const inMarkdown = file.path.endsWith(".md")
    ? citations(file.text, new RegExp(`\\((${list})\\)|\\\\\\[(${id})\\\\\\]`, "g"))
    : [];
  return [...named, ...inMarkdown, ...titleCitations(file)].flatMap(({ line, cited }) =>
    expanded(cited).map((rule) => ({ line, cited: rule })),
  );
}

/** The rules that the name of a test begins with: `[O1] …`, `[O1] [F1] …` or `[O1][F1] …`. */
export function titleCitations({ text }: SourceFile): readonly Citation[] {
  return citations(text, /["'`]((?:\[[^\]\n]*\] ?)+)/g).flatMap(({ line, cited }) =>
    Array.from(cited.matchAll(new RegExp(`\\[(${id})\\]`, "g")), ([, rule = ""]) => ({
      line,
      cited: rule,
    })),
  );
}

/** One letter and a number, or two letters that rules have: those of algorithms such as ES256 name no rule. */
const id = "(?:CU|ED|OW|PC|PL|PU|SP|TK|[A-Z])\\d+";

/** The rules of a list in which a range may stand: "O1 to O3, H1" is O1, O2, O3, H1. */
function expanded(list: string): readonly string[] {
  const parts = list.split(/,\s+|\s+and\s+|\s+or\s+/);
  return parts.flatMap((part) => {
    const [first = "", last = first] = part.split(/\s+to\s+/);
    const [letters, from] = lettersAndNumber(first);
    const [lastLetters, to] = lettersAndNumber(last);
    // A range backwards or across two letters is no range: both of its ends stand for themselves.
    if (letters !== lastLetters || to < from) return [first, last];
    return Array.from({ length: to - from + 1 }, (_, index) => `${letters}${from + index}`);
  });
}

function lettersAndNumber(rule: string): readonly [letters: string, number: number] {
  const [letters = ""] = /^[A-Z]+/.exec(rule) ?? [];
  return [letters, Number(rule.slice(letters.length))];
}

/**
 * The files and folders of the repository that a text names: by a path from the root, and Markdown files also by their name
 * alone. Imports start with a dot and are the compiler's to check.
 */
export function pathCitations({ text }: SourceFile): readonly Citation[] {
  const path =
    /(?<![\w./@*-])((?:\.ci|\.github|bench|cli|docs|public|src|test|workers)\/[\w./-]*\w)(?![\w*{[<$…-])/g;
  const document = /(?<![\w./*-])([\w-]+\.md)\b/g;
  return [...citations(text, path), ...citations(text, document)];
}

/** The places that a Markdown file links to, as paths from the root, with the anchor if there is one. */
export function linkCitations({ path, text }: SourceFile): readonly Citation[] {
  if (!path.endsWith(".md")) return [];
  return citations(text, /\]\((?![a-z]+:)([^)\s]+)\)/g).map(({ line, cited }) => ({
    line,
    cited: cited.startsWith("#") ? `${path}${cited}` : join(dirname(path), cited),
  }));
}

/** Citations of a document that only the authors have: the word `reference` with the number of a section. */
export function privateCitations({ text }: SourceFile): readonly Citation[] {
  return citations(text, /\b(reference\s+(?:part\s+)?\d+(?:\.\d+)*)/gi);
}

/** Whether a path, or the name of a Markdown file, is that of something in the repository. */
export function isInTree(cited: string, files: readonly SourceFile[]): boolean {
  if (cited.includes("/")) return cited.startsWith(builtFolder) || existsSync(cited);
  return files.some(({ path }) => basename(path) === cited);
}

/** Whether a link leads to a file, and to a heading of it if it has an anchor. */
export function leadsSomewhere(link: string, files: readonly SourceFile[]): boolean {
  const [path = "", anchor] = link.split("#");
  if (anchor === undefined) return existsSync(path);
  const target = files.find((file) => file.path === path);
  return target !== undefined && headingAnchors(target.text).has(anchor);
}

/**
 * The citations that name nothing, as `file:line: what is cited`.
 *
 * @param find   finds the citations of a file
 * @param exists whether there is what a citation names
 */
export function faults(
  files: readonly SourceFile[],
  find: (file: SourceFile) => readonly Citation[],
  exists: (cited: string) => boolean,
): readonly string[] {
  return files.flatMap((file) =>
    find(file)
      .filter(({ cited }) => !exists(cited))
      .map(({ line, cited }) => `${file.path}:${line}: ${cited}`),
  );
}

/**
 * Everything that a pattern's first group that matched has found. A comment's line begins with a star or slashes, which are
 * taken for space: a citation may go on in the next line.
 */
function citations(text: string, pattern: RegExp): readonly Citation[] {
  const prose = text.replaceAll(/(?<=\n)[ \t]*(?:\*(?!\/)|\/\/)/g, (start) =>
    " ".repeat(start.length),
  );
  return Array.from(prose.matchAll(pattern), (match) => ({
    line: prose.slice(0, match.index).split("\n").length,
    cited: (match.slice(1).find((group) => group !== undefined) ?? "").replaceAll(/\s+/g, " "),
  }));
}
