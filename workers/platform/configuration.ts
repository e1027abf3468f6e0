import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";

/** The Worker's settings, or everything that is wrong with them: a sentence each, without any secret's value. */
export type Configuration = Configured | Unconfigured;

export interface Configured {
  readonly outcome: "configured";
  readonly config: Config;
  readonly secrets: Secrets;
}

interface Unconfigured {
  readonly outcome: "unconfigured";
  readonly problems: readonly string[];
}

interface Secrets {
  readonly apiKey: string;
  readonly tokenHmacSecretKey: string;
}

/** The part of the environment that says how the Worker should behave; the edge and the objects alike have it. */
export interface Settings {
  /** Secret: what a backend must know to use the HTTP API. */
  readonly API_KEY?: string;
  /** Secret: what signs connection and subscription tokens. */
  readonly TOKEN_HMAC_SECRET_KEY?: string;
  /** The configuration, as TOML under `[vars.config]` or as JSON text. */
  readonly config?: string | { readonly [section: string]: ConfigVariable };
  /** Origins that are allowed besides the configured ones, separated by commas; for development only. */
  readonly DEVELOPMENT_ORIGINS?: string;
}

type ConfigVariable =
  | string
  | number
  | boolean
  | readonly ConfigVariable[]
  | { readonly [name: string]: ConfigVariable };

/** Reads the settings of an environment. The runtime keeps that object from request to request, so it is done once. */
export function configurationOf(env: Settings): Configuration {
  const known = configurations.get(env);
  if (known !== undefined) return known;
  const configuration = readConfiguration(env);
  configurations.set(env, configuration);
  return configuration;
}

const configurations = new WeakMap<Settings, Configuration>();

function readConfiguration(env: Settings): Configuration {
  const { API_KEY: apiKey = "", TOKEN_HMAC_SECRET_KEY: tokenHmacSecretKey = "" } = env;
  const problems = [
    ...missingSecret("API_KEY", apiKey),
    ...missingSecret("TOKEN_HMAC_SECRET_KEY", tokenHmacSecretKey),
  ];
  const parsed = parseConfig(env.config);
  if (parsed.outcome === "bad") problems.push(...parsed.problems);
  if (parsed.outcome === "bad" || problems.length > 0) return { outcome: "unconfigured", problems };
  return {
    outcome: "configured",
    config: withOrigins(parsed.config, env.DEVELOPMENT_ORIGINS ?? ""),
    secrets: { apiKey, tokenHmacSecretKey },
  };
}

function missingSecret(name: string, value: string): readonly string[] {
  return value === ""
    ? [`secret ${name} is missing: set it with "wrangler secret put ${name}"`]
    : [];
}

function withOrigins(config: Config, list: string): Config {
  const origins = list
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
  const { client } = config;
  return {
    ...config,
    client: { ...client, allowedOrigins: [...client.allowedOrigins, ...origins] },
  };
}
