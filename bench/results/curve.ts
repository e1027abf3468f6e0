import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";
import { measureTitle } from "./figure.ts";
import type { ScenarioResult } from "./results.ts";
import { bySystem } from "./shown-system.ts";
import { type Spread, spreadOf } from "./spread.ts";

/** One measure over a varied quantity: the data of a chart. */
export interface Curve {
  /** The name of its file, without an extension: lower case, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  /** The varied quantity. */
  readonly across: string;
  /** The measure. */
  readonly upward: string;
  readonly lines: readonly CurveLine[];
}

export interface CurveLine {
  /** Its look; and its name, unless it has a label. */
  readonly system: SystemName;
  readonly label?: string;
  /** In the order of their values. */
  readonly marks: readonly CurveMark[];
}

interface CurveMark {
  readonly value: number;
  readonly spread: Spread;
}

/** A curve for each measure and axis with at least two values. */
export function curvesOf({ name, findings }: ScenarioResult): readonly Curve[] {
  const placed = findings.flatMap((finding) =>
    finding.at === undefined ? [] : [{ finding, at: finding.at }],
  );
  const groups = Map.groupBy(placed, ({ finding, at }) =>
    JSON.stringify([finding.measure, at.axis]),
  );
  return [...groups.values()].flatMap((group) => {
    const first = group[0];
    if (first === undefined || new Set(group.map(({ at }) => at.value)).size < 2) return [];
    const { measure } = first.finding;
    const across = first.at.axis;
    const lines = linesOf(group.map(({ finding }) => finding));
    return [
      {
        name: fileName(`${name} ${measure} over ${across}`),
        title: `${name}: ${measure}`,
        across,
        upward: measureTitle(first.finding),
        lines,
      },
    ];
  });
}

function linesOf(findings: readonly Finding[]): readonly CurveLine[] {
  const systems = [...new Set(findings.map(({ system }) => system))].sort(bySystem);
  return systems.map((system) => {
    const marks = findings
      .filter((finding) => finding.system === system)
      .map(({ at, values }) => ({ value: at?.value ?? 0, spread: spreadOf(values) }))
      .sort((left, right) => left.value - right.value);
    return { system, marks };
  });
}

function fileName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
