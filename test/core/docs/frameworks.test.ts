import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { frameworks, versionsOf } from "../../support/servers/framework-project.ts";

const page = readFileSync("docs/frameworks.md", "utf8");

describe("[W1] docs/frameworks.md", () => {
  it.each(frameworks())("names the versions with which %s was tried", (framework) => {
    const versions = versionsOf(framework);
    const name = { "react-router": "react-router", sveltekit: "@sveltejs/kit" }[framework];
    const row = page.split("\n").find((line) => line.includes(`| \`${name ?? framework}\` `)) ?? "";
    const named = Array.from(row.matchAll(/`(\S+)` ([\d.]+)/g), ([, one = "", version]) => [
      one,
      version,
    ]);
    expect(named.length).toBeGreaterThan(2);
    for (const [one = "", version] of named) expect([one, versions[one]]).toEqual([one, version]);
  });

  it("says that all projects have one real-time layer", () => {
    const [first, ...others] = ["astro/src/realtime.ts", "react-router/app/realtime.ts"]
      .concat("sveltekit/src/realtime.ts", "next/realtime.js")
      .map((file) => readFileSync(`examples/frameworks/${file}`, "utf8"));
    for (const other of others) expect(other).toBe(first);
  });
});
