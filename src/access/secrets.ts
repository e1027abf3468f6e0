import { limits } from "../limits.ts";

/** The names of the Worker's secrets, as docs/configuration.md explains them. */
export const secretNames = [
  "API_KEY",
  "TOKEN_HMAC_SECRET_KEY",
  "TOKEN_HMAC_PREVIOUS_SECRET_KEY",
  "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
  "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY",
] as const;

/** Secrets by their names; a secret that is absent or empty is missing. */
export type Secrets = { readonly [Name in (typeof secretNames)[number]]?: string };

/**
 * The problems of secrets that were copied wrong, or that others know or could guess (rule A10). Missing secrets are
 * none of them.
 *
 * @param development whether only this machine is served: weak secrets are good enough then
 * @returns a sentence for each secret with a problem, without its value (rule A7)
 */
export function secretProblems(secrets: Secrets, development: boolean): readonly string[] {
  return secretNames.flatMap((name) => {
    const value = secrets[name] ?? "";
    const problem =
      value === ""
        ? undefined
        : (whiteSpaceProblem(value) ??
          (development ? undefined : (weakness(value) ?? equality(name, value, secrets))));
    return problem === undefined ? [] : [`secret ${name} ${problem}`];
  });
}

/** White space at an end is never meant: it comes from a file or from a shell, and no client sends it. */
function whiteSpaceProblem(value: string): string | undefined {
  if (value.trim() === "") return "consists of white space";
  if (/[\r\n]$/.test(value)) return "ends with a line break";
  return value.trim() === value ? undefined : "begins or ends with white space";
}

function weakness(value: string): string | undefined {
  if (publicValues.has(value)) return "has the value in .dev.vars.example, which is public";
  if (value.length < limits.secretCharactersMin)
    return `has fewer than ${limits.secretCharactersMin} characters`;
  return /^(.)\1*$/su.test(value) ? "repeats one character" : undefined;
}

/**
 * Refuses equal secrets for different uses: a backend that may publish could also sign tokens, or a signer publish. A
 * previous secret may be equal to the current one of its kind, because the two are equal while they are rotated.
 */
function equality(name: keyof Secrets, value: string, secrets: Secrets): string | undefined {
  const equal = mustDiffer
    .filter(([, second]) => second === name)
    .find(([first]) => secrets[first] === value);
  return equal === undefined ? undefined : `is equal to secret ${equal[0]}`;
}

const mustDiffer: readonly (readonly [keyof Secrets, keyof Secrets])[] = [
  ["API_KEY", "TOKEN_HMAC_SECRET_KEY"],
  ["API_KEY", "TOKEN_HMAC_PREVIOUS_SECRET_KEY"],
  ["API_KEY", "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY"],
  ["API_KEY", "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY"],
  ["TOKEN_HMAC_SECRET_KEY", "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY"],
];

/** The values in .dev.vars.example. */
const publicValues: ReadonlySet<string> = new Set([
  "development-api-key",
  "development-token-hmac-secret-key",
]);
