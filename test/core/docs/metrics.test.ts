import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { metrics } from "../../../src/features/metrics/catalogue.ts";

const page = readFileSync("docs/metrics.md", "utf8");
const dashboard = readFileSync("docs/grafana-dashboard.json", "utf8");

const alerts: Alerts = parse(readFileSync("docs/prometheus-alerts.yaml", "utf8"));

interface Alerts {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}

/** The labels of a metric, as the page lists them. */
function labelsOf(metric: string): readonly string[] {
  const [, cell = ""] = new RegExp(`^\\| \`${metric}\` \\| ([^|]*)\\|`, "m").exec(page) ?? [];
  return Array.from(cell.matchAll(/`(\w+)`/g), ([, label = ""]) => label);
}

const named = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\b(?:centrifugo|dormouse)_[a-z_]+/g)].map(([name]) => name))]
    .map((name) => name.replace(/_bucket$/, ""))
    .toSorted();

describe("the documentation of metrics", () => {
  it("names every metric, and no other one", () => {
    const listed = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toStrictEqual(Object.keys(metrics).toSorted());
  });

  it("comes with alerts on metrics and labels that there are", () => {
    const rules = alerts.groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, labels, annotations, ...others } of rules) {
      expect(alert).toMatch(/^Dormouse[A-Z]\w+$/);
      expect(others.for).toMatch(/^\d+m$/);
      expect(["warning", "critical"]).toContain(labels["severity"]);
      expect(Object.keys(annotations)).toEqual(["summary", "description"]);
      const used = named(expr).map((name) =>
        name.replace(/_count$/, (end) => (name in metrics ? end : "")),
      );
      expect(Object.keys(metrics)).toEqual(expect.arrayContaining(used));
      // Brackets of each kind are closed, and each matcher and each `by` names a label of its metric.
      for (const [open, close] of ["()", "{}", "[]"])
        expect(expr.split(open ?? "").length).toBe(expr.split(close ?? "").length);
      const known = [...used.flatMap(labelsOf), "le"];
      const matched = Array.from(expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label = ""]) => label);
      const grouped = Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, list = ""]) =>
        list.split(", "),
      );
      const shown = Object.values(annotations).flatMap((text) =>
        Array.from(text.matchAll(/\$labels\.(\w+)/g), ([, label = ""]) => label),
      );
      expect(known).toEqual(expect.arrayContaining([...matched, ...grouped.flat(), ...shown]));
      expect(grouped.flat()).toEqual(expect.arrayContaining(shown));
    }
  });

  it("comes with a dashboard that shows every metric", () => {
    expect(named(dashboard)).toStrictEqual(Object.keys(metrics).toSorted());
  });
});
