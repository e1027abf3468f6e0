import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFile } from "../../../../cli/configuration/document.ts";
import { recordedShell, temporaryFolder } from "../recorded-shell.ts";

const many = 200_000;
const deep = /^its values are nested more than 500 deep$/;

describe("[N23] a configuration that its parser has no stack or memory for", () => {
  it.each([
    ["config.json", "arrays", "[".repeat(many) + "]".repeat(many), deep],
    ["config.json", "objects that don't end", '{"a":'.repeat(many), deep],
    ["config.toml", "keys", `a${".a".repeat(many)} = 1`, deep],
    ["config.toml", "arrays", `a = ${"[".repeat(many)}`, /^not TOML: see line 1/],
    ["config.yaml", "brackets", "[".repeat(many) + "]".repeat(many), deep],
    ["config.yaml", "lists in a line", "- ".repeat(many), deep],
    ["config.yaml", "a text far to the right", `a:\n${" ".repeat(many)}b: 1`, deep],
    [
      "config.yaml",
      "levels, one in a line",
      Array.from({ length: 1_400 }, (_, level) => `${" ".repeat(level)}a:\n`).join(""),
      /^not YAML: see line|nested more than/,
    ],
    [
      "config.yaml",
      "levels for which there is a stack",
      Array.from({ length: 501 }, (_, level) => `${" ".repeat(level)}a:\n`).join(""),
      deep,
    ],
    ["config.yaml", "an anchor in itself", "a: &a [*a]", /^its anchors are within themselves/],
    [
      "config.yaml",
      "anchors of anchors",
      `a0: &a0 [x]\n${Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array.from({ length: 9 }, () => `*a${at}`).join()}]\n`).join("")}`,
      /^its anchors are within themselves, or used too often$/,
    ],
  ])("is refused: %s, %s", (name, _, text, problem) => {
    const parsed = parseFile(name, text);
    const said = parsed.outcome === "bad" ? parsed.problem.replace(`${name}: `, "") : "nothing";
    expect(said).toMatch(problem);
  });

  it("ends every command that reads one with the usual code", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "c.yaml"), "- ".repeat(many));
    for (const command of ["check", "migrate"]) {
      const { code, noted } = await recordedShell({}, folder)([command, "c.yaml"]);
      expect([code, noted]).toEqual([2, "c.yaml: its values are nested more than 500 deep"]);
    }
  });
});

describe("JSON with comments", () => {
  it.each([
    ["{}", {}],
    ['{"a": [1, 2,], // one\n}', { a: [1, 2] }],
    ['/* {"a": */ {"b": "// no, /* comment */",}', { b: "// no, /* comment */" }],
    ['{"a": "x\\",}", /* , */ }', { a: 'x",}' }],
    ['{"a": 1 /* , */ , /* after */ \n}', { a: 1 }],
  ])("is parsed: %s", (text, document) => {
    expect(parseFile("wrangler.jsonc", text)).toEqual({ outcome: "document", document });
  });

  it.each([
    ['{"a": 1} /* no end', "line 1, column 10"],
    ['{\n  /* , */ "a": tru,\n}', "line 2, column 16"],
    ['{"a": "x\ny"}', "line 1, column 7"],
  ])("is refused with the place: %s", (text, place) => {
    expect(parseFile("wrangler.jsonc", text)).toEqual({
      outcome: "bad",
      problem: `wrangler.jsonc: not JSON: see ${place}`,
    });
  });
});
