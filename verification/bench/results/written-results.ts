import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billSection } from "./bill-section.ts";
import { curveChart } from "./curve-chart.ts";
import { curvesOf } from "./curve.ts";
import { withSection } from "./document.ts";
import { type Results, resultsText } from "./results.ts";
import { runSection } from "./run-section.ts";

/** Writes results.json and the pictures into a folder, which is made if it isn't there. */
export function writeResults(results: Results, folder: string): void {
  writeCharts(results, folder);
  writeFileSync(join(folder, "results.json"), resultsText(results));
}

/**
 * Shows the results in docs/performance.md: only what stands between its marks changes, and the pictures beside it.
 *
 * @param root the repository's folder
 */
export function writeDocument(results: Results, root: string): void {
  const file = join(root, "docs/performance.md");
  const document = readFileSync(file, "utf8");
  const withRun = withSection(document, "the last full run", runSection(results));
  const withBill = withSection(withRun, "the bill", billSection(results));
  writeCharts(results, join(root, "docs/performance"));
  writeFileSync(file, withBill);
}

/** Those of an earlier run go, because not each run draws the same ones. */
function writeCharts({ scenarios }: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (name.endsWith(".svg")) rmSync(join(folder, name));
  for (const curve of scenarios.flatMap((scenario) => curvesOf(scenario))) {
    writeFileSync(join(folder, `${curve.name}.svg`), curveChart(curve));
  }
}
