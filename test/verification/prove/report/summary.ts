import { faultKinds } from "../faults/fault-kind.ts";
import { held, recoveryFigures, type RunReport } from "./run-report.ts";

/** The report as lines for a terminal, with the result last. */
export function summary(report: RunReport): string {
  const counts = countRows(report).map(([name, text]) => `${name.padEnd(13)} ${text}`);
  return [
    `${report.subject}, ${Math.round(report.seconds)} s`,
    ...counts,
    ...violationLines(report),
    resultLine(report),
  ].join("\n");
}

/** What was counted: a name, and a text for each. */
export function countRows(report: RunReport): readonly (readonly [name: string, text: string])[] {
  const { result, timeline } = report;
  const { counts } = result;
  const recovery = recoveryFigures(result);
  const faults = faultKinds.flatMap(({ kind }) => {
    const count = result.faults.get(kind) ?? 0;
    return count === 0 ? [] : [`${kind} ${count}`];
  });
  return [
    [
      "deliveries",
      `${whole(counts.deliveries)} checked, at ${counts.subscribers} subscribers of ${counts.channels} channels`,
    ],
    [
      "publications",
      `${whole(counts.published)}: ${whole(counts.acknowledged)} acknowledged, ${whole(counts.refused)} refused, ${whole(counts.unknown)} of unknown outcome (${whole(counts.unknownReceived)} delivered)`,
    ],
    ["faults", `${whole(timeline.faults.length)}: ${faults.join(", ")}`],
    [
      "recoveries",
      `${whole(counts.recoveries)}, median ${recovery.median} ms, 99 % within ${recovery.p99} ms, all within ${recovery.most} ms`,
    ],
    [
      "signals",
      `${whole(counts.signals)} of insufficient state, ${whole(counts.failedRecoveries)} failed recoveries`,
    ],
    ["presence", `${whole(counts.presenceChecks)} channels compared`],
    [
      "maps",
      `${whole(counts.mapChanges)} changes, ${whole(counts.mapStates)} states of clients compared`,
    ],
    ["cursors", cursorCounts(report)],
    [
      "receipts",
      `${whole(counts.receipts)} marks shown to clients compared, ${whole(counts.receiptStates)} clients compared with all marks in the end`,
    ],
    ["texts", textCounts(report)],
    ["banks", bankCounts(report)],
    ["changes", changeCounts(report)],
    ["orders", `${whole(counts.orders)} for users, acknowledged`],
    [
      "events",
      `${whole(sum(result.events))} told to a backend, ${whole(counts.repeatedEvents)} of them again`,
    ],
    [
      "hooks",
      `${whole(sum(result.hookAnswers))} answers of a backend: ${answerCounts(report)}; ${whole(counts.calls)} calls compared`,
    ],
  ];
}

/** The result in one line. */
export function resultLine(report: RunReport): string {
  const { result } = report;
  if (held(report)) {
    return `VERDICT: held. Nothing was lost, doubled or reordered without a signal. Again: ${report.command}`;
  }
  const kinds = [...result.violationCounts].map(([kind, count]) => `${whole(count)} ${kind}`);
  return `VERDICT: violated (${kinds.join(", ")}). Again: ${report.command}`;
}

function violationLines({ result, timeline }: RunReport): readonly string[] {
  const lines = result.violations
    .slice(0, shownMax)
    .map(({ kind, place, channel, process, time, text }) => {
      const second = ((time - timeline.from) / 1_000_000).toFixed(3);
      const where = place === undefined ? "" : ` (${place})`;
      return `${kind}${where} at ${second} s, ${process} on ${channel}: ${text}`;
    });
  const places = [...result.lossCounts].map(([place, count]) => `${whole(count)} ${place}`);
  if (places.length > 0) lines.push(`losses by place: ${places.join(", ")}`);
  return lines;
}

/** What was said of what users have got and read. */
function cursorCounts({ result }: RunReport): string {
  const { marks, unreadCounts, arrivals } = result.counts;
  const [unseen, seen] = ["unseen", "seen"].map((type) => whole(result.events.get(type) ?? 0));
  return `${whole(marks)} marks, ${whole(unreadCounts)} counts of unread, ${whole(arrivals)} proofs of arrival compared; ${unseen} unseen, ${seen} seen told`;
}

function textCounts({ result }: RunReport): string {
  const { texts, appends, takenBack, states } = result.counts.growth;
  const losses = `${whole(takenBack)} ${takenBack === 1 ? "loss" : "losses"} in a crash`;
  return `${whole(texts)} that grow: ${whole(appends)} appends, ${losses}, ${whole(states)} states of clients compared`;
}

function bankCounts({ result }: RunReport): string {
  const { transfers, promises, statements } = result.counts.banks;
  return `${whole(transfers)} transfers and ${whole(promises)} promises asked for, ${whole(statements)} statements compared`;
}

function changeCounts({ result }: RunReport): string {
  const { published, changes, shown, reads } = result.counts.changes;
  return `${whole(changes)} of ${whole(published)} publications, ${whole(shown)} shown to clients and ${whole(reads)} histories compared`;
}

/** How often the backend of the hooks answered in each way, whatever it was asked. */
function answerCounts({ result }: RunReport): string {
  const counts = new Map<string, number>();
  for (const [kind, count] of result.hookAnswers) {
    const [, answer = ""] = kind.split(" ");
    counts.set(answer, (counts.get(answer) ?? 0) + count);
  }
  return [...counts].map(([answer, count]) => `${answer} ${whole(count)}`).join(", ");
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

/** A number with thousands separators. */
export function whole(count: number): string {
  return count.toLocaleString("en-US");
}

const shownMax = 20;
