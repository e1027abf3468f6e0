import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { secretsIn, type SecretUse } from "../../src/access/secrets.ts";
import { parseConfigDocument } from "../../src/config/parse-config.ts";
import { optionValue, type Target, variablesOf } from "../configuration/command-line.ts";
import { configurationFile, type wranglerConfigOf } from "./wrangler-config.ts";
import { textFault, textOf } from "../configuration/text-file.ts";
import { packageRoot } from "../package-root.ts";

/** Secrets by their names, and where they were found. */
export interface ServedSecrets {
  readonly secrets: Readonly<Record<string, string>>;
  readonly source: string;
  /** Why the file can't be read; absent if it can. */
  readonly fault?: string;
}

/**
 * Reads the Worker's secrets: from the environment, or else from `.dev.vars`, but never from both. A secret that was
 * forgotten in the file must not give access to a server whose operator set other secrets.
 *
 * @param uses of the secrets that the Worker may have
 */
export function servedSecrets(target: Target, uses: readonly SecretUse[]): ServedSecrets {
  const given = secretsIn(process.env, uses);
  if (Object.keys(given).length > 0) return { secrets: given, source: "the environment" };
  const file = secretsFileOf(target);
  if (!existsSync(file)) return { secrets: {}, source: `the environment or from ${file}` };
  const fault = textFault(file);
  if (fault !== undefined) return { secrets: {}, source: file, fault };
  return { secrets: secretsIn(parseEnv(textOf(file)), uses), source: file };
}

/** The file with the secrets of an environment: the environment's own one if it exists, or else the common one. */
export function secretsFileOf(target: Target): string {
  const file = join(dirname(configurationFile(target)), ".dev.vars");
  const environment = target.environment ?? process.env["CLOUDFLARE_ENV"] ?? "";
  const own = `${file}.${environment}`;
  return environment !== "" && existsSync(own) ? own : file;
}

/**
 * The secrets that `wrangler deploy` would upload: from `--secrets-file`, from `--var`, or plain variables.
 *
 * @param uses of the secrets that the Worker may have
 */
export function deployedSecrets(
  options: readonly string[],
  variables: ReturnType<typeof wranglerConfigOf>["vars"],
  uses: readonly SecretUse[],
): Readonly<Record<string, string>> {
  const file = uploadedFile(options);
  const uploaded = file === undefined ? {} : entriesOfFile(file);
  // Only texts are secrets, and the text of a later source wins.
  const texts = [variables, variablesOf(options), uploaded].flatMap((source) =>
    Object.entries(source).filter(([, value]) => typeof value === "string"),
  );
  return secretsIn(Object.fromEntries(texts), uses);
}

/** The file of `--secrets-file`; undefined if there is none. */
export function uploadedFile(options: readonly string[]): string | undefined {
  const file = optionValue(options, "--secrets-file", "--secretsFile");
  return file === undefined ? undefined : resolve(packageRoot, file);
}

/** Reads a file as wrangler does: JSON if it can be read as that, or else lines such as `NAME="value"`. */
function entriesOfFile(file: string): Entries {
  // Wrangler says what is wrong with a file that it can't find.
  if (!existsSync(file)) return {};
  const text = textOf(file);
  const parsed = parseConfigDocument(text);
  return parsed.outcome === "bad" ? parseEnv(text) : parsed.document;
}

/** A file's content, by the names in it. */
type Entries = Readonly<Record<string, unknown>>;
