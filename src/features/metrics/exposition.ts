import type { CollectedMetrics } from "./metrics-report.ts";
import { buckets, type Metric, metricNamed } from "./catalogue.ts";
import { sumsOf } from "./sums.ts";

/** The formats in which metrics are read: Prometheus' text format 0.0.4, and OpenMetrics 1.0. */
export type ExpositionFormat = "prometheus" | "openmetrics";

/** The content type of each format. */
export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** The format that a scraper asks for in its Accept header. */
export function formatFor(accept: string): ExpositionFormat {
  return accept.includes("application/openmetrics-text") ? "openmetrics" : "prometheus";
}

/**
 * The metrics as text. Those of several collecting objects are added up.
 *
 * @param parts the totals of all collecting objects
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
export function exposition(parts: readonly CollectedMetrics[], format: ExpositionFormat): string {
  const { counters, gauges, histograms } = sumsOf(parts);
  const families = new Map<string, string[]>();
  const samplesOf = (name: string): string[] => {
    const known = families.get(name);
    if (known !== undefined) return known;
    const samples: string[] = [];
    families.set(name, samples);
    return samples;
  };
  for (const [series, value] of counters) {
    const [name, labels] = split(series);
    samplesOf(name).push(`${sampleName(name, format)}${labels} ${value}`);
  }
  for (const [series, value] of gauges) {
    const [name, labels] = split(series);
    samplesOf(name).push(`${name}${labels} ${value}`);
  }
  for (const { series, sum, counts } of histograms) {
    const [name, labels] = split(series);
    samplesOf(name).push(...histogramSamples(name, labels, sum, counts));
  }
  const lines: string[] = [];
  for (const name of [...families.keys()].toSorted()) {
    lines.push(...header(name, metricNamed(name), format), ...(families.get(name) ?? []));
  }
  if (format === "openmetrics") lines.push("# EOF");
  return lines.map((line) => `${line}\n`).join("");
}

/** OpenMetrics wants each sample of a counter to end with `_total`, and names the counter without that. */
function sampleName(name: string, format: ExpositionFormat): string {
  return format === "prometheus" || name.endsWith("_total") ? name : `${name}_total`;
}

function header(
  name: string,
  metric: Metric | undefined,
  format: ExpositionFormat,
): readonly string[] {
  if (metric === undefined) return [];
  const isCounter = metric.type === "counter" && format === "openmetrics";
  const family = isCounter ? name.replace(/_total$/, "") : name;
  return [`# HELP ${family} ${metric.help}`, `# TYPE ${family} ${metric.type}`];
}

function histogramSamples(
  name: string,
  labels: string,
  sum: number,
  counts: readonly number[],
): readonly string[] {
  const ends = buckets[metricNamed(name)?.buckets ?? "requests"];
  let count = 0;
  const samples = counts.map((added, bucket) => {
    count += added;
    return `${name}_bucket${withLabel(labels, "le", String(ends[bucket] ?? "+Inf"))} ${count}`;
  });
  return [...samples, `${name}_sum${labels} ${sum}`, `${name}_count${labels} ${count}`];
}

function withLabel(labels: string, name: string, value: string): string {
  const pair = `${name}="${value}"`;
  return labels === "" ? `{${pair}}` : `${labels.slice(0, -1)},${pair}}`;
}

/** A series' metric, and its labels in braces. */
function split(series: string): readonly [name: string, labels: string] {
  const brace = series.indexOf("{");
  return brace < 0 ? [series, ""] : [series.slice(0, brace), series.slice(brace)];
}
