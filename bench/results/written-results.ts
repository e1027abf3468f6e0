import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billSection } from "./bill-section.ts";
import { curveChart } from "./curve-chart.ts";
import { curvesOf } from "./curve.ts";
import { type Results, resultsText, type ScenarioResult } from "./results.ts";
import { scenarioPage, targetsPage } from "./run-pages.ts";

/** Writes results.json and the charts into a folder, which is created if necessary. */
export function writeResults(results: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  // Not each run draws the same charts.
  removeCharts(folder, "");
  for (const scenario of results.scenarios) writeCharts(scenario, folder);
  writeFileSync(join(folder, "results.json"), resultsText(results));
}

/**
 * Writes the results into docs/performance: a page and the charts of each scenario that was run, the targets (those that
 * weren't measured stay as they are), and the bill if something was counted. The other files there stay as they are, and so does docs/performance.md.
 *
 * @param root the repository's folder
 */
export function writeDocuments(results: Results, root: string): void {
  const folder = join(root, "docs/performance");
  mkdirSync(folder, { recursive: true });
  const write = (name: string, page: string): void =>
    writeFileSync(join(folder, `${name}.md`), `${writtenBy}\n\n${page.trim()}\n`);
  for (const scenario of results.scenarios) {
    removeCharts(folder, `${scenario.name}-`);
    writeCharts(scenario, folder);
    write(scenario.name, scenarioPage(results, scenario));
  }
  const targets = join(folder, "targets.md");
  write("targets", targetsPage(results, existsSync(targets) ? readFileSync(targets, "utf8") : ""));
  const bill = billSection(results);
  if (bill !== undefined) write("cost", bill);
}

function removeCharts(folder: string, prefix: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith(prefix) && name.endsWith(".svg")) rmSync(join(folder, name));
}

function writeCharts(scenario: ScenarioResult, folder: string): void {
  for (const curve of curvesOf(scenario))
    writeFileSync(join(folder, `${curve.name}.svg`), curveChart(curve));
}

const writtenBy = "<!-- The bench writes this file with its option docs. -->";
