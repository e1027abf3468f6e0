import { parseArgs } from "node:util";
import { type Protection, protectionNamed } from "./weakened/protections.ts";
import { type FaultKind, faultKinds } from "./faults/fault-kind.ts";

/** What the command line asks for. */
export interface ProveOptions {
  /** From which everything that is left to chance is drawn. */
  readonly seed: number;
  /** How long faults are made, s. */
  readonly seconds: number;
  /** With `--deliveries`: how many must have been heard before it ends, however long that takes. */
  readonly deliveries: number;
  /** Multiplies how much is published. */
  readonly pace: number;
  /** How often each kind of fault is made, per minute; those that aren't made are absent. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** A deployed server; absent for one of our own. */
  readonly remote?: RemoteOptions;
  /** The protection that is switched off in the server, to see that this is noticed. */
  readonly without?: Protection;
  /** Where the report and the history are written. */
  readonly folder: string;
  /** The folder of an earlier run, of which the history is checked again; nothing else is done then. */
  readonly again?: string;
  /** Whether the history is written once more, for Jepsen's tools. */
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
 * @param environment where the secrets of a deployed server are looked for
 * @param anySeed     the seed, if none is given
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
    // What shows that a protection is missing is made unless something else is asked for.
    const protection = values.without === undefined ? undefined : protectionNamed(values.without);
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

/** What `--help` says. */
export const usage = `npm run prove -- [options]

Runs the real server and real clients, breaks things, and checks every delivery. Exits with 0 when all guarantees held,
with 1 when one didn't, and with 2 when it couldn't be found out.

  --seed N         replays what is left to chance (default: another one each time)
  --seconds N      for how long things are broken (default 60)
  --deliveries N   goes on until that many were heard
  --faults LIST    "all", "none", or kinds with their rates per minute: kill,evict=10 (default all)
                   kinds: ${faultKinds.map(({ kind }) => kind).join(" ")}
  --pace X         publishes X times as much (default 1)
  --url URL        checks a deployed server, whose API_KEY and TOKEN_HMAC_SECRET_KEY are in the environment
  --without NAME   switches a protection of the server off, to see that the proof notices
  --again PATH     runs nothing, and checks the history in a folder again
  --edn            writes the history also for Jepsen's tools
  --folder PATH    where report and history go (default prove-report)
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
