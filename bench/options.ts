import { parseArgs } from "node:util";
import { systemOrder } from "./results/shown-system.ts";
import { isPeerName, type Peer, parsePeer } from "./systems/peer.ts";
import {
  type ArrivalRule,
  arrivalRules,
  isWeakenedName,
  weakenable,
  weakenedName,
} from "./systems/weakened.ts";
import type { StartedName, SystemName } from "./systems/wire.ts";

/** The options of the command line. */
export interface BenchOptions {
  /** The only scenarios to run; absent for all of them. */
  readonly only?: readonly string[];
  /** Whether to measure less of everything. */
  readonly quick: boolean;
  /** How often each figure is taken. */
  readonly rounds: number;
  /** The systems to measure, with the peers at the end. */
  readonly systems: readonly SystemName[];
  /** Rules of which the systems hold Dormouse without each, too. */
  readonly without: readonly ArrivalRule[];
  /** The servers that run already. */
  readonly peers: readonly Peer[];
  /** Whether the standard output is one JSON document and nothing else. */
  readonly json: boolean;
  /** The folder for the results and charts. */
  readonly out: string;
  /** Whether to write the pages and charts in docs/performance. */
  readonly docs: boolean;
  /** The results of an earlier run, which are shown instead of a run. */
  readonly from?: string;
}

export type ParsedOptions =
  | { readonly outcome: "options"; readonly options: BenchOptions }
  | { readonly outcome: "help" }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Reads the command line.
 *
 * @param scenarios the names that `--only` may take
 */
export function parseOptions(
  given: readonly string[],
  scenarios: readonly string[],
): ParsedOptions {
  try {
    const { values } = parseArgs({ args: [...given], options: known });
    if (values.help === true) return { outcome: "help" };
    const quick = values.quick ?? false;
    const peers = readPeers(values.peer ?? []);
    const { systems: chosen, without: left } = values;
    const without = left === undefined ? [] : readNames("without", left, arrivalRules);
    const whole = chosen === undefined ? choosable : readNames("systems", chosen, choosable);
    const weakened = weakenable
      .filter((system) => whole.includes(system))
      .flatMap((system) => without.map((rule) => weakenedName(system, rule)));
    const only = values.only ?? (without.length > 0 ? arrivalScenarios : undefined);
    const options: BenchOptions = {
      ...(only === undefined ? {} : { only: readNames("only", only, scenarios) }),
      quick,
      rounds: readRounds(values.rounds, quick ? 1 : 3),
      systems: [...whole, ...weakened, ...peers.map(({ name }) => name)],
      without,
      peers,
      json: values.json ?? false,
      out: values.out ?? "bench-report",
      docs: values.docs ?? false,
      ...(values.from === undefined ? {} : { from: values.from }),
    };
    refuseWithFrom(values.from, values);
    return { outcome: "options", options };
  } catch (error) {
    return { outcome: "refused", problem: problemOf(error, given) };
  }
}

/** An unexpected word is quoted, unless it may be a part of a peer's key that has spaces. */
function problemOf(error: unknown, given: readonly string[]): string {
  if (!(error instanceof Error)) return String(error);
  const isWord = "code" in error && error.code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL";
  const hasPeer = given.some((word) => word.startsWith("--peer"));
  if (isWord && hasPeer)
    return "an unexpected word: the value of --peer must be quoted if it holds spaces";
  return error.message;
}

/**
 * The command line that repeats the measurement, without the options about where results go. The keys of peers are
 * left out, because the command is published with the results.
 */
export function commandOf(options: BenchOptions): string {
  const { only, quick, rounds, systems, without, peers } = options;
  const started = systems.filter((system) => !isPeerName(system) && !isWeakenedName(system));
  const given = [
    ...(only === undefined ? [] : ["--only", only.join(",")]),
    ...(quick ? ["--quick"] : []),
    ...(rounds === (quick ? 1 : 3) ? [] : ["--rounds", String(rounds)]),
    ...(started.length === choosable.length ? [] : ["--systems", started.join(",")]),
    ...(without.length === 0 ? [] : ["--without", without.join(",")]),
    ...peers.flatMap((peer) => ["--peer", peerText(peer)]),
  ];
  return ["npm run bench", ...(given.length === 0 ? [] : ["--", ...given])].join(" ");
}

/** The text of `--help`. */
export function usage(scenarios: readonly string[]): string {
  return `npm run bench -- [options]

Measures Dormouse, the limit of the runtime, and other servers, in turns on this machine. Nothing else should run
meanwhile. Exits with 0, with 1 if a scenario failed, and with 2 for an unknown option.

  --only LIST      only these scenarios, such as fan-out,churn
                   ${scenarios.join(" ")}
  --quick          smaller scenarios and one round, in about a minute; figures are rough
  --rounds N       takes each figure N times (default 3; 1 with --quick)
  --systems LIST   only these systems, such as channel,limit
                   ${choosable.join(" ")}
  --without LIST   also measures channel and gateway without each of these rules for arrivals, such as F12,F13, in
                   turns with the others; runs churn and storm, unless --only names others
                   ${arrivalRules.join(" ")}
  --peer NAME=URL,api=URL,key=KEY
                   also measures a server that runs already and speaks the Centrifugo protocol, in turns with the
                   others: its WebSockets are at the first URL (ws://…, in which {channel} stands for the channel),
                   its HTTP API is at the second (http://…, such as http://127.0.0.1:8000/api). May be repeated.
                   With sign=KEY in place of key=KEY it speaks the Pusher protocol, at …/app/KEY and …/apps/ID
  --json           prints one JSON document; progress goes to the standard error
                   (npm prints lines of its own first, unless it is run as npm run --silent)
  --out FOLDER     the folder for results.json and the charts (default bench-report)
  --docs           also writes the results into docs/performance, a page for each scenario, and the targets, of
                   which those that weren't measured stay as they are
  --from FILE      runs nothing and shows the results.json of an earlier run
`;
}

const known = {
  only: { type: "string" },
  quick: { type: "boolean" },
  rounds: { type: "string" },
  systems: { type: "string" },
  without: { type: "string" },
  peer: { type: "string", multiple: true },
  json: { type: "boolean" },
  out: { type: "string" },
  docs: { type: "boolean" },
  from: { type: "string" },
  help: { type: "boolean" },
} as const;

/** The null server measures the load generator and has no figures of its own. */
const choosable: readonly StartedName[] = systemOrder.filter((system) => system !== "null");

/** The names of an option's list, in the order of its choices. Throws for any other name. */
function readNames<Name extends string>(
  option: string,
  text: string,
  choices: readonly Name[],
): readonly Name[] {
  const names = text.split(",");
  const strange = names.find((name) => !choices.some((each) => each === name));
  if (strange === undefined) return choices.filter((name) => names.includes(name));
  throw new Error(`--${option} doesn't know "${strange}"; there are ${choices.join(", ")}`);
}

function readRounds(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const rounds = Number(text);
  if (/^\d+$/.test(text) && rounds >= 1 && rounds <= roundsMax) return rounds;
  throw new Error(`--rounds takes a whole number from 1 to ${roundsMax}, not "${text}"`);
}

/** The scenarios in which clients arrive while others are sent publications. */
const arrivalScenarios = "churn,storm";

function readPeers(texts: readonly string[]): readonly Peer[] {
  const peers = texts.map((text) => {
    const parsed = parsePeer(text);
    if (parsed.outcome === "refused") throw new Error(parsed.problem);
    return parsed.peer;
  });
  const twice = peers.find(({ name }, index) =>
    peers.slice(0, index).some((earlier) => earlier.name === name),
  );
  if (twice !== undefined) throw new Error(`--peer is given twice for ${shownName(twice)}`);
  return peers;
}

function peerText(peer: Peer): string {
  const { sockets, api } = peer;
  const path = sockets.path.replaceAll("%7Bchannel%7D", "{channel}");
  return `${shownName(peer)}=ws://${sockets.host}:${sockets.port}${path},api=http://${api.host}:${api.port}${api.path},${peer.protocol === "pusher" ? "sign" : "key"}=…`;
}

function shownName({ name }: Peer): string {
  return name.slice("peer:".length);
}

/** Options that determine how to measure have no meaning for an earlier run. */
function refuseWithFrom(
  from: string | undefined,
  given: Readonly<Record<string, string | readonly string[] | boolean | undefined>>,
): void {
  if (from === undefined) return;
  const meaningless = ["only", "quick", "rounds", "systems", "without", "peer"].find(
    (name) => given[name] !== undefined,
  );
  if (meaningless !== undefined) {
    throw new Error(`--from shows an earlier run, so --${meaningless} has no effect`);
  }
}

/** More rounds would take days. */
const roundsMax = 99;
