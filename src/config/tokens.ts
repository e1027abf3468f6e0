import { limits } from "../limits.ts";
import type { IssuerConfig, TokenConfig, TokenRules } from "./config.ts";
import { readOptions } from "./fields.ts";
import type { Section } from "./section.ts";
import {
  claimOptions,
  issuerClaimOptions,
  issuerOptions,
  previousSecretOptions,
  publicKeyOptions,
  separateTokenOptions,
} from "./token-options.ts";
import { unsupportedIssuerKeys, unsupportedTokenKeys } from "./unsupported.ts";

/**
 * Reads `client.token`: which tokens are accepted (docs/protocol.md 5.1 and 5.3). The keys that are secrets are
 * refused, because the Worker gets secrets from its environment.
 *
 * @param section receives the problems
 */
export function readTokenSection(section: Section): TokenConfig {
  const config = readTokens(section);
  section.refuseOthers(unsupportedTokenKeys("TOKEN"));
  return config;
}

/** Reads `client.subscription_token`, the same for subscription tokens alone; undefined unless it is enabled. */
export function readSubscriptionTokenSection(section: Section): TokenConfig | undefined {
  const { enabled } = readOptions(section, separateTokenOptions);
  const config = readTokens(section);
  section.refuseOthers(unsupportedTokenKeys("SUBSCRIPTION_TOKEN"));
  if (enabled) return config;
  if (section.isValid("enabled") && hasEffect(config)) {
    section.problem("enabled", "must be true for the other keys of this section to have an effect");
  }
  return undefined;
}

function readTokens(section: Section): TokenConfig {
  const config = { ...readRules(section), ...readOptions(section, issuerClaimOptions) };
  const issuers = readIssuers(section);
  if (issuers.length > 0 && hasEffect({ ...config, issuers: [] })) {
    section.problem(
      "issuers",
      "can't be combined with the other keys of this section: write them into each issuer",
    );
  }
  return { ...config, issuers };
}

/** Reads the keys and rules that a section and each of its issuers may have. */
function readRules(section: Section): TokenRules {
  const { jwksPublicEndpoint, ...keys } = readOptions(section, publicKeyOptions);
  const publicKeys = Object.values(keys);
  const hasEndpoint = jwksPublicEndpoint !== undefined;
  if (hasEndpoint && publicKeys.length > 0)
    section.problem("jwks_public_endpoint", "can't be combined with other public keys");
  const previous = readOptions(section, previousSecretOptions);
  if (hasEndpoint && previous.hmacPreviousSecretKeyValidUntilSeconds > 0)
    section.problem(previousUntil, "can't be combined with jwks_public_endpoint");
  return {
    publicKeys,
    ...(hasEndpoint && { jwksPublicEndpoint }),
    ...previous,
    ...readOptions(section, claimOptions),
  };
}

/** Reads `issuers` (rule A15). */
function readIssuers(section: Section): readonly IssuerConfig[] {
  const sections = section.sections("issuers", "issuer", limits.tokenIssuersMax);
  const owners = new Map<string, string>();
  return sections.map((one) => {
    const config = readIssuer(one);
    one.demandUnique("issuer", owners);
    return config;
  });
}

function readIssuer(section: Section): IssuerConfig {
  const rules = readRules(section);
  const issuer = readOptions(section, issuerOptions);
  section.demand("issuer");
  if (section.isValid("hmac_secret")) checkIssuerKeys(section, rules, issuer.hmacSecret);
  section.refuseOthers(unsupportedIssuerKeys);
  return { ...rules, ...issuer };
}

/** Reports an issuer without a key, and keys of an issuer that have no effect. */
function checkIssuerKeys(
  section: Section,
  rules: TokenRules,
  hmacSecret: string | undefined,
): void {
  const { publicKeys, jwksPublicEndpoint, hmacPreviousSecretKeyValidUntilSeconds } = rules;
  if (hmacSecret !== undefined) {
    if (jwksPublicEndpoint !== undefined)
      section.problem("hmac_secret", "can't be combined with jwks_public_endpoint");
    return;
  }
  if (jwksPublicEndpoint !== undefined) return;
  const areValid = Object.keys(publicKeyOptions).every((name) => section.isValid(name));
  if (hmacPreviousSecretKeyValidUntilSeconds > 0)
    section.problem(previousUntil, "requires hmac_secret");
  else if (areValid && publicKeys.length === 0)
    section.problem("issuer", "has no key: set hmac_secret, a public key or jwks_public_endpoint");
}

const previousUntil = "hmac_previous_secret_key_valid_until";

function hasEffect(config: TokenConfig): boolean {
  const { publicKeys, hmacPreviousSecretKeyValidUntilSeconds, userIdClaim, issuers, ...others } =
    config;
  return (
    publicKeys.length > 0 ||
    issuers.length > 0 ||
    hmacPreviousSecretKeyValidUntilSeconds > 0 ||
    userIdClaim !== "sub" ||
    Object.keys(others).length > 0
  );
}
