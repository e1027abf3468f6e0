import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * The table in src/README.md of a publication's journey is a claim about the code: that each stop is called by one above it, and that
 * none calls back up. Imports show both. Types don't count: they are gone when the code runs.
 */
const readme = readFileSync("src/README.md", "utf8");
const journey = readme.slice(readme.indexOf("## A publication's journey"));
const stops = [...journey.matchAll(/`((?:src|workers)\/[^`]+\.ts)`/g)].map(([, file = ""]) => file);

describe("a publication's journey", () => {
  it("[W1] names the eighteen stops from the route table to the codec", () => {
    expect(stops).toHaveLength(18);
    expect(stops[0]).toBe("workers/http/app.ts");
    expect(stops.at(-1)).toBe("src/protocol/codec.ts");
  });

  it.each(stops)("[W1] %s is reached from a stop above it", (stop) => {
    const above = stops.slice(0, stops.indexOf(stop));
    // The call to an object goes through a binding, which only a type names.
    const reached = above.some((file) => importsOf(file, "with-types").has(stop));
    expect(above.length === 0 || reached || isBinding(stop)).toBe(true);
  });

  it.each(stops)("[W1] %s calls nothing above it", (stop) => {
    const above = new Set(stops.slice(0, stops.indexOf(stop)));
    expect([...reachable(stop)].filter((file) => above.has(file))).toEqual([]);
  });
});

function isBinding(stop: string): boolean {
  return importsOf("workers/platform/env.ts", "with-types").has(stop);
}

function reachable(start: string): Set<string> {
  const seen = new Set<string>();
  const waiting = [start];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const next of importsOf(file, "without-types")) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return seen;
}

function importsOf(file: string, mode: "with-types" | "without-types"): Set<string> {
  const source = readFileSync(file, "utf8");
  const imports = new Set<string>();
  for (const [, type, path = ""] of source.matchAll(
    /^(?:import|export)( type)?[^;]*?from "(\.[^"]+)";/gm,
  )) {
    if (type !== undefined && mode === "without-types") continue;
    const target = join(dirname(file), path);
    if (!existsSync(target)) throw new Error(`${file} imports ${target}, which isn't there`);
    imports.add(target);
  }
  return imports;
}
