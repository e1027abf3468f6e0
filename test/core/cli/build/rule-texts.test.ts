import { describe, expect, it } from "vitest";
import { ruleTexts } from "../../../../cli/build/rule-texts.ts";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import { ruleIds, rulesIn, sourceFiles } from "../../docs/citations.ts";

describe("[N21] the rules that the console shows", () => {
  const rules = ruleTexts();

  it("are all rules that there are", () => {
    expect(Object.keys(rules).toSorted()).toEqual(ruleIds(rulesIn(sourceFiles())).toSorted());
    for (const { part, text } of Object.values(rules)) {
      expect(part).toMatch(/^[A-Z][a-z' -]+/i);
      expect(text).toMatch(/^\S.{10,}\S$/);
    }
  });

  it("have the title of their part, and are one line without marks of Markdown but for code", () => {
    expect(rules["O1"]).toEqual({
      part: "Order",
      text:
        "The publications of a channel have one total order. Offsets start at 1 and have no holes. Every subscriber " +
        "receives the publications in that order.",
    });
    expect(rules["CU3"]?.part).toBe("Cursors");
    expect(rules["Z3"]?.part).toBe("Maps");
    for (const { text } of Object.values(rules)) expect(text).not.toMatch(/\*\*|\]\(|\n/);
  });

  it("say what a bound is that they name", () => {
    expect(metricsLimits.metricsPlotMs).toBe(120_000);
    expect(rules["J10"]?.text).toContain("`limits.metricsPlotMs` (120,000)");
    const all = Object.values(rules).map(({ text }) => text);
    const named = [...all.join("\n").matchAll(/`limits\.(?!ts`)\w+`( \()?/g)];
    expect(named.filter(([, value]) => value === undefined).map(([bound]) => bound)).toEqual([]);
  });
});
