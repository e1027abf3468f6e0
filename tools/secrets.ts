import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type Secrets, secretNames } from "../src/access/secrets.ts";
import { parseConfigDocument } from "../src/config/parse-config.ts";
import { optionValue, type Target, variablesOf } from "./command-line.ts";
import { configurationFile, type wranglerConfigOf } from "./wrangler-config.ts";
import { root } from "./wrangler.ts";

/** Secrets by their names, and where they were found. */
export interface ServedSecrets {
  readonly secrets: Secrets;
  readonly source: string;
}

/**
 * Reads the Worker's secrets: from the environment, or else from `.dev.vars`, but never from both. A secret that was
 * forgotten in the file must not give access to a server whose operator set other secrets.
 */
export function servedSecrets(target: Target): ServedSecrets {
  const given = parseSecrets(process.env);
  if (Object.keys(given).length > 0) return { secrets: given, source: "the environment" };
  const file = secretsFileOf(target);
  if (!existsSync(file)) return { secrets: {}, source: `the environment or from ${file}` };
  return { secrets: parseSecrets(parseEnv(readFileSync(file, "utf8"))), source: file };
}

/** The file with the secrets of an environment: the environment's own one if it exists, or else the common one. */
export function secretsFileOf(target: Target): string {
  const file = join(dirname(configurationFile(target)), ".dev.vars");
  const environment = target.environment ?? process.env["CLOUDFLARE_ENV"] ?? "";
  const own = `${file}.${environment}`;
  return environment !== "" && existsSync(own) ? own : file;
}

/** The secrets that `wrangler deploy` would upload: from `--secrets-file`, from `--var`, or plain variables. */
export function deployedSecrets(
  options: readonly string[],
  variables: ReturnType<typeof wranglerConfigOf>["vars"],
): Secrets {
  const file = optionValue(options, "--secrets-file", "--secretsFile");
  const uploaded = file === undefined ? {} : entriesOfFile(resolve(root, file));
  return parseSecrets(variables, variablesOf(options), uploaded);
}

/** Reads a file as wrangler does: JSON if it can be read as that, or else lines such as `NAME="value"`. */
function entriesOfFile(file: string): Entries {
  // Wrangler says what is wrong with a file that it can't find.
  if (!existsSync(file)) return {};
  const text = readFileSync(file, "utf8");
  const parsed = parseConfigDocument(text);
  return parsed.outcome === "bad" ? parseEnv(text) : parsed.document;
}

/** Variables or a file's content, by their names. */
type Entries = Readonly<Record<string, unknown>>;

/** The secrets in all sources. Only a text that isn't empty is a secret; the text of a later source wins. */
function parseSecrets(...sources: readonly Entries[]): Secrets {
  const secrets: { -readonly [Name in keyof Secrets]: Secrets[Name] } = {};
  for (const name of secretNames) {
    const texts = sources.map((source) => source[name]).filter((one) => typeof one === "string");
    const value = texts.at(-1) ?? "";
    if (value !== "") secrets[name] = value;
  }
  return secrets;
}
