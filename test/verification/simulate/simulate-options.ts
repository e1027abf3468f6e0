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
  const numbers = new Map<string, number>();
  let shrink = false;
  let without: Protection | undefined;
  for (let index = 0; index < args.length; index++) {
    const name = args[index] ?? "";
    if (name === "--shrink") {
      shrink = true;
      continue;
    }
    if (!numeric.includes(name) && name !== "--without") {
      const all = [...numeric, "--shrink", "--without"].join(", ");
      return bad(`there is no option ${name}; there are ${all}`);
    }
    const value = args[++index] ?? "";
    if (name === "--without") {
      try {
        without = protectionNamed(value, "simulate");
      } catch (error) {
        return bad(error instanceof Error ? error.message : String(error));
      }
      continue;
    }
    if (!/^[1-9][0-9]{0,8}$/.test(value)) {
      return bad(`${name} takes a whole number from 1 to 999999999, not ${JSON.stringify(value)}`);
    }
    numbers.set(name, Number(value));
  }
  const seconds = numbers.get("--seconds");
  const options = {
    first: numbers.get("--first") ?? 1,
    seeds: numbers.get("--seeds") ?? (seconds === undefined ? 10_000 : Number.POSITIVE_INFINITY),
    seconds: seconds ?? Number.POSITIVE_INFINITY,
    seed: numbers.get("--seed"),
    shrink,
    ...(without === undefined ? {} : { without }),
  };
  return { outcome: "options", options };
}

const numeric: readonly string[] = ["--seeds", "--first", "--seconds", "--seed"];

function bad(problem: string): ParsedOptions {
  return { outcome: "bad", problem };
}
