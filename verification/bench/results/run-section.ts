import { curvesOf } from "./curve.ts";
import { ratioFigure } from "./figure.ts";
import { figuresLine } from "./judge.ts";
import { machineLine, versionsLine } from "./machine.ts";
import { loadLine } from "./report.ts";
import type { Results, ScenarioResult } from "./results.ts";
import { scenarioTables } from "./scenario-tables.ts";
import { markdownTable } from "./table.ts";

/** The results of a run as Markdown for docs/performance.md; the charts are in `performance/` beside it. */
export function runSection(results: Results): string {
  return [facts(results), targets(results), ...results.scenarios.map(scenarioSection)].join("\n\n");
}

function facts({ date, machine, command, rounds, quick, loadAlone }: Results): string {
  const roughly = quick ? " It was a quick one: its figures are rough." : "";
  return `${date}, on ${machineLine(machine)}; ${versionsLine(machine)}. \`${command}\`, with ${rounds} ${
    rounds === 1 ? "round" : "rounds"
  }.${roughly} ${loadLine(loadAlone)}`;
}

function targets({ targets: all }: Results): string {
  const rows = all.map((target) => [
    `(${target.part}) ${target.sentence}`,
    `${target.bound.is} ${ratioFigure(target.bound.value)}`,
    target.outcome === "missed" ? "**missed**" : target.outcome,
    figuresLine(target),
  ]);
  const heads = ["what it must reach", "asked", "outcome", "figures"];
  return `### What it must reach\n\n${markdownTable({ heads, rows, right: [] })}`;
}

function scenarioSection(scenario: ScenarioResult): string {
  const { name, question, problem } = scenario;
  const charts = curvesOf(scenario).map(
    (curve) => `![${curve.title}](performance/${curve.name}.svg)`,
  );
  const tables = scenarioTables(scenario).map(
    ({ title, table }) => `**${title}**\n\n${markdownTable(table)}`,
  );
  // Charts say what most readers want; the figures can be opened.
  const figures =
    tables.length === 0
      ? []
      : [`<details>\n<summary>Figures</summary>\n\n${tables.join("\n\n")}\n\n</details>`];
  const failure = problem === undefined ? [] : [`It failed: ${problem}`];
  return [`### ${name}`, question, ...failure, ...charts, ...figures].join("\n\n");
}
