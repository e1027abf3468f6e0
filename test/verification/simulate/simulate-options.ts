import { parseArgs } from "node:util";
import type { Protection } from "../weakened/protection.ts";
import { protectionNamed } from "../weakened/protections.ts";

/** The options of the command line. */
export interface SimulateOptions {
  readonly first: number;
  /** How many seeds; Infinity when only the time counts. */
  readonly seeds: number;
  /** For how long; Infinity when only the seeds count. */
  readonly seconds: number;
  /** The only seed, whose events are printed. */
  readonly seed: number | undefined;
  readonly shrink: boolean;
  /** The protection that is removed from the core, to see that the simulator notices. */
  readonly without?: Protection;
}

export type ParsedOptions =
  | { readonly outcome: "options"; readonly options: SimulateOptions }
  | { readonly outcome: "help" }
  | { readonly outcome: "bad"; readonly problem: string };

/** The text of `--help`. */
export const usage = `npm run simulate -- [options]

Runs the core in a simulated world with faults, once for each seed. Exits with 0 if nothing was wrong, with 1 if a seed
failed, and with 2 if the options are wrong.

  --seeds N    how many seeds (default 10000, or without end if --seconds is given)
  --first N    the first seed (default 1)
  --seconds N  for how long (default: until all seeds have run)
  --seed N     runs this seed alone and prints the log of its events
  --shrink     finds the smallest plan of each seed that fails
  --without NAME
               removes a protection from the core, to see that the simulator notices
  --help       prints this text
`;

/** Reads the arguments after `npm run simulate --`. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  if (args.includes("--help")) return { outcome: "help" };
  try {
    const { values } = parseArgs({ args: [...args], options: known });
    const { seconds, seeds, without, shrink = false } = values;
    const options = {
      first: readWhole("--first", values.first) ?? 1,
      seeds:
        readWhole("--seeds", seeds) ?? (seconds === undefined ? 10_000 : Number.POSITIVE_INFINITY),
      seconds: readWhole("--seconds", seconds) ?? Number.POSITIVE_INFINITY,
      seed: readWhole("--seed", values.seed),
      shrink,
      ...(without === undefined ? {} : { without: protectionNamed(without, "simulate") }),
    };
    return { outcome: "options", options };
  } catch (error) {
    return { outcome: "bad", problem: error instanceof Error ? error.message : String(error) };
  }
}

const known = {
  seeds: { type: "string" },
  first: { type: "string" },
  seconds: { type: "string" },
  seed: { type: "string" },
  shrink: { type: "boolean" },
  without: { type: "string" },
} as const;

function readWhole(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9][0-9]{0,8}$/.test(text))
    return text === undefined ? undefined : Number(text);
  throw new Error(`${name} takes a whole number from 1 to 999999999, not ${JSON.stringify(text)}`);
}
