import { readFileSync } from "node:fs";
import type { Finding } from "../scenarios/scenario.ts";
import type { Machine } from "./machine.ts";
import type { Target } from "./judge.ts";

/** All that a run found, as it stands in `results.json`. */
export interface Results {
  /** Changes when what was written earlier can't be read any more. */
  readonly format: typeof resultsFormat;
  /** The command line that does it again. */
  readonly command: string;
  /** When it was, such as `2026-11-21`. */
  readonly date: string;
  /** Whether there was less of everything, and figures are rough. */
  readonly quick: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly machine: Machine;
  readonly loadAlone: LoadAlone;
  readonly scenarios: readonly ScenarioResult[];
  /** What the bench must reach, with whether it did. */
  readonly targets: readonly Target[];
}

/** What the load generator bears by itself, against a server that sends what was made beforehand. */
export interface LoadAlone {
  readonly deliveriesPerSecond: number;
  /** Its share of one processor meanwhile, 0 to 1. */
  readonly busy: number;
}

/** What one scenario found, or why it didn't. */
export interface ScenarioResult {
  readonly name: string;
  readonly question: string;
  readonly findings: readonly Finding[];
  /** What went wrong; absent when nothing did. */
  readonly problem?: string;
}

export const resultsFormat = 1;

/** @throws when it isn't there, or was written by a bench whose results looked different */
export function readResults(file: string): Results {
  const results: Results = JSON.parse(readFileSync(file, "utf8"));
  if (results.format !== resultsFormat) {
    throw new Error(`${file} isn't what this bench writes; run it again`);
  }
  return results;
}

/** As JSON for machines, with a line break at its end. */
export function resultsText(results: Results): string {
  return `${JSON.stringify(results, undefined, 2)}\n`;
}
