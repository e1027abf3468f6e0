import { type KeyKind, parsePublicKey, type PublicKey } from "../access/keys.ts";
import { readText } from "./fields.ts";
import type { Options } from "./option.ts";
import { readPattern } from "./regex.ts";
import type { Section } from "./section.ts";

/** The public keys of a section of tokens, and of each of its issuers. */
export const publicKeyOptions = {
  /** Verifies tokens signed with RS256, RS384 or RS512; at least 2,048 bits. */
  rsa_public_key: {
    is: "text",
    read: (section, name) => readPublicKey(section, name, ["RSA"], "an RSA public key"),
  },
  /**
   * Verifies tokens signed with ES256, ES384 or ES512, for a key on the curve P-256, P-384 or P-521.
   *
   * @differs P-256, P-384 and P-521
   */
  ecdsa_public_key: {
    is: "text",
    read: (section, name) => readPublicKey(section, name, ecKinds, ecMeaning),
  },
  /**
   * Verifies tokens signed with EdDSA (Ed25519); Centrifugo takes such a key from a JWKS only.
   */
  eddsa_public_key: {
    is: "text",
    own: true,
    read: (section, name) => readPublicKey(section, name, ["Ed25519"], "an Ed25519 public key"),
  },
  /**
   * The address of a JWKS, whose keys verify RS, ES and EdDSA tokens. The secrets then have no effect, and neither other
   * keys nor `hmac_previous_secret_key_valid_until` may be set.
   *
   * @differs a fixed `https` address, without templates
   */
  jwks_public_endpoint: { is: "text", read: readJwksEndpoint },
} as const satisfies Options;

/** The option about the previous secret of a section, or of one of its issuers. */
export const previousSecretOptions = {
  /** The time until which the previous secret is valid, in seconds since 1970; 0 means as long as the secret is set. */
  hmac_previous_secret_key_valid_until: { is: "whole", default: 0, min: 0, unit: "Seconds" },
} as const satisfies Options;

/** The options about claims that the tokens of a section, or of one of its issuers, must have. */
export const claimOptions = {
  /** The text that one of the token's audiences (`aud`) has to equal. */
  audience: { is: "text", optional: true },
  /** The pattern that one of the token's audiences has to match; with `audience`, both hold. */
  audience_regex: { is: "text", read: readPattern },
  /** The claim that names the user; `""` means `sub`. */
  user_id_claim: { is: "text", zeroIs: "sub" },
} as const satisfies Options;

/** The options of a section of tokens about `iss`. */
export const issuerClaimOptions = {
  /** The text that the token's issuer (`iss`) has to equal. */
  issuer: { is: "text", optional: true },
  /** The pattern that the token's issuer has to match; with `issuer`, both hold. */
  issuer_regex: { is: "text", read: readPattern },
} as const satisfies Options;

/** The options of each of `issuers` beside its keys and claims. */
export const issuerOptions = {
  /**
   * The `iss` of its tokens, which is compared exactly.
   *
   * @default required
   */
  issuer: { is: "text" },
  /**
   * The name of the Worker's secret that signs them: `TOKEN_HMAC_SECRET_KEY_` and more of `A-Z`, `0-9` and `_`. The secret
   * itself never stands in the configuration. The secret of that name with `_PREVIOUS` is accepted as well, until
   * `hmac_previous_secret_key_valid_until`.
   */
  hmac_secret: { is: "text", secret: "TOKEN_HMAC_SECRET_KEY", optional: true },
} as const satisfies Options;

/** The option of `client.subscription_token` that `client.token` doesn't have. */
export const separateTokenOptions = {
  /**
   * In `client.subscription_token` only: subscription tokens are verified with the keys and rules of this section and none
   * of `client.token`. Without it, `client.token` applies to both kinds of token.
   */
  enabled: { is: "boolean" },
} as const satisfies Options;

const ecKinds = ["P-256", "P-384", "P-521"] as const;
const ecMeaning = "an elliptic curve public key (P-256, P-384 or P-521)";

/** Reads a public key. The value of an invalid one isn't quoted, because it may be a private key. */
function readPublicKey(
  section: Section,
  name: string,
  kinds: readonly KeyKind[],
  meaning: string,
): PublicKey | undefined {
  const text = readText(section, name);
  if (text === "") return undefined;
  const key = parsePublicKey(text);
  if (key !== undefined && kinds.includes(key.kind)) return key;
  section.problem(name, `is not ${meaning} in PEM, which begins with -----BEGIN PUBLIC KEY-----`);
  return undefined;
}

/** Reads the URL of the JWKS. An invalid one isn't quoted, because it may contain a password by mistake. */
function readJwksEndpoint(section: Section, name: string): string | undefined {
  const url = readText(section, name);
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

/**
 * Keys that came over an unencrypted connection could be an attacker's. The host must have a name, because an IP
 * address doesn't name its owner. A host whose last label begins with a letter is never taken for an IP address (WHATWG
 * URL section 3.5).
 */
const endpointShape =
  /^(?:https:\/\/(?:[a-z\d][-\w]*\.)*[a-z](?:[-\w]*\w)?|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:[/?][^\s#\\]*)?$/i;
