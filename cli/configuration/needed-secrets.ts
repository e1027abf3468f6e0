import type { Config } from "../../src/config/config.ts";
import { namedSecretNames } from "../../src/config/secret-uses.ts";

/**
 * The names of the secrets without which a Worker with a configuration answers every request with 503 (rule A8), each
 * once.
 */
export function neededSecrets(config: Config): readonly string[] {
  const { token, subscriptionToken } = config.client;
  const kinds = [
    ["TOKEN_HMAC_SECRET_KEY", token],
    ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY", subscriptionToken],
  ] as const;
  const signing = kinds.flatMap(([name, rules]) => {
    if (rules === undefined) return [];
    const { publicKeys, jwksPublicEndpoint, issuers } = rules;
    const hasOthers = publicKeys.length > 0 || issuers.length > 0;
    return hasOthers || jwksPublicEndpoint !== undefined ? [] : [name];
  });
  return [...new Set(["API_KEY", ...signing, ...namedSecretNames(config)])];
}
