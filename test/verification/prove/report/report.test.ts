import { describe, expect, it } from "vitest";
import { Checker } from "../../checker/checker.ts";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { RunTimeline } from "./run-timeline.ts";
import { page } from "./page.ts";
import type { RunReport } from "./run-report.ts";
import { summary, resultLine } from "./summary.ts";

const channel = "keep:<a>";

const cursors = { process: "cursors", time: 4_200_001, channel } as const;
const mark = { f: "mark", user: "ada", call: "1" } as const;

const receipt = { user: "ada", epoch: "e", read: 0, atMs: 1 } as const;

/** A client subscribes, receives publications, is cut off for 2.5 s and recovers; a fault surrounds each phase. */
const good: readonly HistoryEvent[] = [
  { f: "channel", type: "info", process: "prove", time: 0, channel, recovery: "stream" },
  subscribed(1_000, false),
  ...published(2_000, "p1-1", 1),
  delivered(3_000, "p1-1", 1),
  { f: "fault", type: "invoke", process: "fault-1", time: 1_000_000, kind: "cut", target: "" },
  { f: "detach", type: "info", process: "s1", time: 1_001_000, channel },
  ...published(1_500_000, "p1-2", 2),
  { f: "fault", type: "info", process: "fault-1", time: 2_000_000, kind: "cut", target: "1" },
  subscribed(3_501_000, true),
  delivered(3_501_000, "p1-2", 2),
  hooked(4_000_000, "subscribe", "right"),
  hooked(4_000_001, "rpc", "late"),
  hooked(4_000_002, "rpc", "right"),
  { f: "events", type: "info", process: "prove", time: 4_000_003, channels: [], keepMax: 3 },
  told(4_100_000),
  told(4_200_000),
  { ...cursors, f: "cursors", type: "info", audience: "named", notifyAfterMs: 1, unreadMax: 9 },
  { ...cursors, ...mark, type: "invoke", epoch: "e", offset: 0, own: true },
  { ...cursors, ...mark, type: "ok", epoch: "e", read: 0 },
  { ...cursors, process: "s1", f: "receipts", type: "ok", entries: [receipt] },
  { ...cursors, f: "marks", type: "ok", epoch: "e", marks: [receipt] },
  ...grown(4_300_000),
  { f: "settled", type: "info", process: "prove", time: 5_000_000 },
];

function subscribed(time: number, recovers: boolean): HistoryEvent {
  const position = { epoch: "e", offset: recovers ? 1 : 0 };
  const reply = { client: "c", recovering: recovers, recovered: recovers, ...position };
  return { f: "subscribe", type: "ok", process: "s1", time, channel, ...reply };
}

function published(time: number, value: string, offset: number): readonly HistoryEvent[] {
  const publish = { f: "publish", process: "p1", channel, value } as const;
  return [
    { ...publish, type: "invoke", time },
    { ...publish, type: "ok", time: time + 500, offset, epoch: "e" },
  ];
}

function delivered(time: number, value: string, offset: number): HistoryEvent {
  return { f: "deliver", type: "ok", process: "s1", time, channel, value, offset };
}

function hooked(time: number, hook: "subscribe" | "rpc", answer: string): HistoryEvent {
  const what = { f: "hook", type: "fail", process: "hooks", client: "c", value: "x" } as const;
  return { ...what, time, hook, answer };
}

function told(time: number): HistoryEvent {
  const about = { object: "home/7", number: 101, first: true, user: "ada" } as const;
  return { f: "event", type: "ok", process: "events", time, event: "user_online", ...about };
}

/** A text of which a crash takes back a character. */
function grown(time: number): readonly HistoryEvent[] {
  const append = { f: "append", process: "w", channel: "text:a", key: "k" } as const;
  return [
    { ...append, type: "invoke", time, at: 0, text: "ab" },
    { ...append, type: "ok", time: time + 1, length: 2, epoch: "e" },
    { ...append, type: "invoke", time: time + 2, at: 2, text: "c" },
    { ...append, type: "ok", time: time + 3, length: 3, epoch: "e" },
    { ...append, type: "invoke", time: time + 4, at: 3, text: "d" },
    { ...append, type: "ok", time: time + 5, length: 2, refused: "length_mismatch" },
  ];
}

function reportOn(events: readonly HistoryEvent[]): RunReport {
  const checker = new Checker();
  const timeline = new RunTimeline();
  for (const event of events) {
    checker.take(event);
    timeline.take(event);
  }
  return {
    command: "npm run prove -- --seed 7",
    subject: "Dormouse",
    date: "2026-11-21",
    machine: "a machine",
    seconds: 5,
    pingIntervalMs: 2_000,
    result: checker.finish(),
    timeline,
  };
}

const bad = reportOn(good.filter(({ f, time }) => f !== "deliver" || time < 1_000_000));

describe("the report of a run without violations", () => {
  const report = reportOn(good);

  it("says so, with the command that repeats the run", () => {
    expect(resultLine(report)).toMatch(/^VERDICT: held\..*npm run prove -- --seed 7$/);
    expect(page(report)).toContain("<h1>Held</h1>");
  });

  it("counts deliveries, faults and recoveries", () => {
    const text = summary(report);
    expect(text).toContain("2 checked, at 1 subscribers of 1 channels");
    expect(text).toContain("faults        1: cut 1");
    expect(text).toContain("recoveries    1, median 2500 ms, 99 % within 2500 ms");
  });

  it("counts how the backend of the hooks answered", () => {
    expect(summary(report)).toContain("hooks         3 answers of a backend: right 2, late 1;");
    const html = page(report);
    expect(html).toContain("<th>hook</th><th>right</th><th>late</th>");
    expect(html).toContain("<td>rpc</td><td>1</td><td>1</td>");
  });

  it("counts the events that a backend was told", () => {
    expect(summary(report)).toContain("events        1 told to a backend, 1 of them again");
    expect(page(report)).toContain("<td>user_online</td><td>1</td>");
  });

  it("counts what was said of users' marks", () => {
    expect(summary(report)).toContain(
      "cursors       1 marks, 0 counts of unread, 0 proofs of arrival compared; 0 unseen, 0 seen told",
    );
  });

  it("counts what clients were shown of users' marks", () => {
    expect(summary(report)).toContain(
      "receipts      1 marks shown to clients compared, 1 clients compared with all marks in the end",
    );
  });

  it("counts texts that grow, and how often a crash took some of one back", () => {
    expect(summary(report)).toContain("texts         1 that grow: 2 appends, 1 loss in a crash,");
    expect(page(report)).toContain("<td>texts</td><td>1 that grow: 2 appends,");
  });

  it("draws the deliveries of each second, and the faults", () => {
    const { deliveries, faults } = report.timeline;
    expect(deliveries).toEqual([1, 0, 0, 1]);
    expect(faults).toEqual([{ kind: "cut", target: "1", from: 1_000_000, to: 2_000_000 }]);
    const svg = /<svg[\s\S]*<\/svg>/.exec(page(report))?.[0] ?? "";
    expect(svg).toContain(">cut</text>");
    expect(svg.match(/<rect /g)).toHaveLength(1);
  });
});

describe("the report of a run with a loss", () => {
  it("names the publication, the channel and the subscriber", () => {
    expect(resultLine(bad)).toContain("VERDICT: violated (1 lost)");
    expect(summary(bad)).toMatch(
      /^lost \(\w+\) at \d+\.\d{3} s, s1 on keep:<a>: s1 never received p1-2/m,
    );
    expect(summary(bad)).toContain("losses by place: 1 ");
  });

  it("escapes text of the run", () => {
    const html = page(bad);
    expect(html).toContain("<h1>Violated</h1>");
    expect(html).toContain("keep:&lt;a>");
    expect(html).not.toContain("keep:<a>");
  });
});
