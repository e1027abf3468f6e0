import { type Comparison, comparisonsOf } from "./comparison.ts";
import { isPeerName } from "../systems/peer.ts";
import { figure, measureTitle, ratioFigure } from "./figure.ts";
import type { ScenarioResult } from "./results.ts";
import type { Table } from "./table.ts";

/** A table with its title. */
export interface TitledTable {
  readonly title: string;
  readonly table: Table;
}

/** One table for each measure, with a row for each system at each point. */
export function scenarioTables({ findings }: ScenarioResult): readonly TitledTable[] {
  return comparisonsOf(findings).map((comparison) => ({
    title: `${measureTitle(comparison)} (${comparison.better} is better)`,
    table: comparisonTable(comparison),
  }));
}

function comparisonTable({ points }: Comparison): Table {
  const peers = [
    ...new Set(points.flatMap(({ systems }) => systems.map(({ system }) => system))),
  ].filter(isPeerName);
  const rows = points.flatMap(({ systems }) =>
    systems.map(({ system, point, spread, toLimit, toOthers, toPeers, limitedByLoad }, index) => [
      index === 0 || point !== systems[index - 1]?.point ? point : "",
      system,
      figure(spread.median),
      spread.least === spread.most ? "" : `${figure(spread.least)} – ${figure(spread.most)}`,
      ...[toLimit, toOthers, ...peers.map((peer) => toPeers[peer])].map((ratio) =>
        ratio === undefined ? "" : ratioFigure(ratio),
      ),
      limitedByLoad ? "load-bound" : "",
    ]),
  );
  const heads = [
    "at",
    "system",
    "median",
    "range",
    "× limit",
    "× best other",
    ...peers.map((peer) => `× ${peer}`),
    "",
  ];
  // Empty columns would only make the table wide.
  const kept = heads.flatMap((_, column) =>
    column < 3 || rows.some((row) => row[column] !== "") ? [column] : [],
  );
  const keep = (cells: readonly string[]): readonly string[] =>
    kept.map((column) => cells[column] ?? "");
  const right = kept.flatMap((column, index) =>
    column >= 2 && column < heads.length - 1 ? [index] : [],
  );
  return { heads: keep(heads), rows: rows.map((row) => keep(row)), right };
}
