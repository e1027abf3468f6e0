import { describe, expect, it } from "vitest";
import {
  faults,
  headingNumbers,
  isInTree,
  leadsSomewhere,
  linkCitations,
  pathCitations,
  privateCitations,
  protocolCitations,
  ruleCitations,
  ruleIds,
  ruleWords,
  type SourceFile,
  sourceFiles,
  rulesIn,
  titleCitations,
} from "./citations.ts";

/** This file's made-up texts cite what there isn't. */
const files = sourceFiles().filter(({ path }) => path !== "test/core/docs/citations.test.ts");

function textOf(path: string): string {
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined) throw new Error(`there is no ${path}`);
  return file.text;
}

describe("a citation", () => {
  it("of docs/protocol.md names a heading that it has", () => {
    const numbers = headingNumbers(textOf("docs/protocol.md"));
    expect(faults(files, protocolCitations, (number) => numbers.has(number))).toEqual([]);
  });

  it("of a rule names one that src/SPEC.md or the README of a folder has", () => {
    const rules = new Set(ruleIds(rulesIn(files)));
    expect(faults(files, ruleCitations, (rule) => rules.has(rule))).toEqual([]);
  });

  it("of a file or folder names one that is in the repository", () => {
    expect(faults(files, pathCitations, (path) => isInTree(path, files))).toEqual([]);
  });

  it("that is a link leads to a file, and to a heading of it", () => {
    expect(faults(files, linkCitations, (link) => leadsSomewhere(link, files))).toEqual([]);
  });

  it("is never of a document that only the authors have", () => {
    expect(faults(files, privateCitations, () => false)).toEqual([]);
  });
});

it("every rule of the specification is cited by a test's name", () => {
  const tests = files.filter(({ path }) => /^test\/.*\.ts$/.test(path));
  const cited = new Set(tests.flatMap(titleCitations).map((citation) => citation.cited));
  const uncited = ruleIds(rulesIn(files)).filter((rule) => !cited.has(rule));
  expect(uncited).toEqual([]);
});

it("no two rules of the specification have the same id", () => {
  const ids = ruleIds(rulesIn(files));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

it("no rule of the specification has over 60 words, so that a test can be named after it", () => {
  const long = ruleWords(rulesIn(files)).filter(([, words]) => words > 60);
  expect(long).toEqual([]);
});

describe("the reading of citations", () => {
  it("counts the words of a rule, on all of its lines", () => {
    const text = "- **O1** A channel has\n  one order.\n- **SP2** None\n\nThis is no rule.\n";
    expect(ruleWords(text)).toEqual([
      ["O1", 5],
      ["SP2", 1],
    ]);
  });

  it.each<[string, readonly string[]]>([
    ["as in Centrifugo (docs/protocol.md 4.3).", ["1: 4.3"]],
    ["// first\n// of docs/protocol.md 1.1, 4.1 and 4.2, in turn", ["2: 1.1", "2: 4.1", "2: 4.2"]],
    ["/**\n * Frames (docs/protocol.md\n * 1.1).\n */", ["2: 1.1"]],
    ["[docs/protocol.md](protocol.md) 2, `docs/protocol.md` part 3", ["1: 2", "1: 3"]],
    ["RFC 7518 section 3.3, messagepack.md 4, docs/protocol.md, 64 KiB", []],
  ])("finds in %j the headings of the protocol", (text, expected) => {
    expect(shown(protocolCitations, "src/a.ts", text)).toEqual(expected);
  });

  it.each<[string, string, readonly string[]]>([
    ["src/a.ts", "Sent later (rule O2).", ["1: O2"]],
    ["src/a.ts", "(rules O1 to O4)", ["1: O1", "1: O2", "1: O3", "1: O4"]],
    [
      "src/a.ts",
      " * in order (rules L1,\n * L3 and L6; docs/protocol.md 2.3)",
      ["1: L1", "1: L3", "1: L6"],
    ],
    ["src/a.ts", "(rules C1, H7 to H8)", ["1: C1", "1: H7", "1: H8"]],
    ["src/a.ts", "Rule B6's queue. The rule is A. rules[J1]. (O3, R2)", ["1: B6"]],
    ["test/a.test.ts", 'it("[O1] [F1] hears", () => rows[A1]);', ["1: O1", "1: F1"]],
    [
      "test/a.test.ts",
      "it.each(all)('[H2][W7] of $name', go);\n`[O2] x`",
      ["1: H2", "1: W7", "2: O2"],
    ],
    ["docs/a.md", 'Kept. (O3, R2)\n`npx vitest run -t "\\[O1\\]"`', ["1: O3", "1: R2", "2: O1"]],
  ])("finds in %s the rules of %j", (path, text, expected) => {
    expect(shown(ruleCitations, path, text)).toEqual(expected);
  });

  it.each<[string, readonly string[]]>([
    ["All of them: `src/limits.ts`.", ["1: src/limits.ts"]],
    [
      "Above.\n// see docs/configuration.md, and workers/http/",
      ["2: docs/configuration.md", "2: workers/http"],
    ],
    ['import { a } from "../src/a.ts"; // https://example.com/docs/a.md', []],
    [
      "Not one: src/….ts, test/**/*.test.ts, node_modules/x/src/a.ts, test/<name>, src/{a,b}.ts.",
      [],
    ],
    [
      "All of src/protocol/json-*.ts and test/core/**/*.test.ts.",
      ["1: src/protocol", "1: test/core"],
    ],
    ["It says so in design.md and in **/*.md.", ["1: design.md"]],
  ])("finds in %j the paths", (text, expected) => {
    expect(shown(pathCitations, "src/a.ts", text)).toEqual(expected);
  });

  it("finds where Markdown links to", () => {
    const text = "[a](b.md) [c](../src/SPEC.md#o-order)\n[d](#here) [e](https://example.com/f.md)";
    expect(shown(linkCitations, "docs/a.md", text)).toEqual([
      "1: docs/b.md",
      "1: src/SPEC.md#o-order",
      "2: docs/a.md#here",
    ]);
    expect(shown(linkCitations, "src/a.ts", text)).toEqual([]);
  });

  it("finds citations of a document that only the authors have", () => {
    const text =
      "(reference 1.4, item 7)\n// (rule R1, reference\n// 2.3) (reference part 4)\nfor reference, 3.1";
    expect(shown(privateCitations, "src/a.ts", text)).toEqual([
      "1: reference 1.4",
      "2: reference 2.3",
      "3: reference part 4",
    ]);
  });

  it("knows what there is", () => {
    const tree: readonly SourceFile[] = [{ path: "docs/a.md", text: "## 1. Here\n" }];
    expect(
      ["a.md", "src", "src/limits.ts", "b.md", "src/none.ts"].map((path) => isInTree(path, tree)),
    ).toEqual([true, false, true, false, false]);
    expect(
      ["docs/a.md#1-here", "src/SPEC.md", "docs/a.md#2-there", "docs/b.md#1-here", "docs/b.md"].map(
        (link) => leadsSomewhere(link, tree),
      ),
    ).toEqual([true, true, false, false, false]);
  });

  it("says in which line of which file a citation names nothing", () => {
    const file: SourceFile = { path: "docs/a.md", text: "Rule O1\n\nand rules\nO2 to O3.\n" };
    expect(faults([file], ruleCitations, (rule) => rule === "O2")).toEqual([
      "docs/a.md:1: O1",
      "docs/a.md:3: O3",
    ]);
  });
});

function shown(find: typeof ruleCitations, path: string, text: string): readonly string[] {
  return find({ path, text }).map(({ line, cited }) => `${line}: ${cited}`);
}
