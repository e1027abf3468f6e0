import { describe, expect, it } from "vitest";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sourceFiles } from "./citations.ts";

/** A code block of a document, with the file that the document names right before it. */
interface Excerpt {
  readonly document: string;
  readonly path: string;
  readonly code: string;
}

const files = sourceFiles();

/** The blocks after a paragraph that ends with `From [name](path):`. */
function excerptsOf(document: string, text: string): readonly Excerpt[] {
  const block = /From\s+\[[^\]]*\]\(([^)]+)\):\n\n```\w+\n(.*?)```/gs;
  return Array.from(text.matchAll(block), ([, path = "", code = ""]) => ({
    document,
    path: join(dirname(document), path),
    code,
  }));
}

/** The files of examples/tutorial, without those that its commands make. */
function tutorialFiles(): readonly string[] {
  const made = /\.venv|__pycache__|centrifuge\.js$/;
  return readdirSync("examples/tutorial", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !made.test(path))
    .sort();
}

/** A text without the indentation of its lines: an excerpt begins at the margin. */
function unindented(text: string): string {
  return text.replaceAll(/^[ \t]+/gm, "");
}

const excerpts = files
  .filter(({ path }) => path.endsWith(".md"))
  .flatMap(({ path, text }) => excerptsOf(path, text));

describe("[W1] a code block of a document that names its file", () => {
  it("is there, for backends in Express and in Django", () => {
    expect(excerpts.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "examples/chat-rooms/dormouse.js",
        "examples/chat-rooms/hooks.js",
        "examples/chat-rooms/online.js",
        "test/clients/python/django_hooks.py",
      ]),
    );
  });

  it.each(excerpts)("is an excerpt of $path: in $document", ({ path, code }) => {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    expect(unindented(text)).toContain(unindented(code));
  });

  it("is the whole file in the tutorial, which shows every file but those of tools", () => {
    const shown = excerpts.filter(({ document }) => document === "docs/tutorial-chat.md");
    for (const { path, code } of shown) expect(code).toBe(readFileSync(path, "utf8"));
    const isShown = (path: string) => shown.some((one) => one.path === path);
    expect(tutorialFiles().filter((path) => !isShown(path))).toEqual([
      "examples/tutorial/django/manage.py",
      "examples/tutorial/django/requirements.txt",
      "examples/tutorial/express/package.json",
    ]);
  });
});
