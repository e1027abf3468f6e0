import { isJsonArray, type JsonObject, type JsonValue } from "../protocol/json-value.ts";

/** What an operator asks of every token's claims besides its signature (reference 5.1 and 5.3). */
export interface ClaimRules {
  /** The claim that names the user: `sub`, unless another one is chosen. */
  readonly userIdClaim: string;
  /** One of the token's audiences must be this. */
  readonly audience?: string;
  /** One of the token's audiences must match this. */
  readonly audienceRegex?: RegExp;
  readonly issuer?: string;
  readonly issuerRegex?: RegExp;
}

/**
 * Whether the token is for us and from whom we trust. A claim that no rule asks for isn't looked at.
 *
 * @returns what is wrong, without any value; undefined when nothing is
 */
export function claimFault(fields: JsonObject, rules: ClaimRules): string | undefined {
  const { audience, audienceRegex, issuer, issuerRegex } = rules;
  if (audience !== undefined || audienceRegex !== undefined) {
    const audiences = textsOf(fields["aud"]);
    const forUs =
      (audience === undefined || audiences.includes(audience)) &&
      (audienceRegex === undefined || audiences.some((text) => audienceRegex.test(text)));
    if (!forUs) return "the audience is another";
  }
  if (issuer !== undefined || issuerRegex !== undefined) {
    const given = fields["iss"];
    const trusted =
      typeof given === "string" &&
      (issuer === undefined || given === issuer) &&
      (issuerRegex === undefined || issuerRegex.test(given));
    if (!trusted) return "the issuer is another";
  }
  return undefined;
}

/** RFC 7519 section 4.1.3: one audience may stand by itself. What isn't text is nobody's audience. */
function textsOf(value: JsonValue | undefined): readonly string[] {
  const values = value !== undefined && isJsonArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
