/**
 * `npm run structure`: prints the figures of the structure of `src` and `workers`, and fails when one is over its bound.
 * With `--places` it prints the places that each figure counts, too.
 */
import { measure } from "./measure.ts";
import { readSources } from "./source-tree.ts";
import { packageRoot } from "../package-root.ts";

const files = readSources(packageRoot);
const lines = files.reduce((sum, file) => sum + file.lines, 0);
console.log(`${lines} lines in ${files.length} files`);
for (const { name, max, places } of measure(files)) {
  const isOver = places.length > max;
  console.log(`${isOver ? "OVER " : ""}${name}: ${places.length} (limit: ${max})`);
  if (isOver || process.argv.includes("--places"))
    for (const place of places) console.log(`  ${place}`);
  if (isOver) process.exitCode = 1;
}
