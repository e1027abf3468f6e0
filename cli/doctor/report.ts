/** What a run found, as a table and as JSON. */
import type { Paint } from "../shell.ts";
import { printable } from "../text/printable.ts";
import { table } from "../text/table.ts";
import type { Billed } from "./analytics.ts";
import { type Finding, type Measurement, spreadOf } from "./findings.ts";

/** What a run found of one server. */
export interface Report {
  readonly url: string;
  /** The release; "" if it isn't known. */
  readonly version: string;
  /** The data centre of Cloudflare that answered this machine; "" if there is none. */
  readonly dataCentre: string;
  readonly measurements: readonly Measurement[];
  readonly findings: readonly Finding[];
  /** What Cloudflare counted; absent if it wasn't asked, or didn't say. */
  readonly billed?: Billed;
  /** What ended the run before its end; absent if nothing did. */
  readonly ended?: string;
}

/** The data centre that a header `CF-Ray` names, such as FRA; "" without one. */
export function dataCentreOf(headers: Readonly<Record<string, string>>): string {
  return /-([A-Z]{3})$/.exec(headers["cf-ray"] ?? "")?.[1] ?? "";
}

/** Whether something isn't as it should be. */
export function isWrong({ findings, ended }: Report): boolean {
  return ended !== undefined || findings.some(({ verdict }) => verdict === "wrong");
}

/** The report as a person reads it. */
export function reportText(report: Report, paint: Paint): string {
  const { url, version, dataCentre, measurements, findings, ended } = report;
  const through = dataCentre === "" ? "" : `, through Cloudflare's data centre ${dataCentre}`;
  const parts = [`${paint.title(url)}  ${version}${through}`];
  if (measurements.length > 0) parts.push(measuredTable(measurements, paint));
  if (report.billed !== undefined) parts.push(billedTable(report.billed, paint));
  if (findings.length > 0) parts.push(checkedTable(findings, paint));
  parts.push(ended === undefined ? verdictLine(findings, paint) : paint.bad(ended));
  return parts.join("\n\n");
}

function measuredTable(measurements: readonly Measurement[], paint: Paint): string {
  const head = ["measured", "median", "worst", "times", ""].map(paint.title);
  const rows = measurements.map(({ name, samplesMs, lost, detail }) => {
    const spread = spreadOf(samplesMs);
    const more = [...(lost > 0 ? [`${lost} didn't come`] : []), ...(detail === "" ? [] : [detail])];
    return [
      name,
      spread === undefined ? "-" : msText(spread.medianMs),
      spread === undefined ? "-" : msText(spread.worstMs),
      String(samplesMs.length),
      paint.faint(printable(more.join("; "))),
    ];
  });
  return table([head, ...rows], [1, 2, 3]);
}

function billedTable(billed: Billed, paint: Paint): string {
  const rows = [
    ["requests of the Worker", String(billed.workerRequests)],
    ...[...billed.objectRequests].map(([type, count]) => [
      `requests of objects${type === "" ? "" : `, ${printable(type)}`}`,
      String(count),
    ]),
    ["messages to objects", String(billed.messages)],
    ["time of objects awake, GB-s", billed.gbSeconds.toFixed(1)],
    ["rows written", String(billed.rowsWritten)],
    ["rows read", String(billed.rowsRead)],
  ];
  return table([["counted by Cloudflare", ""].map(paint.title), ...rows], [1]);
}

function checkedTable(findings: readonly Finding[], paint: Paint): string {
  const colours = {
    good: paint.good,
    note: paint.caution,
    wrong: paint.bad,
    skipped: paint.faint,
  } as const;
  const rows = findings.flatMap((finding) => {
    const { verdict, name, text } = finding;
    const row = [colours[verdict](verdict), name, printable(text)];
    return verdict === "wrong" ? [row, ["", "  mend", printable(finding.mend)]] : [row];
  });
  return table([["checked", "", ""].map(paint.title), ...rows]);
}

function verdictLine(findings: readonly Finding[], paint: Paint): string {
  const wrong = findings.filter(({ verdict }) => verdict === "wrong").length;
  if (wrong === 0) return paint.good("nothing is wrong");
  return paint.bad(wrong === 1 ? "1 thing is wrong" : `${wrong} things are wrong`);
}

/** Some ms, with a digit behind the point while they are few. */
function msText(ms: number): string {
  return ms < 100 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

/** The report as JSON. */
export function reportJson(report: Report): object {
  const { url, version, dataCentre, measurements, findings, ended } = report;
  return {
    url,
    version,
    ...(dataCentre !== "" && { data_centre: dataCentre }),
    measured: measurements.map(({ name, samplesMs, lost, detail }) => {
      const spread = spreadOf(samplesMs);
      return {
        name,
        median_ms: spread && rounded(spread.medianMs),
        worst_ms: spread && rounded(spread.worstMs),
        times: samplesMs.length,
        lost: lost > 0 ? lost : undefined,
        detail: detail === "" ? undefined : detail,
      };
    }),
    ...(report.billed !== undefined && { billed: billedJson(report.billed) }),
    checked: findings,
    ...(ended !== undefined && { error: ended }),
    is_good: !isWrong(report),
  };
}

function billedJson(billed: Billed): object {
  return {
    worker_requests: billed.workerRequests,
    worker_errors: billed.workerErrors,
    object_requests: Object.fromEntries(billed.objectRequests),
    messages: billed.messages,
    gb_seconds: billed.gbSeconds,
    rows_written: billed.rowsWritten,
    rows_read: billed.rowsRead,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
