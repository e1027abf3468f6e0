import { limits } from "../limits.ts";

/** The secrets that every Worker may have, as docs/configuration.md explains them. */
const standardSecrets = [
  { name: "API_KEY", kind: "api", of: "API_KEY" },
  { name: "API_KEY_PREVIOUS", kind: "api", of: "API_KEY" },
  { name: "TOKEN_HMAC_SECRET_KEY", kind: "token", of: "TOKEN_HMAC_SECRET_KEY" },
  { name: "TOKEN_HMAC_PREVIOUS_SECRET_KEY", kind: "token", of: "TOKEN_HMAC_SECRET_KEY" },
  {
    name: "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
    kind: "token",
    of: "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
  },
  {
    name: "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY",
    kind: "token",
    of: "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
  },
] as const satisfies readonly SecretUse[];

/** The name of a secret that every Worker may have. */
export type SecretName = (typeof standardSecrets)[number]["name"];

/** Secrets by their names; a secret that is absent or empty is missing. */
export type Secrets = { readonly [name: string]: string | undefined };

/** A secret whose name stands in the configuration. */
export interface NamedSecret {
  readonly name: string;
  readonly kind: "api";
}

/** The name of the secret with the value that another secret had before; both are accepted while they are rotated. */
export function previousName(name: string): string {
  return `${name}_PREVIOUS`;
}

/** The names of all secrets that a Worker may have: those of every Worker, and those that its configuration names. */
export function secretNames(named: readonly NamedSecret[]): readonly string[] {
  return usesOf(named).map(({ name }) => name);
}

/**
 * Takes secrets from an environment; a value that isn't a text is no secret.
 *
 * @param source the Worker's environment, variables of a process, or the content of a file
 */
export function secretsIn(
  source: object,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const value: unknown = Reflect.get(source, name);
    if (typeof value === "string" && value !== "") secrets[name] = value;
  }
  return secrets;
}

/**
 * The problems of secrets that were copied wrong, or that others know or could guess (rule A10). Missing secrets are
 * none of them.
 *
 * @param named       the secrets that the configuration names
 * @param development whether only this machine is served: weak secrets are good enough then
 * @returns a sentence for each secret with a problem, without its value (rule A7)
 */
export function secretProblems(
  secrets: Secrets,
  named: readonly NamedSecret[],
  development: boolean,
): readonly string[] {
  const uses = usesOf(named);
  return uses.flatMap((use) => {
    const { name } = use;
    const value = secrets[name] ?? "";
    const problem =
      value === ""
        ? undefined
        : (whiteSpaceProblem(value) ??
          (development ? undefined : (weakness(value) ?? equality(use, value, uses, secrets))));
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

/** What a secret is used for. */
interface SecretUse {
  readonly name: string;
  readonly kind: NamedSecret["kind"] | "token";
  /** The secret that this one is a value of: its own name, or the name of the secret that it preceded. */
  readonly of: string;
}

/** The uses of all secrets, the standard ones first. */
function usesOf(named: readonly NamedSecret[]): readonly SecretUse[] {
  const uses = new Map<string, SecretUse>(standardSecrets.map((use) => [use.name, use]));
  for (const { name, kind } of named) {
    uses.set(name, { name, kind, of: name });
    uses.set(previousName(name), { name: previousName(name), kind, of: name });
  }
  return [...uses.values()];
}

/** The problem of a secret whose value an earlier one of the list has that must be another. */
function equality(
  use: SecretUse,
  value: string,
  uses: readonly SecretUse[],
  secrets: Secrets,
): string | undefined {
  const earlier = uses.slice(0, uses.indexOf(use));
  const equal = earlier.find((other) => secrets[other.name] === value && mustDiffer(other, use));
  return equal === undefined ? undefined : `is equal to secret ${equal.name}`;
}

/**
 * Who may publish may not therefore sign tokens, nor the other way round, and each key of the API admits something else.
 * A previous secret may be equal to the current one, because it is while they are rotated. So it may be when subscription
 * tokens get a secret of their own: their previous secret is that of connection tokens then.
 */
function mustDiffer(one: SecretUse, other: SecretUse): boolean {
  if (one.of === other.of) return false;
  const areTokens = one.kind === "token" && other.kind === "token";
  return !areTokens || (one.of === one.name && other.of === other.name);
}

/** The values in .dev.vars.example. */
const publicValues: ReadonlySet<string> = new Set([
  "development-api-key",
  "development-token-hmac-secret-key",
]);
