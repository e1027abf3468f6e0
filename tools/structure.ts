/**
 * `npm run structure`: prints the figures of the structure of `src` and `workers`, and fails when one is over its bound.
 * With `--places` it prints the places that each figure counts, too.
 */
import { measure } from "./structure/measure.ts";
import { readSources } from "./structure/source-tree.ts";
import { root } from "./wrangler.ts";

const files = readSources(root);
const lines = files.reduce((sum, file) => sum + file.lines, 0);
console.log(`${lines} lines in ${files.length} files`);
for (const { name, max, places } of measure(files)) {
  const isOver = places.length > max;
  console.log(`${isOver ? "OVER " : ""}${name}: ${places.length} (limit: ${max})`);
  if (isOver || process.argv.includes("--places"))
    for (const place of places) console.log(`  ${place}`);
  if (isOver) process.exitCode = 1;
}
