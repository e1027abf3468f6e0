import { describe, expect, it } from "vitest";
import type { CollectedMetrics } from "../../../../src/features/metrics/metrics-report.ts";
import { metrics } from "../../../../src/features/metrics/catalogue.ts";
import { exposition } from "../../../../src/features/metrics/exposition.ts";

function collected(more: Partial<CollectedMetrics>): CollectedMetrics {
  return { counters: [], histograms: [], gauges: [], ...more };
}

const accepted = "centrifugo_client_connections_accepted";
const refusals = 'dormouse_refusals_total{refused="subscribe",rule="A1"}';
const parts = [
  collected({
    counters: [
      { series: refusals, added: 2 },
      { series: accepted, added: 4 },
    ],
    gauges: [{ series: "centrifugo_node_num_clients", value: 3 }],
  }),
  collected({
    counters: [{ series: accepted, added: 5 }],
    gauges: [{ series: "centrifugo_node_num_clients", value: 1 }],
  }),
];

describe("metrics as text", () => {
  it("are Prometheus' format, with the sums of all collecting objects", () => {
    expect(exposition(parts)).toBe(
      [
        "# HELP centrifugo_client_connections_accepted Connects that were accepted.",
        "# TYPE centrifugo_client_connections_accepted counter",
        "centrifugo_client_connections_accepted 9",
        "# HELP centrifugo_node_num_clients Connections whose connect was accepted.",
        "# TYPE centrifugo_node_num_clients gauge",
        "centrifugo_node_num_clients 4",
        "# HELP dormouse_refusals_total What was refused, by the rule in src/SPEC.md.",
        "# TYPE dormouse_refusals_total counter",
        'dormouse_refusals_total{refused="subscribe",rule="A1"} 2',
        "",
      ].join("\n"),
    );
  });

  it("have cumulative buckets", () => {
    const name = "dormouse_fan_out_seconds";
    const counts = [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4];
    const text = exposition([
      collected({ histograms: [{ series: `${name}{a="b"}`, sum: 7.5, counts }] }),
    ]);
    expect(text).toContain(`${name}_bucket{a="b",le="0.001"} 1\n`);
    expect(text).toContain(`${name}_bucket{a="b",le="0.01"} 3\n`);
    expect(text).toContain(`${name}_bucket{a="b",le="5"} 3\n`);
    expect(text).toContain(`${name}_bucket{a="b",le="+Inf"} 7\n`);
    expect(text).toContain(`${name}_sum{a="b"} 7.5\n${name}_count{a="b"} 7\n`);
  });

  it("[V1] show a series of another release without its type", () => {
    const counters = [{ series: "of_tomorrow_total", added: 1 }];
    expect(exposition([collected({ counters })])).toBe("of_tomorrow_total 1\n");
  });

  it("have names that Prometheus takes, and a counter of ours ends with _total", () => {
    for (const [name, { type }] of Object.entries(metrics)) {
      expect(name).toMatch(/^(?:centrifugo|dormouse)_[a-z_]+$/);
      const isOurs = name.startsWith("dormouse_");
      expect(name.endsWith("_total") || !isOurs).toBe(type === "counter" || !isOurs);
    }
  });
});
