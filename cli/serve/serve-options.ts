import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Target, targetOf } from "../configuration/command-line.ts";
import { packageRoot } from "../package-root.ts";

/** The options of `npm run serve`. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  /** The absolute path of the folder with the server's state. */
  readonly state: string;
  readonly target: Target;
  /** The addresses of the Workers that are bound as services, by the names of their bindings. */
  readonly services: Readonly<Record<string, string>>;
}

export type ParsedServeOptions =
  | { readonly outcome: "options"; readonly options: ServeOptions }
  | { readonly outcome: "help" }
  | { readonly outcome: "bad"; readonly problem: string };

/** The text of `--help`. */
export const usage = `npm run serve -- [options]

Runs the production bundle on this machine, with its state on the disk. The secrets are taken from the environment, or
else from .dev.vars. See docs/self-hosting.md.

  --port N        the port on which the server listens (default 8787)
  --host NAME     the address on which it listens (default 127.0.0.1; 0.0.0.0 or :: for all)
  --state PATH    the folder for all persistent state (default .dormouse)
  --config PATH   the configuration file (default wrangler.toml)
  --env NAME      the environment in that file
  --service NAME=HOST:PORT
                  where the Worker is that is bound as NAME, for hooks that ask it; may be repeated
  --var config:…  the whole configuration as JSON, in place of the file's
  --help          prints this text
`;

/** Parses the command line. The problem of an invalid one quotes no value, because a value may be a secret. */
export function parseServeOptions(args: readonly string[]): ParsedServeOptions {
  const known = {
    port: { type: "string", default: "8787" },
    host: { type: "string", default: "127.0.0.1" },
    state: { type: "string", default: resolve(packageRoot, ".dormouse") },
    config: { type: "string", short: "c" },
    env: { type: "string", short: "e" },
    service: { type: "string", multiple: true },
    var: { type: "string", multiple: true },
  } as const;
  if (args.includes("--help")) return { outcome: "help" };
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: known,
    strict: false,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === "option");
  const unknown = given.find(({ name }) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    const names = Object.keys(known).map((name) => `--${name}`);
    return bad(`unknown option ${unknown.rawName}: the options are ${names.join(", ")}`);
  }
  // An option without a value would take the next option as its value.
  const empty = given.find(({ value = "" }) => value === "" || value.startsWith("--"));
  if (empty !== undefined) return bad(`${empty.rawName} requires a value`);
  if (positionals.length > 0)
    return bad(
      "unexpected argument: each option takes exactly one value, and there is nothing else",
    );
  const valueOf = (name: string) => given.findLast((option) => option.name === name)?.value;
  const variables = given.filter(({ name }) => name === "var");
  if (!variables.every(({ value = "" }) => value.startsWith("config:")))
    return bad(
      "--var takes config:… only; pass secrets in the environment, which other users can't read",
    );
  const services = given
    .filter(({ name }) => name === "service")
    .map(({ value = "" }) => serviceShape.exec(value));
  if (services.includes(null)) return bad("--service takes NAME=HOST:PORT");
  const addresses = services.map((one) => [one?.[1] ?? "", one?.[2] ?? ""] as const);
  const port = Number(valueOf("port") ?? known.port.default);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return bad("--port must be a whole number from 1 to 65535");
  const host = valueOf("host") ?? known.host.default;
  const state = resolve(valueOf("state") ?? known.state.default);
  const options = { port, host, state, target: targetOf(args) };
  return { outcome: "options", options: { ...options, services: Object.fromEntries(addresses) } };
}

/** A binding, and an address as workerd takes it: an IPv6 address is in brackets. */
const serviceShape = /^([A-Za-z_]\w{0,63})=((?:[-\w.]+|\[[\da-f:]+\]):\d{1,5})$/i;

function bad(problem: string): ParsedServeOptions {
  return { outcome: "bad", problem };
}
