import { curvesOf } from "./curve.ts";
import { ratioFigure } from "./figure.ts";
import { figuresLine } from "./judge.ts";
import { machineLine, versionsLine } from "./machine.ts";
import { loadLine } from "./report.ts";
import type { Results, ScenarioResult } from "./results.ts";
import { scenarioTables } from "./scenario-tables.ts";
import { markdownTable, tableCells } from "./table.ts";

/**
 * The targets and their outcomes, as Markdown. A target that the run didn't measure keeps its earlier outcome.
 *
 * @param earlier the page that an earlier run wrote; "" for none
 */
export function targetsPage(results: Results, earlier: string): string {
  const { date, machine } = results;
  const measured = [date, machine.versions["dormouse"] ?? ""].join(" ").trim();
  const kept = earlier.split("\n").map((line) => tableCells(line));
  const rows = results.targets.map((target) => {
    const sentence = `(${target.part}) ${target.sentence}`;
    const asked = `${target.bound.is} ${ratioFigure(target.bound.value)}`;
    if (target.outcome === "not measured") {
      const row = kept.find((cells) => cells[0] === sentence && cells[1] === asked);
      return row ?? [sentence, asked, target.outcome, "", ""];
    }
    const outcome = target.outcome === "missed" ? "**missed**" : target.outcome;
    return [sentence, asked, outcome, figuresLine(target), measured];
  });
  const heads = ["what it must reach", "asked", "outcome", "figures", "measured"];
  const table = markdownTable({ heads, rows, right: [] });
  return ["# Targets", `The last run: ${facts(results)}`, table].join("\n\n");
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
