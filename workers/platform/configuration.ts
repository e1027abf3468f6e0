import type { ApiKey } from "../../src/access/api-keys.ts";
import { logLevels, setLogLevel } from "./refusal-log.ts";
import {
  previousName,
  secretProblems,
  secretsIn,
  type SecretName,
  type Secrets,
} from "../../src/access/secrets.ts";
import type { ClientConfig, Config, TokenConfig } from "../../src/config/config.ts";
import { functionsBinding, type Target } from "../../src/config/targets.ts";
import { configuredTwice } from "../../src/contract/coded-configuration.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { namedSecretNames, secretUses } from "../../src/config/secret-uses.ts";
import { leftOutProblems } from "../../src/features/index.ts";
import { inDevelopment, previousKeySecretEnd, targetsOf } from "../../src/features/sections.ts";
import { withCodeHere } from "./channel-code.ts";
import { embeddedHere } from "./embedded.ts";
import { missingTargets } from "./services.ts";
import { SessionSecrets } from "./session-secrets.ts";
import type { TokenSecrets } from "./static-keys.ts";
import { TokenVerifier, type VerifierSecrets } from "./token-verifier.ts";
import { WebhookSigner } from "./webhook-signature.ts";

/**
 * The Worker's configuration and secrets, or all their problems (rule A8): a sentence for each, without the value of a
 * secret.
 */
export type Configuration = Configured | Unconfigured;

/** A valid configuration with its secrets. */
export interface Configured {
  readonly outcome: "configured";
  readonly config: Config;
  readonly secrets: {
    readonly apiKeys: readonly SecretApiKey[];
    /** All that were given, by their names. */
    readonly given: Secrets;
  };
  /** Created once with the configuration, because it caches keys. */
  readonly verifier: TokenVerifier;
  /** Signs questions to backends. */
  readonly hookSigner: WebhookSigner;
  /** Makes the secrets of sessions on HTTP streams. */
  readonly sessions: SessionSecrets;
}

/** A key of the HTTP API with its value. */
interface SecretApiKey {
  readonly key: ApiKey;
  readonly value: string;
}

interface Unconfigured {
  readonly outcome: "unconfigured";
  readonly problems: readonly string[];
}

/** The part of the environment that configures the Worker; the edge and the objects have the same one. */
export interface Settings extends Partial<Readonly<Record<SecretName, string>>> {
  /** The configuration, as TOML under `[vars.config]` or as JSON text. */
  readonly config?: string | { readonly [section: string]: ConfigVariable };
  /** "true" under `npm start`, which alone sets it: the server is for development, on this machine. */
  readonly DEVELOPMENT?: string;
  /** "true" under `npm run serve`, which alone sets it: the server isn't on Cloudflare (rule A20). */
  readonly SELF_HOSTED?: string;
  /** Allowed origins in addition to the configured ones, separated by commas; for development only. */
  readonly DEVELOPMENT_ORIGINS?: string;
  /**
   * The interval in ms at which the edge writes to idle HTTP streams; if absent, never. It is needed on every runtime
   * except Cloudflare's, because there the edge notices that a client is gone only by writing (rule T6).
   */
  readonly STREAM_PROBE_MS?: string;
  /**
   * The header with the client's address, which the runtime or the proxy in front has to set; "" if clients could set it
   * themselves. If absent, Cloudflare's `CF-Connecting-IP` (rule B18).
   */
  readonly CLIENT_ADDRESS_HEADER?: string;
  /** "error" for a log without a line for each refusal; if absent, "warn". */
  readonly LOG_LEVEL?: string;
}

type ConfigVariable =
  | string
  | number
  | boolean
  | readonly ConfigVariable[]
  | { readonly [name: string]: ConfigVariable };

/** Reads the configuration of an environment, once: the runtime passes the same environment object to every request. */
export function configurationOf(env: Settings): Configuration {
  const known = configurations.get(env);
  if (known !== undefined) return known;
  const configuration = readConfiguration(env);
  configurations.set(env, configuration);
  return configuration;
}

const configurations = new WeakMap<Settings, Configuration>();

function readConfiguration(env: Settings): Configuration {
  // The problems are sent to every client.
  const development = isDevelopment(env);
  const embedded = embeddedHere();
  if (embedded !== undefined && env.config !== undefined)
    return { outcome: "unconfigured", problems: [configuredTwice] };
  const parsed = parseConfig(documentOf(env), { showsValues: false, ...placeOf(env) });
  const coded = parsed.outcome === "config" ? withCodeHere(parsed.config) : undefined;
  const config = coded?.config;
  const uses = secretUses(config);
  const given = secretsIn(env, uses);
  const secrets = verifierSecrets(env, given, config);
  const named = config === undefined ? [] : namedSecretNames(config, isFunction);
  const needed = embedded === undefined ? ["API_KEY", ...named] : neededInside(named, config);
  const missing = [
    ...needed.filter((name) => given[name] === undefined),
    ...(embedded?.knowsUsers === true
      ? []
      : missingKeys("TOKEN_HMAC_SECRET_KEY", secrets.token, config?.client.token)),
    ...(config === undefined
      ? []
      : missingSubscriptionKeys(secrets.subscriptionToken, config.client)),
  ];
  const problems = [
    ...secretProblems(given, uses, development),
    ...missing.map((name) => missingSecret(name, development)),
  ];
  if (parsed.outcome === "bad") {
    problems.push(...parsed.problems);
    logProblems(env);
  }
  const level = logLevels.find((one) => one === (env.LOG_LEVEL ?? "warn"));
  if (level === undefined) problems.push(`variable LOG_LEVEL must be ${logLevels.join(" or ")}`);
  else setLogLevel(level);
  const probeMs = Number(env.STREAM_PROBE_MS ?? 0);
  // A timer that is to wait longer fires at once.
  if (!(probeMs >= 0 && probeMs < 2 ** 31))
    problems.push("variable STREAM_PROBE_MS must be a number of ms, less than 2147483648");
  if (config !== undefined)
    problems.push(...leftOutProblems(config), ...missingTargets(targetsOf(config), env));
  problems.push(...(coded?.problems ?? []));
  if (config === undefined || problems.length > 0) return { outcome: "unconfigured", problems };
  if (!development) noteUnused(secrets.token, config);
  const inPlace = development ? inDevelopment(config, given) : config;
  return {
    outcome: "configured",
    config: withOrigins(inPlace, env.DEVELOPMENT_ORIGINS ?? ""),
    secrets: { apiKeys: apiKeys(config, given), given },
    verifier: new TokenVerifier(config.client, secrets, config.hooks.keepsMeta),
    hookSigner: new WebhookSigner(hookSecrets(env)),
    sessions: new SessionSecrets(sessionKeys(env)),
  };
}

/** The configuration as it was written: in the Worker's own code, or among its variables. */
function documentOf(env: Settings): Settings["config"] | object {
  return embeddedHere()?.config ?? env.config;
}

/**
 * The secrets that a Worker of one's own needs: its code publishes without a key. Sessions on HTTP streams need a secret of
 * the server's (rule A23).
 */
function neededInside(named: readonly string[], config: Config | undefined): readonly string[] {
  const streams = config?.transports.sse === true || config?.transports.httpStream === true;
  const byCode = embeddedHere()?.admitsOperator !== undefined;
  const needed = byCode ? named.filter((name) => name !== "CONSOLE_PASSWORD") : named;
  return streams ? ["API_KEY", ...needed] : needed;
}

/** Whether a target is a function of the Worker, which is asked without a signature. */
function isFunction({ endpoint }: Target): boolean {
  return endpoint.kind === "service" && endpoint.binding === functionsBinding;
}

function hookSecrets(env: Settings): readonly string[] {
  const { HOOK_SIGNING_SECRET: current, HOOK_SIGNING_PREVIOUS_SECRET: previous } = env;
  return [current ?? "", previous ?? ""].filter((secret) => secret !== "");
}

/**
 * The keys of sessions' secrets (rule A23), from secrets that every edge and object has. A session shows whether a guess
 * of its key is right, as a token does, so where tokens have a secret, the API key can't be guessed without it.
 */
function sessionKeys(env: Settings): readonly string[] {
  const { API_KEY: api = "", TOKEN_HMAC_SECRET_KEY: token = "" } = env;
  const apis = [api, env.API_KEY_PREVIOUS || api];
  const tokens = [token, env.TOKEN_HMAC_PREVIOUS_SECRET_KEY || token];
  return [...new Set(apis.flatMap((one) => tokens.map((other) => `${one}\n${other}`)))];
}

/** Logs the problems of the configuration, with the values that the responses don't quote (rule A8). */
function logProblems(env: Settings): void {
  const parsed = parseConfig(documentOf(env), placeOf(env));
  if (parsed.outcome === "bad")
    console.warn(`the configuration is invalid:\n${parsed.problems.join("\n")}`);
}

/** Where the server runs, which decides what a configuration may have (rules A11 and A20). */
function placeOf(env: Settings): { readonly development: boolean; readonly selfHosted: boolean } {
  const development = isDevelopment(env);
  return { development, selfHosted: development || env.SELF_HOSTED === "true" };
}

/** Whether the server runs outside of Cloudflare, where the platform knows neither jurisdictions nor places. */
export function isOnOwnMachine(env: Settings): boolean {
  return placeOf(env).selfHosted;
}

/** Whether `npm start` runs the Worker, which serves this machine alone. */
export function isDevelopment({ DEVELOPMENT }: Settings): boolean {
  return DEVELOPMENT === "true";
}

/** The keys of the HTTP API, each with the value that it had before if there is one (rule A14). */
function apiKeys({ httpApi }: Config, secrets: Secrets): readonly SecretApiKey[] {
  const names = [{ secret: "API_KEY", name: undefined, rights: undefined }, ...httpApi.keys];
  return names.flatMap(({ secret, name, rights }) =>
    (secret === "" ? [] : [secret, previousName(secret)]).flatMap((each) => {
      const value = secrets[each];
      if (value === undefined) return [];
      const key = rights === undefined ? { name: each } : { name, rights };
      return [{ key, value }];
    }),
  );
}

function verifierSecrets(
  env: Settings,
  issuers: Secrets,
  config: Config | undefined,
): VerifierSecrets {
  return {
    token: {
      name: "TOKEN_HMAC_SECRET_KEY",
      current: env.TOKEN_HMAC_SECRET_KEY ?? "",
      previous: env.TOKEN_HMAC_PREVIOUS_SECRET_KEY ?? "",
    },
    subscriptionToken: {
      name: "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
      current: env.SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY ?? "",
      previous: env.SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY ?? "",
    },
    issuers,
    sharedPoll: {
      current: env.SHARED_POLL_HMAC_SECRET_KEY ?? "",
      previous: env.SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY ?? "",
      previousValidUntilSeconds: config === undefined ? 0 : previousKeySecretEnd(config),
    },
  };
}

/** Logs that the secret for tokens has no effect, which is no reason to refuse requests. */
function noteUnused({ name, current, previous }: TokenSecrets, { client }: Config): void {
  if (client.token.issuers.length > 0 && (current !== "" || previous !== ""))
    console.warn(`secret ${name} has no effect beside client.token.issuers`);
}

function missingSubscriptionKeys(
  secrets: TokenSecrets,
  { subscriptionToken }: ClientConfig,
): readonly SecretName[] {
  const name = "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY";
  if (subscriptionToken !== undefined) return missingKeys(name, secrets, subscriptionToken);
  // This is no reason to refuse requests: a secret takes effect at once, and is often set before the configuration that
  // needs it.
  if (secrets.current !== "" || secrets.previous !== "") {
    console.warn(`secret ${name} has no effect unless client.subscription_token is enabled`);
  }
  return [];
}

/**
 * The HMAC secret if it is missing and the configuration has neither public keys nor issuers: without either, the secret
 * was probably forgotten.
 */
function missingKeys(
  name: SecretName,
  { current }: TokenSecrets,
  config: TokenConfig | undefined,
): readonly SecretName[] {
  const hasOthers =
    config !== undefined &&
    (config.publicKeys.length > 0 ||
      config.jwksPublicEndpoint !== undefined ||
      config.issuers.length > 0);
  return hasOthers || current !== "" ? [] : [name];
}

/** The problem of a missing secret, with what sets it: for `npm start` a line in a file. */
function missingSecret(name: string, development: boolean): string {
  return development
    ? `secret ${name} is missing: write the line ${name}="…" into .dev.vars, and start it again`
    : `secret ${name} is missing: set it with "wrangler secret put ${name}"`;
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
