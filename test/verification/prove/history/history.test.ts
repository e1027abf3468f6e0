import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { microseconds } from "./clock.ts";
import { writeEdn } from "./edn-history.ts";
import { ednLine } from "./edn.ts";
import { EdnProcesses } from "./edn-processes.ts";
import { readHistory } from "./read-history.ts";
import { Recorder } from "./recorder.ts";

const odd = 'quote " backslash \\ line\nfeed \u0001 é 😀';

function delivery(time: number, value: string, offset?: number): HistoryEvent {
  const what = { time, process: "p", type: "ok", f: "deliver", channel: "c", value } as const;
  return offset === undefined ? what : { ...what, offset };
}

function publish(
  time: number,
  type: "invoke" | "ok" | "fail" | "info",
  value: string,
): HistoryEvent {
  return { time, process: "publisher", type, f: "publish", channel: "c", value };
}

async function write(file: string, events: readonly HistoryEvent[]): Promise<void> {
  const recorder = new Recorder(file);
  for (const event of events) recorder.record(event);
  await recorder.end();
}

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "history-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a history's files", () => {
  it("give back the recorded events, with any characters, over many pieces", async () => {
    const file = join(folder, "one");
    const events: HistoryEvent[] = [];
    for (let time = 0; time < 20_000; time++) {
      events.push(delivery(time, `${time} ${time % 7 === 0 ? odd : "é".repeat(time % 90)}`, time));
    }
    events.push(delivery(20_000, "without offset"), publish(20_000, "fail", odd));
    events.push({
      time: 20_001,
      process: "x",
      type: "ok",
      f: "presence",
      channel: "c",
      clients: [odd, "b"],
    });
    const recorder = new Recorder(file);
    for (const event of events) recorder.record(event);
    // A crash now would lose one piece at most.
    expect(readFileSync(file).length).toBeGreaterThan(256 * 1024);
    await recorder.end();
    expect(recorder.count).toBe(events.length);
    expect([...readHistory([file])]).toEqual(events);
  });

  it("are merged by time, and by the order of the files at the same time", async () => {
    const files = [join(folder, "one"), join(folder, "two"), join(folder, "none")];
    await write(files[0] ?? "", [delivery(1, "a"), delivery(5, "c"), delivery(5, "d")]);
    await write(files[1] ?? "", [delivery(2, "b"), delivery(5, "e"), delivery(6, "f")]);
    await write(files[2] ?? "", []);
    const values = [...readHistory(files)].map((event) => "value" in event && event.value);
    expect(values).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it.each([
    ["{", /one, line 2, isn't JSON/],
    ["7", /line 2, isn't an object/],
    ['{"time":"1"}', /line 2, has no time/],
    ['{"time":1,"process":"p","type":"ok","f":"dance"}', /line 2, is not an event: ok dance/],
    ['{"time":1,"process":"p","type":"ok","f":"deliver"}', /line 2, has no channel/],
    ['{"time":1,"process":"p","type":"ok","f":"deliver","channel":"c"}', /line 2, has no value/],
    ['{"time":1,"process":"p","type":"ok","f":"mark","channel":"c"}', /line 2, has no call/],
    ['{"time":1,"process":"p","type":"ok","f":"audience","channel":"c"}', /line 2, has no users/],
    ['{"time":1,"process":"p","type":"ok","f":"receipts","channel":"c"}', /line 2, has no entries/],
    ['{"time":0,"process":"p","type":"info","f":"settled"}', /line 2, goes back in time/],
  ])("are refused with file and line if a line is %s", (line, error) => {
    const file = join(folder, "one");
    writeFileSync(file, `${JSON.stringify(delivery(1, "a"))}\n${line}\n`);
    expect(() => [...readHistory([file])]).toThrow(error);
  });

  it("have times of a clock that never goes back", () => {
    const first = microseconds();
    expect(Number.isInteger(first)).toBe(true);
    expect(microseconds()).toBeGreaterThanOrEqual(first);
  });
});

describe("a history in EDN", () => {
  it("pairs each publish with its end in one process, one operation at a time", () => {
    const processes = new EdnProcesses();
    const outcomes = [
      publish(1, "invoke", "a"),
      publish(2, "invoke", "b"),
      publish(3, "ok", "a"),
      publish(4, "invoke", "c"),
      publish(5, "info", "b"),
      publish(6, "invoke", "d"),
      publish(7, "fail", "c"),
      publish(8, "ok", "b"),
    ].map((event, index) => ednLine(event, index, processes));
    const pairs = outcomes.map((line) =>
      /:process (\S+), :type (\S+),/.exec(line)?.slice(1).join(" "),
    );
    expect(pairs).toEqual([
      "0 :invoke",
      "1 :invoke",
      "0 :ok",
      "0 :invoke",
      "1 :info",
      // The outcome of process 1's operation is unknown.
      "2 :invoke",
      "0 :fail",
      ":publisher :info",
    ]);
  });

  it("has an event without an invocation as info of a named process", () => {
    const processes = new EdnProcesses();
    expect(ednLine({ ...delivery(3, odd, 4), process: "raw 1/é" }, 9, processes)).toBe(
      '{:index 9, :time 3000, :process :raw-1--, :type :info, :f :deliver, :value {:who "raw 1/é", :channel "c", ' +
        ':value "quote \\" backslash \\\\ line\\nfeed \\u0001 é 😀", :offset 4}}',
    );
    const fault = {
      time: 1,
      process: "7",
      type: "invoke",
      f: "fault",
      kind: "k",
      target: "t",
    } as const;
    expect(ednLine(fault, 0, processes)).toContain(":process :process-7, :type :info, :f :fault");
  });

  it("is written as one file, numbered from 0", async () => {
    const files = [join(folder, "one"), join(folder, "two")];
    await write(files[0] ?? "", [publish(1, "invoke", "a"), publish(3, "ok", "a")]);
    await write(files[1] ?? "", [delivery(2, "a")]);
    expect(writeEdn(files, join(folder, "edn"))).toBe(3);
    const written = readFileSync(join(folder, "edn"), "utf8").trimEnd().split("\n");
    expect(written.map((line) => /:index (\d+), :time (\d+)/.exec(line)?.slice(1))).toEqual([
      ["0", "1000"],
      ["1", "2000"],
      ["2", "3000"],
    ]);
  });
});
