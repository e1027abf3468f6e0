import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billSection } from "./bill-section.ts";
import { curveChart } from "./curve-chart.ts";
import { curvesOf } from "./curve.ts";
import { withSection } from "./document.ts";
import { type Results, resultsText } from "./results.ts";
import { runSection } from "./run-section.ts";

/** Writes results.json and the charts into a folder, which is created if necessary. */
export function writeResults(results: Results, folder: string): void {
  writeCharts(results, folder);
  writeFileSync(join(folder, "results.json"), resultsText(results));
}

/**
 * Writes the results into docs/performance.md: replaces the text between its marks, and the charts beside it.
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

/** The charts of an earlier run are removed, because not each run draws the same ones. */
function writeCharts({ scenarios }: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (name.endsWith(".svg")) rmSync(join(folder, name));
  for (const curve of scenarios.flatMap((scenario) => curvesOf(scenario))) {
    writeFileSync(join(folder, `${curve.name}.svg`), curveChart(curve));
  }
}
