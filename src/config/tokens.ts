import { parsePublicKey, type PublicKey, type KeyKind } from "../access/keys.ts";
import { limits } from "../limits.ts";
import type { IssuerConfig, TokenConfig, TokenRules } from "./config.ts";
import { readPattern } from "./regex.ts";
import type { Section } from "./section.ts";
import { readBoolean, readSecretName, readText, readWholeNumber } from "./fields.ts";
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
  const enabled = readBoolean(section, "enabled");
  const config = readTokens(section);
  section.refuseOthers(unsupportedTokenKeys("SUBSCRIPTION_TOKEN"));
  if (enabled) return config;
  if (section.isValid("enabled") && hasEffect(config)) {
    section.problem("enabled", "must be true for the other keys of this section to have an effect");
  }
  return undefined;
}

function readTokens(section: Section): TokenConfig {
  const rules = readRules(section);
  const issuer = readText(section, "issuer", { default: "" });
  const issuerRegex = readPattern(section, "issuer_regex");
  const config = {
    ...rules,
    ...(issuer === "" ? {} : { issuer }),
    ...(issuerRegex && { issuerRegex }),
  };
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
  const publicKeys = publicKeyOptions.flatMap((option) => readPublicKey(section, option));
  const jwksPublicEndpoint = readEndpoint(section);
  if (jwksPublicEndpoint !== undefined && publicKeys.length > 0) {
    section.problem("jwks_public_endpoint", "can't be combined with other public keys");
  }
  const previousUntil = "hmac_previous_secret_key_valid_until";
  const hmacPreviousSecretKeyValidUntilSeconds = readWholeNumber(section, previousUntil, {
    default: 0,
    min: 0,
  });
  if (jwksPublicEndpoint !== undefined && hmacPreviousSecretKeyValidUntilSeconds > 0) {
    section.problem(previousUntil, "can't be combined with jwks_public_endpoint");
  }
  const audience = readText(section, "audience", { default: "" });
  const audienceRegex = readPattern(section, "audience_regex");
  const userIdClaim = readText(section, "user_id_claim", { default: "" });
  return {
    publicKeys,
    ...(jwksPublicEndpoint === undefined ? {} : { jwksPublicEndpoint }),
    hmacPreviousSecretKeyValidUntilSeconds,
    userIdClaim: userIdClaim === "" ? "sub" : userIdClaim,
    ...(audience === "" ? {} : { audience }),
    ...(audienceRegex && { audienceRegex }),
  };
}

/** Reads `issuers` (rule A15). */
function readIssuers(section: Section): readonly IssuerConfig[] {
  const sections = section.sections("issuers", "issuer");
  if (sections.length > limits.tokenIssuersMax)
    section.problem("issuers", `has more than ${limits.tokenIssuersMax} entries`);
  const owners = new Map<string, string>();
  return sections.map((one) => {
    const config = readIssuer(one);
    one.demandUnique("issuer", owners);
    return config;
  });
}

function readIssuer(section: Section): IssuerConfig {
  const rules = readRules(section);
  const issuer = readText(section, "issuer", { default: "" });
  const hmacSecret = readSecretName(section, "hmac_secret", "TOKEN_HMAC_SECRET_KEY");
  section.demand("issuer");
  if (section.isValid("hmac_secret")) checkIssuerKeys(section, rules, hmacSecret);
  section.refuseOthers(unsupportedIssuerKeys);
  return { ...rules, issuer, ...(hmacSecret === "" ? {} : { hmacSecret }) };
}

/** Reports an issuer without a key, and keys of an issuer that have no effect. */
function checkIssuerKeys(section: Section, rules: TokenRules, hmacSecret: string): void {
  const { publicKeys, jwksPublicEndpoint, hmacPreviousSecretKeyValidUntilSeconds } = rules;
  const areValid = [...publicKeyOptions.map(({ name }) => name), "jwks_public_endpoint"].every(
    (name) => section.isValid(name),
  );
  if (hmacSecret !== "") {
    if (jwksPublicEndpoint !== undefined)
      section.problem("hmac_secret", "can't be combined with jwks_public_endpoint");
  } else if (hmacPreviousSecretKeyValidUntilSeconds > 0 && jwksPublicEndpoint === undefined) {
    section.problem("hmac_previous_secret_key_valid_until", "requires hmac_secret");
  } else if (areValid && publicKeys.length === 0 && jwksPublicEndpoint === undefined) {
    section.problem("issuer", "has no key: set hmac_secret, a public key or jwks_public_endpoint");
  }
}

interface PublicKeyOption {
  readonly name: string;
  readonly kinds: readonly KeyKind[];
  /** The key in words, for the problem. */
  readonly meaning: string;
}

const publicKeyOptions: readonly PublicKeyOption[] = [
  { name: "rsa_public_key", kinds: ["RSA"], meaning: "an RSA public key" },
  {
    name: "ecdsa_public_key",
    kinds: ["P-256", "P-384", "P-521"],
    meaning: "an elliptic curve public key (P-256, P-384 or P-521)",
  },
  { name: "eddsa_public_key", kinds: ["Ed25519"], meaning: "an Ed25519 public key" },
];

/** Reads a public key. The value of an invalid one isn't quoted, because it may be a private key. */
function readPublicKey(section: Section, option: PublicKeyOption): readonly PublicKey[] {
  const text = readText(section, option.name, { default: "" });
  if (text === "") return [];
  const key = parsePublicKey(text);
  if (key !== undefined && option.kinds.includes(key.kind)) return [key];
  section.problem(
    option.name,
    `is not ${option.meaning} in PEM, which begins with -----BEGIN PUBLIC KEY-----`,
  );
  return [];
}

/** Reads the URL of the JWKS. An invalid one isn't quoted, because it may contain a password by mistake. */
function readEndpoint(section: Section): string | undefined {
  const name = "jwks_public_endpoint";
  const url = readText(section, name, { default: "" });
  if (url === "") return undefined;
  if (/[{}]/.test(url)) {
    section.problem(name, "has a template, which is not supported by Dormouse");
  } else if (!endpointShape.test(url)) {
    section.problem(
      name,
      "is not an https URL with a host name and without user, password or fragment (http is allowed for localhost only)",
    );
  } else {
    return url;
  }
  return undefined;
}

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

/**
 * Keys that came over an unencrypted connection could be an attacker's. The host must have a name, because an IP
 * address doesn't name its owner. A host whose last label begins with a letter is never taken for an IP address (WHATWG
 * URL section 3.5).
 */
const endpointShape =
  /^(?:https:\/\/(?:[a-z\d][-\w]*\.)*[a-z](?:[-\w]*\w)?|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:[/?][^\s#\\]*)?$/i;
