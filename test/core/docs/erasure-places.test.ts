import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const page = readFileSync("docs/erasure.md", "utf8");
/** The code's names in the first column of the table. */
const named = new Set(
  [...page.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  ),
);

/** Tables of objects that hold nothing of a publication of a stream: put a new one here, or into the table of the page. Those of maps hold values of keys. */
const withoutText = new Set(
  `audience_judged audience_member author author_channel blocked erased_author forgotten_user gateway holder invalidation listed map_checkpoint map_due map_state
  map_window metric_day metric_marks metric_refusals metrics outbox overwritten placement procedure_timer procedure_version pusher_count pusher_member
  session slot status stream sweep told track unwritten_holder untold_author untold_user user_channel user_got user_mark user_order`.split(
    /\s+/,
  ),
);

it("[ED17] docs/erasure.md names each table that may hold something of a publication", () => {
  const tables = sources("src/**/*.ts").flatMap((text) =>
    [...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(?:\$\{)?(\w+)/g)].map(
      ([, name = ""]) => name,
    ),
  );
  // The name of a ring is put in.
  const found = new Set(tables.map((name) => (name === "ring" ? "publication" : name)));
  expect(found.has("event")).toBe(true);
  expect([...found].filter((name) => !named.has(name) && !withoutText.has(name))).toEqual([]);
  expect([...withoutText].filter((name) => named.has(name) || !found.has(name))).toEqual([]);
});

/** Classes that are parts of others, which the page names. */
const partOf: Readonly<Record<string, string>> = {
  BatchFrames: "Hub",
  DeltaFrames: "Hub",
  FrameCache: "Hub",
  RunFrames: "Hub",
  SharedRun: "RecentPublications",
};

it("[ED17] docs/erasure.md names each class that keeps publications, entries or frames", () => {
  const kept =
    /^ {2}(?:readonly )?#\w+(?:: | = new Map<).*\b(?:Publication|SizedPublication|RelayBatch|LoggedEntry|ChannelPush|Message)\b/;
  const classes = new Set<string>();
  for (const text of sources("src/{channel,gateway,hub,object,session,users}/*.ts")) {
    let name = "";
    for (const line of text.split("\n")) {
      name = /^(?:export )?(?:abstract )?class (\w+)/.exec(line)?.[1] ?? name;
      if (kept.test(line) && !line.includes("=>")) classes.add(partOf[name] ?? name);
    }
  }
  expect(classes.has("RelayLog")).toBe(true);
  expect([...classes].filter((name) => !named.has(name))).toEqual([]);
  const code = sources("src/**/*.ts").join("\n");
  const isThere = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(code);
  expect([...named].filter((name) => !isThere(name))).toEqual([]);
});

function sources(pattern: string): readonly string[] {
  return globSync(pattern).map((path) => readFileSync(path, "utf8"));
}
