import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { resultsFile, runStand, storedResults } from "./results.ts";
import { writePage } from "./scale-page.ts";

/**
 * `npm run stand`: counts on the real objects, in simulated time, what a million connections take, and writes
 * `docs/performance/scale.md`. The same seed gives the same page.
 */
const { values } = parseArgs({
  options: { seed: { type: "string" }, page: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help === true) {
  console.log(`npm run stand -- [options]

Runs the real objects with a million counted connections in simulated time, and writes docs/performance/scale.md.

  --seed N    decides latencies, backoffs and when clients come (default 1)
  --page      runs nothing, and writes the page anew from the stored results
  --help      prints this text`);
} else {
  if (values.page !== true) {
    const results = runStand(Number(values.seed ?? 1), (line) => console.log(line));
    writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  }
  writePage(storedResults());
}
