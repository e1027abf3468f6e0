import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { metrics } from "../../../src/features/metrics/catalogue.ts";

const page = readFileSync("docs/metrics.md", "utf8");
const dashboard = readFileSync("docs/grafana-dashboard.json", "utf8");

const named = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\b(?:centrifugo|dormouse)_[a-z_]+/g)].map(([name]) => name))]
    .map((name) => name.replace(/_bucket$/, ""))
    .toSorted();

describe("the documentation of metrics", () => {
  it("names every metric, and no other one", () => {
    const listed = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toStrictEqual(Object.keys(metrics).toSorted());
  });

  it("comes with a dashboard that shows every metric", () => {
    expect(named(dashboard)).toStrictEqual(Object.keys(metrics).toSorted());
  });
});
