import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { floors, folderOf } from "../../../cli/structure/floors.ts";

const readme = readFileSync("src/README.md", "utf8");

/** The names in the first column of a table, a list for each row. */
function firstColumn(heading: string): readonly (readonly string[])[] {
  const [, table = ""] = readme.split(`| ${heading} | What it `);
  const [rows = ""] = table.split("\n\n");
  return rows
    .split("\n")
    .slice(2)
    .map((row) =>
      Array.from((row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g), ([, name = ""]) => name),
    );
}

describe("src/README.md", () => {
  it("lists the floors from the top, as the structure's check has them", () => {
    const listed = firstColumn("Folder").map((names) => {
      const paths = names.map((name) => (name.startsWith("workers/") ? name : `src/${name}`));
      return folderOf(paths[0]?.endsWith(".ts") === true ? paths[0] : `${paths[0]}/file.ts`);
    });
    expect(listed).toEqual(floors.toReversed().flatMap((floor) => floor));
  });

  it("lists the features that have a folder", () => {
    const folders = readdirSync("src/features", { withFileTypes: true });
    const features = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(firstColumn("Feature").flat()).toEqual(features.sort());
  });
});

describe("the README of a folder", () => {
  const readmes = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("/README.md"),
  );

  it.each(readmes)("src/%s describes the files that are there", (path) => {
    const text = readFileSync(`src/${path}`, "utf8");
    const described = Array.from(text.matchAll(/^\| (.*?) \|/gm), ([, cell = ""]) => cell).flatMap(
      (cell) => Array.from(cell.matchAll(/`([\w-]+\.ts)`/g), ([, name = ""]) => name),
    );
    const there = readdirSync(`src/${path.slice(0, -"/README.md".length)}`);
    expect(described.filter((name) => !there.includes(name))).toEqual([]);
  });
});
