import { isPublic } from "./public-secrets.ts";
import { limits } from "../limits.ts";

/** The name of a secret that every Worker may have, as docs/configuration.md explains them. */
export type SecretName =
  | "API_KEY"
  | "API_KEY_PREVIOUS"
  | "TOKEN_HMAC_SECRET_KEY"
  | "TOKEN_HMAC_PREVIOUS_SECRET_KEY"
  | "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY"
  | "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY"
  | "HOOK_SIGNING_SECRET"
  | "HOOK_SIGNING_PREVIOUS_SECRET"
  | "METRICS_KEY"
  | "METRICS_KEY_PREVIOUS"
  | "SHARED_POLL_HMAC_SECRET_KEY"
  | "SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY"
  | "CONSOLE_PASSWORD";

/** Secrets by their names; a secret that is absent or empty is missing. */
export type Secrets = { readonly [name: string]: string | undefined };

/** The use of a secret. */
export interface SecretUse {
  readonly name: string;
  /**
   * api: a key of the HTTP API. token, issuer: signs tokens, those of one issuer or all. hook: signs questions.
   * metrics: reads metrics. poll: signs the keys of shared polls. console: lets an operator into the console. application: signs what an application's
   * server asks, and the tokens of its clients.
   */
  readonly kind:
    | "api"
    | "token"
    | "issuer"
    | "hook"
    | "metrics"
    | "poll"
    | "console"
    | "application";
  /** The secret of which this one is a value: itself, or the one that it preceded. */
  readonly of: string;
}

/** The uses of a secret and of the one with the value that it had before; both are accepted while they are rotated. */
export function secretPair(
  name: string,
  kind: SecretUse["kind"],
  previous: string = previousName(name),
): readonly SecretUse[] {
  return [
    { name, kind, of: name },
    { name: previous, kind, of: name },
  ];
}

/** The name of the secret with the value that a secret had before. */
export function previousName(name: string): string {
  return `${name}_PREVIOUS`;
}

/**
 * Takes the secrets that are used from an environment; a value that isn't a text is no secret.
 *
 * @param source the Worker's environment, variables of a process, or the content of a file
 */
export function secretsIn(
  source: object,
  uses: readonly SecretUse[],
): Readonly<Record<string, string>> {
  const secrets: Record<string, string> = {};
  for (const { name } of uses) {
    const value: unknown = Reflect.get(source, name);
    if (typeof value === "string" && value !== "") secrets[name] = value;
  }
  return secrets;
}

/**
 * The problems of secrets that were copied wrong, or that others know or could guess (rule A10). A missing secret isn't
 * reported here.
 *
 * @param development whether only this machine is served: weak secrets are good enough then
 * @returns a sentence for each secret with a problem, without its value (rule A7)
 */
export function secretProblems(
  secrets: Secrets,
  uses: readonly SecretUse[],
  development: boolean,
): readonly string[] {
  return uses.flatMap((use) => {
    const { name } = use;
    const value = secrets[name] ?? "";
    const problem =
      value === ""
        ? undefined
        : (whiteSpaceProblem(value) ??
          placeholderProblem(value) ??
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

function placeholderProblem(value: string): string | undefined {
  return isPlaceholder(value)
    ? "is a placeholder, which nothing has replaced by a value"
    : undefined;
}

/** Whether a text stands for a value that a template or a compose file would put there (rule A10). */
export function isPlaceholder(text: string): boolean {
  return /^(?:\$\{.*\}|\{\{.*\}\}|<.*>|%.*%)$/s.test(text);
}

function weakness(value: string): string | undefined {
  if (isPublic(value)) return "has the value in .dev.vars.example, which is public";
  if (value.length < limits.secretCharactersMin)
    return `has fewer than ${limits.secretCharactersMin} characters`;
  return /^(.)\1*$/su.test(value) ? "repeats one character" : undefined;
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
 * Who may publish may not therefore sign tokens, nor the other way round; each key of the API admits something else, and
 * no issuer signs for another one. A previous secret may be equal to the current one, because it is while they are
 * rotated. It may also be when subscription tokens get a secret of their own: their previous secret is that of connection
 * tokens then.
 */
function mustDiffer(one: SecretUse, other: SecretUse): boolean {
  if (one.of === other.of) return false;
  const areTokens = one.kind === "token" && other.kind === "token";
  return !areTokens || (one.of === one.name && other.of === other.name);
}
