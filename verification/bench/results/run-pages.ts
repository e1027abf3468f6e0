import { curvesOf } from "./curve.ts";
import { ratioFigure } from "./figure.ts";
import { figuresLine } from "./judge.ts";
import { machineLine, versionsLine } from "./machine.ts";
import { loadLine } from "./report.ts";
import type { Results, ScenarioResult } from "./results.ts";
import { scenarioTables } from "./scenario-tables.ts";
import { markdownTable } from "./table.ts";

/** The targets of a run and their outcomes, as Markdown. */
export function targetsPage(results: Results): string {
  const rows = results.targets.map((target) => [
    `(${target.part}) ${target.sentence}`,
    `${target.bound.is} ${ratioFigure(target.bound.value)}`,
    target.outcome === "missed" ? "**missed**" : target.outcome,
    figuresLine(target),
  ]);
  const heads = ["what it must reach", "asked", "outcome", "figures"];
  return ["# Targets", facts(results), markdownTable({ heads, rows, right: [] })].join("\n\n");
}

/** The figures of a scenario as Markdown; its charts are in the same folder. */
export function scenarioPage(results: Results, scenario: ScenarioResult): string {
  const { name, question, problem } = scenario;
  const charts = curvesOf(scenario).map((curve) => `![${curve.title}](${curve.name}.svg)`);
  const tables = scenarioTables(scenario).map(
    ({ title, table }) => `**${title}**\n\n${markdownTable(table)}`,
  );
  const failure = problem === undefined ? [] : [`It failed: ${problem}`];
  return [`# ${name}`, question, facts(results), ...failure, ...charts, ...tables].join("\n\n");
}

function facts({ date, machine, command, rounds, quick, loadAlone }: Results): string {
  const roughly = quick ? " It was a quick one: its figures are rough." : "";
  return `${date}, on ${machineLine(machine)}; ${versionsLine(machine)}. \`${command}\`, with ${rounds} ${
    rounds === 1 ? "round" : "rounds"
  }.${roughly} ${loadLine(loadAlone)}`;
}
