import { type SecretUse, secretPair } from "../access/secrets.ts";
import type { Config, TokenConfig } from "./config.ts";
import type { Target } from "./targets.ts";
import { featureSecrets, namedFeatureSecrets, neededFeatureSecrets } from "../features/sections.ts";

/**
 * All secrets that a Worker may have: those of every Worker, and those whose names stand in the configuration. A secret
 * that has no effect beside issuers isn't among them.
 *
 * @param config undefined if the configuration can't be read
 */
export function secretUses(config: Config | undefined): readonly SecretUse[] {
  const { token, subscriptionToken } = config?.client ?? {};
  return [
    ...secretPair("API_KEY", "api"),
    ...featureSecrets(),
    ...tokenSecrets("TOKEN", token),
    ...tokenSecrets("SUBSCRIPTION_TOKEN", subscriptionToken),
    ...(config === undefined ? [] : namedSecrets(config)),
  ];
}

/**
 * The names of the secrets that the configuration needs, each once. Without one of them the Worker isn't configured (rule
 * A8).
 *
 * @param isUnsigned whether what is sent to a target needs no signature
 */
export function namedSecretNames(
  config: Config,
  isUnsigned: (target: Target) => boolean = () => false,
): readonly string[] {
  const named = namedSecrets(config)
    .filter(({ name, of }) => name === of)
    .map(({ name }) => name);
  return [...named, ...neededFeatureSecrets(config, isUnsigned)];
}

function namedSecrets(config: Config): readonly SecretUse[] {
  const { httpApi, client } = config;
  const issuers = [...client.token.issuers, ...(client.subscriptionToken?.issuers ?? [])];
  // Both kinds of token may have an issuer with the same secret.
  const signing = new Set(
    issuers.map(({ hmacSecret }) => hmacSecret).filter((name) => name !== undefined),
  );
  return [
    ...httpApi.keys.flatMap(({ secret }) => (secret === "" ? [] : secretPair(secret, "api"))),
    ...[...signing].flatMap((name) => secretPair(name, "issuer")),
    ...namedFeatureSecrets(config),
  ];
}

function tokenSecrets(section: string, config: TokenConfig | undefined): readonly SecretUse[] {
  if (config !== undefined && config.issuers.length > 0) return [];
  const previous = `${section}_HMAC_PREVIOUS_SECRET_KEY`;
  return secretPair(`${section}_HMAC_SECRET_KEY`, "token", previous);
}
