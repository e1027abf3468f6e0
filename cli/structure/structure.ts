/**
 * `npm run structure`: prints the figures of the structure of `src` and `workers`, and two of the whole repository, and
 * fails when one is over its bound.
 * With `--places` it prints the places that each figure counts, too.
 */
import { packageRoot } from "../package-root.ts";
import { measure, measureTree } from "./measure.ts";
import { readSources, trackedFiles } from "./source-tree.ts";

const files = readSources(packageRoot);
const lines = files.reduce((sum, file) => sum + file.lines, 0);
console.log(`${lines} lines in ${files.length} files`);
for (const { name, max, places } of [
  ...measure(files),
  ...measureTree(trackedFiles(packageRoot)),
]) {
  const isOver = places.length > max;
  console.log(`${isOver ? "OVER " : ""}${name}: ${places.length} (limit: ${max})`);
  if (isOver || process.argv.includes("--places"))
    for (const place of places) console.log(`  ${place}`);
  if (isOver) process.exitCode = 1;
}
