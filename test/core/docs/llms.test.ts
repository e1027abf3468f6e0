import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { indexSections, llmsFullText, llmsText } from "../../../cli/llms/llms.ts";

const pages = indexSections().flatMap((section) => section.pages.map(({ path }) => path));
const trust =
  indexSections()
    .at(-1)
    ?.pages.map(({ path }) => path) ?? [];

describe("[W1] llms.txt", () => {
  it("lists all pages of docs with what a reader wants, and nothing else", () => {
    const text = llmsText();
    const listed = Array.from(text.matchAll(/^- \[.+\]\((.+)\): ./gm), ([, path]) => path);
    expect(listed).toEqual(pages);
    const all = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
    expect(pages.toSorted()).toEqual(all.map((name) => `docs/${name}`).toSorted());
    // The form of llmstxt.org: a title, a claim, and lists below headings.
    expect(text).toMatch(/^# Dormouse\n\n> .+\n\n.+\n\n## To begin\n\n- \[/);
  });
});

describe("[W1] llms-full.txt", () => {
  const text = llmsFullText();

  it("has the README and each page that an application is written with, once and in the index's order", () => {
    const parts = Array.from(text.matchAll(/^<!-- (.+\.md) -->$/gm), ([, path]) => path);
    expect(parts).toEqual(["README.md", ...pages.filter((path) => !trust.includes(path))]);
    expect(text).toContain(readFileSync("docs/tokens.md", "utf8").trim());
    expect(text).not.toContain("![");
  });
});
