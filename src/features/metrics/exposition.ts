import type { CollectedMetrics } from "./metrics-report.ts";
import { buckets, type Metric, metricNamed } from "./catalogue.ts";
import { sumsOf } from "./sums.ts";

/** The content type of Prometheus' text format 0.0.4. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * The metrics in the text format of Prometheus. Those of several collecting objects are added up. A scraper that asks for
 * OpenMetrics gets this format as well, as from Centrifugo: OpenMetrics would want `_total` at the end of each counter,
 * and one metric would have two names.
 *
 * @param parts the totals of all collecting objects
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function exposition(parts: readonly CollectedMetrics[]): string {
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
    samplesOf(name).push(`${name}${labels} ${value}`);
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
    lines.push(...header(name, metricNamed(name)), ...(families.get(name) ?? []));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function header(name: string, metric: Metric | undefined): readonly string[] {
  if (metric === undefined) return [];
  return [`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`];
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
