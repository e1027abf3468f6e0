import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { priceBeginning } from "../../cli/price-page/price-page.ts";
import { judge } from "./judge.ts";
import { report } from "./report.ts";
import { type Results, readResults, resultsFormat } from "./results.ts";
import { goals } from "./targets.ts";
import { writeDocuments, writeResults } from "./written-results.ts";
import type { Finding } from "../scenarios/scenario.ts";
import { finding } from "./finding.ts";

const at = (value: number): Partial<Finding> => ({
  point: `${value} publishers`,
  at: { axis: "publishers", value },
});
const scenarios = [
  {
    name: "fan-out",
    question: "How many?",
    findings: [1, 64].flatMap((publishers) => [
      finding("channel", [100_000], at(publishers)),
      finding("durable-limit", [100_000], at(publishers)),
    ]),
  },
  {
    name: "counts",
    question: "What?",
    findings: [finding("channel", [1], { measure: "rows written per publication" })],
  },
  { name: "wake", question: "When?", findings: [], problem: "it never woke" },
];
const results: Results = {
  format: resultsFormat,
  command: "npm run bench",
  date: "2026-11-21",
  quick: false,
  rounds: 3,
  seconds: 60,
  machine: { processor: "P", cores: 2, memoryGibibytes: 8, system: "S", versions: { node: "26" } },
  loadAlone: { deliveriesPerSecond: 1_000_000, busy: 0.9 },
  scenarios,
  targets: judge(goals, scenarios),
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-results-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the files of a run", () => {
  it("can be read again, with a chart of each curve and none of an earlier run", () => {
    writeFileSync(join(folder, "old.svg"), "");
    writeResults(results, folder);
    expect(readdirSync(folder)).toEqual([
      "fan-out-deliveries-a-second-over-publishers.svg",
      "results.json",
    ]);
    expect(readResults(join(folder, "results.json"))).toEqual(results);
  });

  it("are refused if written in another format", () => {
    const file = join(folder, "results.json");
    writeFileSync(file, JSON.stringify({ ...results, format: 0 }));
    expect(() => readResults(file)).toThrow("run it again");
  });

  it("are pages in docs/performance, beside charts and pages of other scenarios", () => {
    const docs = join(folder, "docs/performance");
    mkdirSync(docs, { recursive: true });
    for (const name of ["fan-out-old.svg", "latency-old.svg", "latency.md"])
      writeFileSync(join(docs, name), "earlier");
    writeFileSync(join(folder, "docs/performance.md"), "prose");
    writeDocuments(results, folder);
    expect(readdirSync(docs)).toEqual([
      "cost.md",
      "counts.md",
      "fan-out-deliveries-a-second-over-publishers.svg",
      "fan-out.md",
      "latency-old.svg",
      "latency.md",
      "targets.md",
      "wake.md",
    ]);
    const page = (name: string) => readFileSync(join(docs, `${name}.md`), "utf8");
    expect(page("fan-out")).toContain("](fan-out-deliveries-a-second-over-publishers.svg)");
    expect(page("fan-out")).toContain("2026-11-21, on 2 × P, 8 GiB, S; node 26. `npm run bench`");
    expect(page("targets")).toContain("| (a) A channel socket's fan-out");
    expect(page("wake")).toContain("It failed: it never woke");
    expect(page("cost")).toContain(`-->\n\n${priceBeginning()}\n\n`);
    // 1 row for each publication at $1.00/M, and no requests but the backend's at $0.30/M, for 1,000 publications.
    expect(page("cost")).toMatch(
      /\| channel, 4 publishers \| 1,000 \| \$0\.0003 \| \$0 \| .* \| \$0\.001 \|/,
    );
    expect(page("latency")).toBe("earlier");
    expect(readFileSync(join(folder, "docs/performance.md"), "utf8")).toBe("prose");
  });

  it("leave the targets that weren't measured as an earlier run found them", () => {
    writeDocuments(results, folder);
    const targets = () => readFileSync(join(folder, "docs/performance/targets.md"), "utf8");
    const row = targets()
      .split("\n")
      .find((line) => line.includes("A channel socket's fan-out"));
    expect(row).toContain("| 2026-11-21 |");
    const later = { ...results, date: "2027-01-01", scenarios: [], targets: judge(goals, []) };
    writeDocuments(later, folder);
    expect(targets()).toContain(row);
    expect(targets()).toContain("2027-01-01, on");
  });

  it("have no bill if nothing was counted", () => {
    writeDocuments({ ...results, scenarios: scenarios.slice(0, 1) }, folder);
    expect(readdirSync(join(folder, "docs/performance"))).not.toContain("cost.md");
  });
});

describe("the printed report", () => {
  it("lists reached targets, unmeasured ones and failed scenarios", () => {
    const text = report(results);
    expect(text).toMatch(/^reached {8}\(a\) A channel socket's fan-out/m);
    expect(text).toContain("at least 0.90: 1 publishers 1.00, 64 publishers 1.00");
    expect(text).toMatch(/^not measured {3}\(d\)/m);
    expect(text).toContain("FAILED: wake: it never woke");
  });
});
