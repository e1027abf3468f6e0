import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";
import { bestOf, placeOf } from "./comparison.ts";
import { figure, ratioFigure } from "./figure.ts";
import type { ScenarioResult } from "./results.ts";
import { spreadOf } from "./spread.ts";

/** A target of the bench. */
export interface Goal {
  /** The letter of the requirement, such as `a`. */
  readonly part: string;
  readonly sentence: string;
  /** How its figures are computed from findings, in words. */
  readonly computed: string;
  readonly bound: Bound;
  /** The figures that must be within the bound, each with its name; empty if none was measured. */
  readonly figures: (found: Found) => readonly NamedFigure[];
}

/** The bound of each figure. */
type Bound = { readonly is: "at least" | "at most" | "above"; readonly value: number };

export interface NamedFigure {
  readonly name: string;
  readonly value: number;
}

/** A goal with its outcome. */
export interface Target {
  readonly part: string;
  readonly sentence: string;
  readonly computed: string;
  readonly outcome: "reached" | "missed" | "not measured";
  readonly bound: Bound;
  readonly figures: readonly NamedFigure[];
}

/** Whether each goal was reached. A goal without a measurement was neither reached nor missed. */
export function judge(
  goals: readonly Goal[],
  scenarios: readonly ScenarioResult[],
): readonly Target[] {
  const found = new Found(scenarios);
  return goals.map(({ part, sentence, computed, bound, figures: figuresOf }) => {
    const figures = figuresOf(found);
    const isWithin = figures.every(({ value }) => keeps(bound, value));
    const outcome = figures.length === 0 ? "not measured" : isWithin ? "reached" : "missed";
    return { part, sentence, computed, outcome, bound, figures };
  });
}

/** Such as `1 publisher 1.02, 4 publishers 0.93`, with a mark at those that miss the bound. */
export function figuresLine({ figures, bound }: Target): string {
  return figures
    .map(({ name, value }) => `${name} ${ratioFigure(value)}${keeps(bound, value) ? "" : " (!)"}`)
    .join(", ");
}

/** Finds figures by the names that scenarios give them. */
export class Found {
  readonly #scenarios: readonly ScenarioResult[];

  constructor(scenarios: readonly ScenarioResult[]) {
    this.#scenarios = scenarios;
  }

  /** All findings of a measure, of all systems at all points. */
  of(scenario: string, measure: string): readonly Finding[] {
    return this.#scenarios
      .filter(({ name }) => name === scenario)
      .flatMap(({ findings }) => findings.filter((finding) => finding.measure === measure));
  }

  /** The findings at this value of the varied quantity, and at larger ones. */
  from(value: number): Found {
    return this.#where(({ at }) => at !== undefined && at.value >= value);
  }

  /** The findings at this value of the varied quantity. */
  at(value: number): Found {
    return this.#where(({ at }) => at?.value === value);
  }

  /** The findings at this point of a scenario. */
  point(name: string): Found {
    return this.#where(({ point }) => point === name);
  }

  /** The ratio of a system's median to the best median of some others, at each point. */
  ratios(
    scenario: string,
    measure: string,
    systems: readonly SystemName[],
    to: readonly SystemName[],
  ): readonly NamedFigure[] {
    const places = Map.groupBy(this.of(scenario, measure), placeOf);
    return [...places.values()].flatMap((findings) => {
      const reference = bestOf(findings, to)?.median;
      if (reference === undefined || reference === 0) return [];
      return findings
        .filter(({ system }) => systems.includes(system))
        .map(({ system, point, values }) => ({
          name: systems.length === 1 ? point : `${system} at ${point}`,
          value: spreadOf(values).median / reference,
        }));
    });
  }

  /** Each system's medians at each point. */
  medians(
    scenario: string,
    measure: string,
    systems: readonly SystemName[],
  ): readonly NamedFigure[] {
    return this.of(scenario, measure)
      .filter(({ system }) => systems.includes(system))
      .map(({ system, point, values }) => ({
        name: systems.length === 1 ? point : `${system} at ${point}`,
        value: spreadOf(values).median,
      }));
  }

  /**
   * The ratio of each system's median, after the varied quantity has grown, to the median before.
   *
   * @param reference the value from which the growth counts; the least one when absent
   * @param isLinear whether the median may grow like the varied quantity; only the growth beyond that counts then
   */
  growth(
    scenario: string,
    measure: string,
    systems: readonly SystemName[],
    { reference, isLinear = false }: { readonly reference?: number; readonly isLinear?: boolean },
  ): readonly NamedFigure[] {
    return systems.flatMap((system) => {
      const marks = this.of(scenario, measure)
        .filter((finding) => finding.system === system)
        .map(({ at, values }) => ({ value: at?.value ?? 0, median: spreadOf(values).median }))
        .sort((left, right) => left.value - right.value);
      const first = marks.find(({ value }) => value === reference) ?? marks[0];
      const last = marks.at(-1);
      if (first === undefined || last === undefined || first.value >= last.value) return [];
      const allowed = isLinear ? last.value / first.value : 1;
      const name = `${system} from ${figure(first.value)} to ${figure(last.value)}`;
      return [{ name, value: last.median / first.median / allowed }];
    });
  }

  #where(wanted: (finding: Finding) => boolean): Found {
    return new Found(
      this.#scenarios.map((scenario) => ({
        ...scenario,
        findings: scenario.findings.filter(wanted),
      })),
    );
  }
}

function keeps({ is, value }: Bound, reached: number): boolean {
  switch (is) {
    case "at least":
      return reached >= value;
    case "at most":
      return reached <= value;
    case "above":
      return reached > value;
  }
}
