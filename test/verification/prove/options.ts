import { parseArgs } from "node:util";
import type { Protection } from "../weakened/protection.ts";
import { protectionNamed } from "../weakened/protections.ts";
import { type FaultKind, faultKinds } from "./faults/fault-kind.ts";

/** The options of the command line. */
export interface ProveOptions {
  /** Seeds all random choices. */
  readonly seed: number;
  /** How long faults are injected, s. */
  readonly seconds: number;
  /** With `--deliveries`: the number of deliveries before the run ends, however long that takes. */
  readonly deliveries: number;
  /** Multiplies the publish rates. */
  readonly pace: number;
  /** The rate of each kind of fault, per minute; kinds that aren't injected are absent. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** A deployed server; absent for a local one. */
  readonly remote?: RemoteOptions;
  /** The protection that is removed from the server, to see that the proof notices. */
  readonly without?: Protection;
  /** The folder for the report and the history. */
  readonly folder: string;
  /** The folder of an earlier run whose history is checked again; nothing runs then. */
  readonly again?: string;
  /** Whether the history is also written for Jepsen's tools. */
  readonly edn: boolean;
}

export interface RemoteOptions {
  readonly url: URL;
  readonly apiKey: string;
  readonly tokenSecret: string;
}

export type ParsedOptions =
  | { readonly outcome: "options"; readonly options: ProveOptions }
  | { readonly outcome: "help" }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Reads the command line.
 *
 * @param environment holds the secrets of a deployed server
 * @param anySeed the seed, if none is given
 */
export function parseOptions(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  anySeed: number,
): ParsedOptions {
  try {
    const { values } = parseArgs({ args: [...given], options: known });
    if (values.help === true) return { outcome: "help" };
    const remote = readRemote(values.url, environment);
    // A run without a protection gets the faults that reveal its absence, unless other faults are given.
    const protection =
      values.without === undefined ? undefined : protectionNamed(values.without, "prove");
    const options: ProveOptions = {
      seed: readWhole("--seed", values.seed, anySeed),
      seconds: readWhole("--seconds", values.seconds, 60),
      deliveries: readWhole("--deliveries", values.deliveries, 0),
      pace: readPace(values.pace),
      faults: readFaults(values.faults ?? protection?.faults ?? "all", remote !== undefined),
      ...(values.again === undefined ? {} : { again: values.again }),
      folder: values.folder ?? "prove-report",
      edn: values.edn ?? false,
      ...(remote === undefined ? {} : { remote }),
      ...(protection === undefined ? {} : { without: protection }),
    };
    return { outcome: "options", options };
  } catch (error) {
    return { outcome: "refused", problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The text of `--help`. */
export const usage = `npm run prove -- [options]

Runs the real server and real clients, injects faults, and checks every delivery. Exits with 0 if all guarantees held,
with 1 if one was violated, and with 2 if nothing could be said.

  --seed N         repeats the random choices of a run (default: a random seed)
  --seconds N      for how long faults are injected (default 60)
  --deliveries N   continues until so many publications were delivered
  --faults LIST    "all", "none", or kinds, each with an optional rate per minute: kill,evict=10 (default all)
                   kinds: ${faultKinds.map(({ kind }) => kind).join(" ")}
  --pace X         multiplies how much is published (default 1)
  --url URL        checks a deployed server; API_KEY and TOKEN_HMAC_SECRET_KEY are read from the environment
  --without NAME   removes a protection from the server, to see that the proof notices
  --again PATH     runs nothing and checks the history in that folder again
  --edn            also writes the history for Jepsen's tools
  --folder PATH    the folder for the report and the history (default prove-report)
`;

const known = {
  seed: { type: "string" },
  seconds: { type: "string" },
  deliveries: { type: "string" },
  faults: { type: "string" },
  pace: { type: "string" },
  url: { type: "string" },
  without: { type: "string" },
  folder: { type: "string" },
  again: { type: "string" },
  edn: { type: "boolean" },
  help: { type: "boolean" },
} as const;

function readWhole(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new Error(`${name} takes a whole number, not "${text}"`);
}

function readPace(text = "1"): number {
  const pace = Number(text);
  if (pace > 0 && pace <= 1_000) return pace;
  throw new Error(`--pace takes a number above 0, not "${text}"`);
}

function readFaults(text: string, isRemote: boolean): ReadonlyMap<FaultKind, number> {
  if (text === "none") return new Map();
  const possible = faultKinds.filter(({ from }) => !isRemote || from === "outside");
  if (text === "all") return new Map(possible.map(({ kind, perMinute }) => [kind, perMinute]));
  return new Map(
    text.split(",").map((part): [FaultKind, number] => {
      const [name = "", rate] = part.split("=");
      const found = possible.find(({ kind }) => kind === name);
      if (found === undefined) {
        const all = possible.map(({ kind }) => kind).join(", ");
        throw new Error(`--faults doesn't know "${name}"; there are ${all}`);
      }
      if (rate === undefined) return [found.kind, found.perMinute];
      const perMinute = Number(rate);
      if (perMinute > 0 && perMinute <= 6_000) return [found.kind, perMinute];
      throw new Error(`--faults takes a rate per minute above 0 after "${name}=", not "${rate}"`);
    }),
  );
}

function readRemote(
  text: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): RemoteOptions | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`--url takes an address such as https://dormouse.example.com, not "${text}"`);
  }
  const { API_KEY: apiKey, TOKEN_HMAC_SECRET_KEY: tokenSecret } = environment;
  if (apiKey === undefined || tokenSecret === undefined) {
    const missing = apiKey === undefined ? "API_KEY" : "TOKEN_HMAC_SECRET_KEY";
    throw new Error(`--url needs ${missing} in the environment`);
  }
  return { url, apiKey, tokenSecret };
}
