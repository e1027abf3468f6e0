import { describe, expect, it } from "vitest";
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
    const file = files.find((one) => one.path === path);
    expect(unindented(file?.text ?? "")).toContain(unindented(code));
  });
});
