import { readFileSync } from "node:fs";
import type { Finding } from "../scenarios/scenario.ts";
import type { Machine } from "./machine.ts";
import type { Target } from "./judge.ts";

/** The results of a run, as `results.json` holds them. */
export interface Results {
  /** Changes when earlier files can't be read any more. */
  readonly format: typeof resultsFormat;
  /** The command line that repeats the run. */
  readonly command: string;
  /** The date of the run, such as `2026-11-21`. */
  readonly date: string;
  /** Whether the run measured less of everything, so that figures are rough. */
  readonly quick: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly machine: Machine;
  readonly loadAlone: LoadAlone;
  readonly scenarios: readonly ScenarioResult[];
  /** The targets, with their outcomes. */
  readonly targets: readonly Target[];
}

/** The load generator's own maximum, against a server that sends prepared bytes. */
export interface LoadAlone {
  readonly deliveriesPerSecond: number;
  /** Its share of one processor meanwhile, 0 to 1. */
  readonly busy: number;
}

/** The findings of one scenario, or its failure. */
export interface ScenarioResult {
  readonly name: string;
  readonly question: string;
  readonly findings: readonly Finding[];
  /** The failure; absent if there was none. */
  readonly problem?: string;
}

export const resultsFormat = 1;

/** @throws if the file is missing, or was written in another format */
export function readResults(file: string): Results {
  const results: Results = JSON.parse(readFileSync(file, "utf8"));
  if (results.format !== resultsFormat) {
    throw new Error(`${file} isn't what this bench writes; run it again`);
  }
  return results;
}

/** The results as JSON, with a line break at the end. */
export function resultsText(results: Results): string {
  return `${JSON.stringify(results, undefined, 2)}\n`;
}
