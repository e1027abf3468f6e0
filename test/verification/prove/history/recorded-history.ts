import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { readHistory } from "./read-history.ts";
import { Recorder } from "./recorder.ts";

/** What a test records. */
export interface RecordedHistory {
  readonly recorder: Recorder;
  /** Ends the recording, and gives the events. */
  readonly events: () => Promise<readonly HistoryEvent[]>;
}

/** A history for each test of a file. @returns gives that of the test that runs */
export function recordedHistory(): () => RecordedHistory {
  let folder = "";
  let history: RecordedHistory;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "prove-"));
    const file = join(folder, "history.jsonl");
    const recorder = new Recorder(file);
    history = {
      recorder,
      events: async () => {
        await recorder.end();
        return [...readHistory([file])];
      },
    };
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  return () => history;
}
