import type { Config } from "../../src/config/config.ts";
import { namedSecretNames } from "../../src/config/secret-uses.ts";
import { functionsBinding } from "../../src/config/targets.ts";

/**
 * The names of the secrets without which a Worker with a configuration answers every request with 503 (rule A8), each
 * once.
 *
 * @param code of a Worker whose configuration is in its code (rule OW6): whether that code says who a client is, and who an operator
 */
export function neededSecrets(
  config: Config,
  code?: { readonly knowsUsers: boolean; readonly knowsOperators: boolean },
): readonly string[] {
  const { token, subscriptionToken } = config.client;
  const kinds = [
    ["TOKEN_HMAC_SECRET_KEY", code?.knowsUsers === true ? undefined : token],
    ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY", subscriptionToken],
  ] as const;
  const signing = kinds.flatMap(([name, rules]) => {
    if (rules === undefined) return [];
    const { publicKeys, jwksPublicEndpoint, issuers } = rules;
    const hasOthers = publicKeys.length > 0 || issuers.length > 0;
    return hasOthers || jwksPublicEndpoint !== undefined ? [] : [name];
  });
  const { sse, httpStream } = config.transports;
  const api = code === undefined || sse || httpStream ? ["API_KEY"] : [];
  // A function of the Worker is asked without a signature.
  const named = namedSecretNames(
    config,
    ({ endpoint }) => endpoint.kind === "service" && endpoint.binding === functionsBinding,
  );
  const needed = new Set([...api, ...signing, ...named]);
  if (code?.knowsOperators === true) needed.delete("CONSOLE_PASSWORD");
  return [...needed];
}
