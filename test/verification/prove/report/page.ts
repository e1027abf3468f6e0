import { faultKinds } from "../faults/fault-kind.ts";
import { timelineChart } from "./timeline-chart.ts";
import { held, type RunReport } from "./run-report.ts";
import { countRows, resultLine, whole } from "./summary.ts";

/** The report as a page without external resources. */
export function page(report: RunReport): string {
  const { result, subject, date, machine, command, timeline } = report;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Proof of ${escaped(subject)}</title>
<style>${style}</style>
<h1>${held(report) ? "Held" : "Violated"}</h1>
<p class="${held(report) ? "held" : "violated"}">${escaped(resultLine(report))}</p>
<p>${escaped(subject)} on ${escaped(date)}, ${escaped(machine)}, ${Math.round(report.seconds)} s.</p>
<pre>${escaped(command)}</pre>
<h2>What happened</h2>
${timelineChart(timeline)}
<h2>Counts</h2>
${table(["", ""], countRows(report))}
<h2>Faults</h2>
${table(
  ["fault", "times", "description"],
  faultKinds.map(({ kind, meaning }) => [kind, whole(result.faults.get(kind) ?? 0), meaning]),
)}
${hooks(report)}
${events(report)}
${violations(report)}
</html>
`;
}

/** How the backend answered, a row for each hook and a column for each kind of answer. */
function hooks({ result }: RunReport): string {
  const { hookAnswers } = result;
  if (hookAnswers.size === 0) return "";
  const kinds = [...hookAnswers.keys()].map((kind) => kind.split(" "));
  const names = [...new Set(kinds.map(([name = ""]) => name))];
  const answers = [...new Set(kinds.map(([, answer = ""]) => answer))];
  const rows = names.map((name) =>
    [name].concat(answers.map((answer) => whole(hookAnswers.get(`${name} ${answer}`) ?? 0))),
  );
  return `<h2>Answers of the backend that the server asked</h2>
${table(["hook", ...answers], rows)}`;
}

/** The events that a backend was told, by their type. */
function events({ result }: RunReport): string {
  if (result.events.size === 0) return "";
  const rows = [...result.events].map(([type, count]) => [type, whole(count)]);
  return `<h2>Events</h2>
${table(["type", "told"], rows)}`;
}

function violations({ result, timeline }: RunReport): string {
  if (result.violations.length === 0) return "";
  const rows = result.violations.map(({ kind, place, channel, process, time, text }) => [
    ((time - timeline.from) / 1_000_000).toFixed(3),
    place === undefined ? kind : `${kind} (${place})`,
    channel,
    process,
    text,
  ]);
  const places = [...result.lossCounts]
    .map(([place, count]) => `${whole(count)} ${place}`)
    .join(", ");
  return `<h2>Violations</h2>
${places === "" ? "" : `<p>Losses by place: ${places}.</p>`}
${table(["s", "kind", "channel", "process", "description"], rows)}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((cell) => `<th>${escaped(cell)}</th>`).join("");
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`,
  );
  return `<table><tr>${head}</tr>${body.join("\n")}</table>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const style = `
:root { color-scheme: light dark; --line: #8884; --good: #2a8a4a; --bad: #c0392b }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto } svg { width: 100%; height: auto; font-size: 11px }
svg text { fill: currentColor } .deliveries { fill: var(--good); opacity: .6 } .fault rect { fill: var(--bad) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top }
.held { color: var(--good) } .violated { color: var(--bad) }
`;
