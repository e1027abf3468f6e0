/** The results of a run, as they are kept in a file and read again. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Place } from "./places.ts";
import type { FileRun, Level } from "./runner-process.ts";

/** What the tests of one level said of a mutant. */
export type Verdict =
  | {
      readonly outcome: "noticed";
      readonly file: string;
      readonly test: string;
      readonly message: string;
    }
  /** None of the files that come to the mutant has failed. */
  | { readonly outcome: "survived"; readonly files: number };

export interface MutantRecord {
  readonly place: Place;
  core?: Verdict;
  workers?: Verdict;
}

export interface RunRecord {
  readonly seed: number;
  /** What each test file comes to, without a mutant; by level. */
  readonly reached: { [level in Level]?: readonly FileRun[] };
  readonly mutants: readonly MutantRecord[];
  /** For the mutants of another run: those places of it that these sources don't have. */
  readonly gone?: readonly MutantRecord[];
}

export function readRecord(file: string): RunRecord | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function writeRecord(file: string, record: RunRecord): void {
  writeFileSync(`${file}.new`, JSON.stringify(record, undefined, 1));
  renameSync(`${file}.new`, file);
}

/** Who noticed a mutant; the tests of core were tried first. */
export function noticedBy(record: MutantRecord): Level | undefined {
  if (record.core?.outcome === "noticed") return "core";
  return record.workers?.outcome === "noticed" ? "workers" : undefined;
}
