/** The command line of `npm run mutate`. */
import { parseArgs } from "node:util";
import type { Level } from "./runner-process.ts";

export interface MutateOptions {
  readonly seed: number;
  readonly count: number;
  /** The levels whose tests are run. */
  readonly levels: readonly Level[];
  /** Only files whose path begins with this. */
  readonly only: string;
  /** How many processes run tests of core at a time. */
  readonly jobs: number;
  /** For how long survivors of core are tried with the workers' tests. */
  readonly workersMinutes: number;
  /** How many mutants that core noticed are tried with the workers' tests, too. */
  readonly both: number;
  /** Where the results are kept, and continued if they are there already. */
  readonly report: string | undefined;
  /** The results of another run, whose mutants are tried again on these sources and compared. */
  readonly again: string | undefined;
}

export type ParsedOptions =
  | { readonly outcome: "options"; readonly options: MutateOptions }
  | { readonly outcome: "help" }
  | { readonly outcome: "bad"; readonly problem: string };

/** The text of `--help`. */
export const usage = `npm run mutate -- [options]

Makes small faults in src and workers/http, one at a time, and says which of them the tests notice: a condition turned
round, a bound moved by one, a call left out, && in place of ||, a returned boolean negated. An hour or two for 300.

  --seed N             which faults (default 1)
  --count N            how many (default 300)
  --level NAME         core or workers alone (default: core, then workers for what core didn't notice)
  --only PATH          only files whose path begins with this, such as src/features/maps
  --jobs N             how many processes run tests of core at a time (default 2)
  --workers-minutes N  for how long survivors are tried with the tests of workers (default 60)
  --both N             how many that core noticed are tried with workers, too (default 0)
  --report FILE        keeps the results there after each fault; continues a run whose results are there
  --again FILE         the faults of another run's results, as far as the sources still have their places; first those
                       that were noticed, and at the end the list of those that aren't any more
  --help               prints this text
`;

/** Reads the arguments after `npm run mutate --`. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  try {
    const { values } = parseArgs({ args: [...args], options: accepted, strict: true });
    if (values.help) return { outcome: "help" };
    const level = values.level;
    if (level !== undefined && level !== "core" && level !== "workers")
      throw new Error(`--level takes core or workers, not ${JSON.stringify(level)}`);
    const levels: readonly Level[] = level === undefined ? ["core", "workers"] : [level];
    const options = {
      seed: wholeNumber("--seed", values.seed, 1),
      count: wholeNumber("--count", values.count, 300),
      levels,
      only: values.only ?? "",
      jobs: wholeNumber("--jobs", values.jobs, 2),
      workersMinutes: wholeNumber("--workers-minutes", values["workers-minutes"], 60),
      both: wholeNumber("--both", values.both, 0),
      report: values.report,
      again: values.again,
    };
    return { outcome: "options", options };
  } catch (error) {
    return { outcome: "bad", problem: error instanceof Error ? error.message : String(error) };
  }
}

const text = { type: "string" } as const;
const accepted = {
  seed: text,
  count: text,
  level: text,
  only: text,
  jobs: text,
  "workers-minutes": text,
  both: text,
  report: text,
  again: text,
  help: { type: "boolean" },
} as const;

function wholeNumber(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (!/^[0-9]{1,9}$/.test(given))
    throw new Error(`${name} takes a whole number, not ${JSON.stringify(given)}`);
  return Number(given);
}
