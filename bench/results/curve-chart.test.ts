import { describe, expect, it } from "vitest";
import { curveChart } from "./curve-chart.ts";
import { curvesOf } from "./curve.ts";
import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";
import { finding } from "./finding.ts";

const across = (system: SystemName, values: readonly number[], at: number, axis = "publishers") =>
  finding(system, values, { point: `${at} publishers`, at: { axis, value: at } });

const findings = [
  across("ws", [100, 90, 120], 1),
  across("ws", [200], 4),
  across("channel", [300], 4),
  across("channel", [150], 1),
];

const curves = (found: readonly Finding[]) =>
  curvesOf({ name: "fan-out", question: "How many?", findings: found });

function chart(found: readonly Finding[]): string {
  const [curve] = curves(found);
  if (curve === undefined) throw new Error("No curve");
  return curveChart(curve);
}

describe("the curves of a scenario", () => {
  it("has a line for each system, through its values in their order", () => {
    const [curve] = curves(findings);
    expect(curve).toMatchObject({
      name: "fan-out-deliveries-a-second-over-publishers",
      title: "fan-out: deliveries a second",
      across: "publishers",
    });
    expect(
      curve?.lines.map(({ system, marks }) => [system, marks.map(({ value }) => value)]),
    ).toEqual([
      ["channel", [1, 4]],
      ["ws", [1, 4]],
    ]);
  });

  it("draws each measure and each axis in a chart of its own", () => {
    const others = findings.map((each) => ({ ...each, measure: "answer to a post, p99" }));
    const sizes = [across("ws", [1], 10, "history"), across("ws", [2], 100, "history")];
    expect(curves([...findings, ...others, ...sizes]).map(({ name }) => name)).toEqual([
      "fan-out-deliveries-a-second-over-publishers",
      "fan-out-answer-to-a-post-p99-over-publishers",
      "fan-out-deliveries-a-second-over-history",
    ]);
  });

  it("draws no chart of figures without a varied quantity", () => {
    expect(curves([finding("ws", [1]), across("ws", [1], 4), across("limit", [1], 4)])).toEqual([]);
  });
});

describe("the chart of a curve", () => {
  const svg = chart(findings);

  it("is well-formed", () => {
    expect(wellFormed(svg)).toBe(true);
    expect(wellFormed(svg.replace("</g>", ""))).toBe(false);
  });

  it("has a line and a legend entry for each system, in its own colour", () => {
    const lines = [...svg.matchAll(/<g data-system="([^"]+)" stroke="([^"]+)"/g)];
    expect(lines.map(([, system]) => system)).toEqual(["channel", "ws"]);
    expect(new Set(lines.map(([, , colour]) => colour)).size).toBe(2);
    expect(svg).toContain(">channel</text>");
    expect(svg).toContain(">ws</text>");
  });

  it("shows the range only where rounds differ", () => {
    expect(svg.match(/stroke-width="1.5"/g)).toHaveLength(1);
    expect(svg.match(/<circle/g)).toHaveLength(4);
  });

  it("places larger values higher, and later ones to the right", () => {
    const [, points = ""] = /data-system="channel".*?points="([^"]+)"/.exec(svg) ?? [];
    const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = points
      .split(" ")
      .map((point) => point.split(",").map(Number));
    expect(x2).toBeGreaterThan(x1);
    // From 150 to 300 deliveries: halfway to the zero at the bottom.
    expect(y2).toBeLessThan(y1);
    expect((326 - y2) / (326 - y1)).toBeCloseTo(2, 1);
  });

  it("has a white background and its own width", () => {
    expect(svg).toContain('<rect width="760" height="380" fill="#ffffff"/>');
    expect(svg).toContain('viewBox="0 0 760 380"');
  });

  it("has labelled logarithmic axes if values span more than two decades", () => {
    expect(svg).not.toContain("(log)");
    const wide = chart([across("ws", [1], 10), across("ws", [500], 8_000)]);
    expect(wide).toContain("publishers (log)");
    expect(wide).toContain("deliveries a second (log)");
    expect(wellFormed(wide)).toBe(true);
  });

  it("draws zeros, also without other values", () => {
    const zeros = chart([across("ws", [0], 1), across("ws", [0], 4)]);
    expect(zeros).not.toMatch(/NaN|Infinity/);
    expect(chart([across("ws", [0], 1), across("ws", [1e6], 4)])).not.toMatch(/NaN|Infinity/);
  });

  it("escapes text", () => {
    const evil = [1, 4].map((at) =>
      finding("ws", [at], { measure: `<script>"&`, at: { axis: "publishers", value: at } }),
    );
    const drawn = chart(evil);
    expect(drawn).not.toContain("<script>");
    expect(drawn).toContain("&lt;script&gt;&quot;&amp;");
    expect(wellFormed(drawn)).toBe(true);
  });
});

/** Whether every tag is closed, attributes are quoted, and no tag is open at the end. */
function wellFormed(text: string): boolean {
  const open: string[] = [];
  const rest = text.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(\/?)>/g,
    (_, closing: string, name: string, _attributes: string, empty: string) => {
      if (closing === "") {
        if (empty === "") open.push(name);
      } else if (open.pop() !== name) open.push("never closed");
      return "";
    },
  );
  return open.length === 0 && !/[<>]|&(?!(?:amp|lt|gt|quot);)/.test(rest);
}
