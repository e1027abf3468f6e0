import { describe, expect, it } from "vitest";
import { dollars, figure } from "./figure.ts";
import { scenarioTables } from "./scenario-tables.ts";
import { markdownTable, plainTable } from "./table.ts";
import { finding } from "./finding.ts";

const tables = scenarioTables({
  name: "fan-out",
  question: "How many?",
  findings: [
    finding("durable-limit", [400_000]),
    finding("channel", [300_000, 310_000, 200_000], { limitedByLoad: true }),
    finding("ws", [100_000]),
  ],
});
const table = tables[0]?.table ?? { heads: [], rows: [], right: [] };

describe("the table of a measure", () => {
  it("has each system's median, range and ratios, and marks load-bound figures", () => {
    expect(tables[0]?.title).toBe("deliveries a second (higher is better)");
    expect(table.heads).toEqual(["at", "system", "median", "range", "× limit", "× best other", ""]);
    expect(table.rows).toEqual([
      ["4 publishers", "channel", "300,000", "200,000 – 310,000", "0.75", "3.00", "load-bound"],
      ["", "durable-limit", "400,000", "", "", "", ""],
      ["", "ws", "100,000", "", "", "", ""],
    ]);
  });

  it("has the ratio to each peer", () => {
    const findings = [finding("gateway", [6]), finding("peer:a", [2]), finding("peer:b", [3])];
    const [one] = scenarioTables({ name: "x", question: "?", findings });
    expect(one?.table.heads).toEqual(["at", "system", "median", "× peer:a", "× peer:b"]);
    expect(one?.table.rows[0]).toEqual(["4 publishers", "gateway", "6", "3.00", "2.00"]);
    expect(one?.table.right).toEqual([2, 3, 4]);
  });

  it("leaves out empty columns", () => {
    const [one] = scenarioTables({ name: "x", question: "?", findings: [finding("ws", [1])] });
    expect(one?.table.heads).toEqual(["at", "system", "median"]);
  });

  it("is aligned in a terminal", () => {
    const [head = "", ...lines] = plainTable(table).split("\n");
    const end = head.indexOf("median") + "median".length;
    expect(lines.map((line) => line.slice(0, end).trimEnd().length)).toEqual([end, end, end]);
  });

  it("escapes bars in Markdown cells", () => {
    expect(markdownTable({ heads: ["a|b", "n"], rows: [["x", "1"]], right: [1] })).toBe(
      "| a\\|b | n |\n| --- | ---: |\n| x | 1 |",
    );
  });
});

describe("a figure", () => {
  it.each([
    [0, "0"],
    [5, "5"],
    [123_456.7, "123,457"],
    [12.345, "12.3"],
    [0.012_345, "0.0123"],
    [-0.5, "-0.5"],
  ])("shows %d as %s", (value, text) => {
    expect(figure(value)).toBe(text);
  });

  it("is in dollars with cents, or with three significant digits below one", () => {
    expect([dollars(1_234.5), dollars(0.001_45), dollars(0)]).toEqual([
      "$1,234.50",
      "$0.00145",
      "$0",
    ]);
  });
});
