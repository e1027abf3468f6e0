/**
 * `npm run mutate`: which share of small faults in the sources the tests notice. See the README of this folder's parent.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";
import { trackedFiles } from "../../../cli/structure/source-tree.ts";
import { MutationRun } from "./mutation-run.ts";
import { type MutateOptions, parseOptions, usage } from "./options.ts";
import { placesIn } from "./places.ts";
import { type RunRecord, readRecord } from "./record.ts";
import { foundAgain, sample } from "./sample.ts";
import { lost, summary } from "./summary.ts";

const parsed = parseOptions(process.argv.slice(2));
switch (parsed.outcome) {
  case "help":
    console.log(usage);
    break;
  case "bad":
    console.error(parsed.problem);
    process.exitCode = 2;
    break;
  case "options":
    await mutate(parsed.options);
    break;
}

/** A run, from its mutants to its summary. */
async function mutate(options: MutateOptions): Promise<void> {
  const earlier = options.again === undefined ? undefined : readRecord(options.again);
  const kept = options.report === undefined ? undefined : readRecord(options.report);
  const run = new MutationRun(kept ?? begun(options, earlier), options, earlier);
  await run.all();
  for (const line of summary(run.record)) console.log(line);
  if (earlier === undefined) return;
  console.log("\nNoticed before, and not now:");
  for (const line of lost(earlier.mutants, run.record)) console.log(`  ${line}`);
}

/** A run that has tried nothing yet. */
function begun(options: MutateOptions, earlier: RunRecord | undefined): RunRecord {
  const files = trackedFiles(packageRoot).filter(
    (file) =>
      /^(?:src|workers\/http)\/.*\.ts$/.test(file) &&
      !file.endsWith(".d.ts") &&
      file.startsWith(options.only),
  );
  const places = files.flatMap((file) =>
    placesIn(file, readFileSync(join(packageRoot, file), "utf8")),
  );
  if (earlier === undefined) {
    const mutants = sample(places, options.seed, options.count).map(({ place }) => ({ place }));
    return { seed: options.seed, reached: {}, mutants };
  }
  const now = foundAgain(
    earlier.mutants.map(({ place }) => place),
    places,
  );
  return {
    seed: earlier.seed,
    reached: {},
    mutants: now.flatMap((place) => (place === undefined ? [] : [{ place }])),
    gone: earlier.mutants.filter((_, index) => now[index] === undefined),
  };
}
