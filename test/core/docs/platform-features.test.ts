import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** The sources of a folder as one text, without comments, and without the page of the console, which runs in browsers. */
function sourcesIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("page"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n")
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
}

const sources = sourcesIn("workers");
const core = sourcesIn("src");

/** The names in the first column of the table in docs/several-machines.md. */
const listed = readFileSync("docs/several-machines.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => (line.split("|")[1] ?? "").match(/(?<=`)[\w.]+(?=`)/g) ?? []);

/** What the sources use of an object's context, of its storage, of Web Crypto and of the platform's module. */
function used(): readonly string[] {
  const members = [
    ...sources.matchAll(/\b(?:context|ctx)\.(?:storage\.)?([a-z]\w+)/gi),
    ...sources.matchAll(/\bstorage\.([a-z]\w+)/gi),
  ].map(([, name = ""]) => name);
  const modules = [...sources.matchAll(/import \{ ([\w, ]+) \} from "cloudflare:workers"/g)];
  const crypto = [...sources.matchAll(/crypto\.(subtle\.\w+)/g)].map(([, name = ""]) => name);
  return [...members, ...modules.flatMap(([, names = ""]) => names.split(", ")), ...crypto];
}

/** Members of hono's context and of the context's own parts, which aren't the platform's. */
const others = new Set(
  "env req res var get set redirect header executionCtx storage id waitUntil".split(" "),
);

describe("the table of platform features in docs/several-machines.md", () => {
  it.each(listed)("[N17] names %s, which the Worker uses", (name) => {
    const named = new RegExp(`\\b${name.replace(".", "\\.")}\\b`);
    expect(named.test(sources) || named.test(core)).toBe(true);
  });

  it("[N17] lacks nothing that the Worker uses", () => {
    const missing = used().filter((name) => !listed.includes(name) && !others.has(name));
    expect([...new Set(missing)]).toEqual([]);
  });
});
