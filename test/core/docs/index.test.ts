import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const index = readFileSync("docs/README.md", "utf8");

/** The pages that the rows of the index lead to, as paths from the root, without anchors. */
const listed = index
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
  .flatMap((line) => Array.from(line.matchAll(/\]\(([^)#]+)/g), ([, path = ""]) => path))
  .map((path) => join("docs", path));

describe("[W1] docs/README.md", () => {
  it("lists every page of docs, and the examples, once", () => {
    const pages = readdirSync("docs").filter(
      (name) => name.endsWith(".md") && name !== "README.md",
    );
    const examples = ["examples/chat-rooms/README.md", "docs/decisions/README.md"];
    const expected = [...pages.map((name) => `docs/${name}`), ...examples].sort();
    expect(listed.filter((path) => expected.includes(path)).sort()).toEqual(expected);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it("says in each row what a reader wants, in words of a reader", () => {
    const rows = index.split("\n").filter((line) => line.includes("]("));
    for (const row of rows) expect(row).toMatch(/^\| [a-z].{4,} \| \[/);
  });

  it("is where the README sends its readers", () => {
    expect(readFileSync("README.md", "utf8")).toContain("[docs/README.md](docs/README.md)");
  });
});
