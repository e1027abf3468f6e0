import { figure, ratioFigure } from "./figure.ts";
import { figuresLine, type Target } from "./judge.ts";
import { machineLine, versionsLine } from "./machine.ts";
import type { LoadAlone, Results, ScenarioResult } from "./results.ts";
import { scenarioTables } from "./scenario-tables.ts";
import { plainTable } from "./table.ts";

/** The results of a run as lines for a terminal, with the targets last. */
export function report(results: Results): string {
  const { machine, loadAlone, scenarios, targets, rounds, quick, seconds } = results;
  const extent = `${rounds} ${rounds === 1 ? "round" : "rounds"} in ${figure(Math.round(seconds))} s`;
  return [
    ...scenarios.map(scenarioReport),
    [
      "What it must reach",
      ...targets.map(targetLine),
      "",
      machineLine(machine),
      versionsLine(machine),
      loadLine(loadAlone),
      `${extent}${quick ? ", quick: figures are rough" : ""}`,
      ...scenarios.flatMap(({ name, problem }) =>
        problem === undefined ? [] : [`FAILED: ${name}: ${problem}`],
      ),
    ].join("\n"),
  ].join("\n\n");
}

/** One line about the load generator. */
export function loadLine({ deliveriesPerSecond, busy }: LoadAlone): string {
  return `The load generator alone bears ${figure(deliveriesPerSecond)} deliveries a second, at ${figure(Math.round(busy * 100))} % of a processor.`;
}

/** One line about a target, such as `reached  (a) …: 64 publishers 0.91`. */
function targetLine(target: Target): string {
  const { part, sentence, outcome, bound } = target;
  const asked = `${bound.is} ${ratioFigure(bound.value)}`;
  const figures =
    outcome === "not measured" ? "" : `\n${" ".repeat(15)}${asked}: ${figuresLine(target)}`;
  return `${outcome.padEnd(14)} (${part}) ${sentence}${figures}`;
}

function scenarioReport(scenario: ScenarioResult): string {
  const { name, question, problem } = scenario;
  const tables = scenarioTables(scenario).map(
    ({ title, table }) => `${title}\n${plainTable(table)}`,
  );
  const failure = problem === undefined ? [] : [`It failed: ${problem}`];
  return [`${name.toUpperCase()}  ${question}`, ...tables, ...failure].join("\n\n");
}
