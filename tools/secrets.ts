import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { Target } from "./command-line.ts";
import { configurationFile } from "./wrangler-config.ts";
import { root } from "./wrangler.ts";

/** Secrets by their names, and where they were found. */
export interface ServedSecrets {
  readonly secrets: Readonly<Record<string, string>>;
  readonly source: string;
}

/**
 * Reads the Worker's secrets: from the environment, or else from `.dev.vars`, but never from both. A secret that was
 * forgotten in the file must not give access to a server whose operator set other secrets.
 */
export function servedSecrets(target: Target): ServedSecrets {
  const given = secretsIn(process.env);
  if (Object.keys(given).length > 0) return { secrets: given, source: "the environment" };
  const file = secretsFileOf(target);
  if (!existsSync(file)) return { secrets: {}, source: `the environment or from ${file}` };
  return { secrets: secretsIn(parseEnv(readFileSync(file, "utf8"))), source: file };
}

/** The file with the secrets of an environment: the environment's own one if it exists, or else the common one. */
export function secretsFileOf(target: Target): string {
  const file = join(dirname(configurationFile(target)), ".dev.vars");
  const environment = target.environment ?? process.env["CLOUDFLARE_ENV"] ?? "";
  const own = `${file}.${environment}`;
  return environment !== "" && existsSync(own) ? own : file;
}

/** The names of the secrets that have a public value, namely one from the example in the repository. */
export function publicSecrets(secrets: Readonly<Record<string, string>>): readonly string[] {
  const example = parseEnv(readFileSync(join(root, ".dev.vars.example"), "utf8"));
  const values = new Set(Object.values(example));
  return Object.keys(secrets).filter((name) => values.has(secrets[name]));
}

function secretsIn(source: Readonly<NodeJS.Dict<string>>): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const name of secretNames) {
    const value = source[name] ?? "";
    if (value !== "") secrets[name] = value;
  }
  return secrets;
}

/** As docs/configuration.md lists them. */
const secretNames = [
  "API_KEY",
  "TOKEN_HMAC_SECRET_KEY",
  "TOKEN_HMAC_PREVIOUS_SECRET_KEY",
  "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
  "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY",
];
