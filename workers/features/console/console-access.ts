import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { type ParsedKeySet, parseTokenAlgorithm } from "../../../src/access/keys.ts";
import { type ConsoleAccessConfig, consolePassword } from "../../../src/features/console/config.ts";
import type { Configured } from "../../platform/configuration.ts";
import { areEqual, digest } from "../../platform/digest.ts";
import { embeddedHere } from "../../platform/embedded.ts";
import { fetchKeySet, KeySet } from "../../platform/key-set.ts";

/**
 * Lets operators into the console who know its password, whom Cloudflare Access lets through (rule N2), or whom the code of
 * a Worker of one's own knows (rule OW15).
 */
export type ConsoleAccess = PasswordAccess | TeamAccess | WorkerAccess;

/** The login of a Worker's console (rules N1 and N2); undefined where the console is off. */
export function consoleAccess(configured: Configured): ConsoleAccess | undefined {
  const { config, secrets } = configured;
  if (config.console?.enabled !== true) return undefined;
  const known = accesses.get(configured);
  if (known !== undefined) return known;
  const { access } = config.console;
  const password = secrets.given[consolePassword];
  const admits = embeddedHere()?.admitsOperator;
  const made =
    admits !== undefined
      ? new WorkerAccess(admits)
      : access
        ? new TeamAccess(access)
        : password && new PasswordAccess(password);
  if (!made) return undefined;
  accesses.set(configured, made);
  return made;
}

/** Made once for each configuration, because they cache keys. */
const accesses = new WeakMap<Configured, ConsoleAccess>();

/**
 * The console behind a password. A login is a token of its own, which the browser keeps in a cookie. Its key comes from
 * the password, so that a new password ends all logins.
 */
export class PasswordAccess {
  readonly kind = "password";
  readonly #password: string;

  constructor(password: string) {
    this.#password = password;
  }

  /**
   * Logs an operator in.
   *
   * @param password as it was given
   * @returns the tokens of the login and of the browser; undefined if the password is wrong
   */
  async logIn(password: string, nowMs: number): Promise<Login | undefined> {
    if (password.length > consoleLimits.consolePasswordCharactersMax) return undefined;
    const [sent, right] = await Promise.all([digest(password), digest(this.#password)]);
    return areEqual(new Uint8Array(sent), new Uint8Array(right)) ? this.admit(nowMs) : undefined;
  }

  /** The tokens of a login by somebody who has proved otherwise who they are (rule N22). */
  async admit(nowMs: number): Promise<Login> {
    return {
      token: await this.#sign(sessionAudience, nowMs, consoleLimits.consoleSessionSeconds),
      known: await this.#sign(knownAudience, nowMs, consoleLimits.consoleKnownSeconds),
    };
  }

  /** When the login with this token ends, in seconds since 1970; undefined if there is no such login. */
  async endOf(token: string, nowMs: number): Promise<number | undefined> {
    return this.#endOf(token, sessionAudience, nowMs);
  }

  /** Whether a token is that of a browser that has logged in with this password (rule N11). */
  async knows(known: string, nowMs: number): Promise<boolean> {
    return (await this.#endOf(known, knownAudience, nowMs)) !== undefined;
  }

  async #sign(audience: string, nowMs: number, seconds: number): Promise<string> {
    const nowSeconds = Math.floor(nowMs / 1_000);
    return (
      new SignJWT()
        .setProtectedHeader({ alg: "HS256" })
        .setAudience(audience)
        .setIssuedAt(nowSeconds)
        // Two logins in a second have different tokens, so that each ends by itself.
        .setJti(crypto.randomUUID())
        .setExpirationTime(nowSeconds + seconds)
        .sign(await this.#key())
    );
  }

  async #endOf(token: string, audience: string, nowMs: number): Promise<number | undefined> {
    return endOfToken(token, await this.#key(), nowMs, { algorithms: ["HS256"], audience });
  }

  async #key(): Promise<Uint8Array> {
    return new Uint8Array(await digest(`${sessionAudience}\n${this.#password}`));
  }
}

/** The console behind Cloudflare Access, which signs an assertion for each request that it lets through. */
export class TeamAccess {
  readonly kind = "access";
  readonly #issuer: string;
  readonly #audience: string;
  readonly #keys: KeySet;

  /** @param fetchKeys fetches the team's keys; absent for those of the team's domain */
  constructor({ team, audience }: ConsoleAccessConfig, fetchKeys?: () => Promise<ParsedKeySet>) {
    this.#issuer = `https://${team}`;
    this.#audience = audience;
    const url = `${this.#issuer}/cdn-cgi/access/certs`;
    this.#keys = new KeySet(
      fetchKeys ?? (() => fetchKeySet(url)),
      " of console.access_team_domain",
    );
  }

  /** When an assertion ends, in seconds since 1970; undefined if it isn't one of the team for this application. */
  async endOf(assertion: string, nowMs: number): Promise<number | undefined> {
    if (assertion.length > consoleLimits.consoleAssertionCharactersMax) return undefined;
    const { alg, kid } = headerOf(assertion);
    const algorithm = parseTokenAlgorithm(alg);
    if (algorithm === undefined) return undefined;
    const found = await this.#keys.keysFor(algorithm, kid, nowMs);
    if (found.outcome !== "found") return undefined;
    for (const key of found.keys) {
      const rules = { algorithms: [algorithm], issuer: this.#issuer, audience: this.#audience };
      const end = await endOfToken(assertion, key, nowMs, rules);
      if (end !== undefined) return end;
    }
    return undefined;
  }
}

/** The console of a Worker of one's own, whose code says who its operators are. */
class WorkerAccess {
  readonly kind = "worker";
  /** Asks for one request. */
  readonly admits: (request: Request) => Promise<boolean>;

  constructor(admits: (request: Request) => Promise<boolean>) {
    this.admits = admits;
  }

  /** When the answer ends, in seconds since 1970: the code can't tell of a log-out, and is asked again. */
  async endOf(_: string, nowMs: number): Promise<number> {
    return Math.floor(nowMs / 1_000) + consoleLimits.consoleAdmittedSeconds;
  }
}

/** What a browser gets at a login. */
export interface Login {
  /** Proves the login until it ends. */
  readonly token: string;
  /** Proves only that the browser has logged in before: it admits to nothing (rule N11). */
  readonly known: string;
}

/** A login is for the console, and for nothing else that might be signed with the same key. */
const sessionAudience = "dormouse-console";
const knownAudience = "dormouse-console-known";

function headerOf(token: string): { readonly alg?: string; readonly kid?: string } {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return { ...(alg !== undefined && { alg }), ...(kid !== undefined && { kid }) };
  } catch {
    return {}; // Its only error says that the token is malformed.
  }
}

/** When a token ends; undefined if it isn't valid, or has no end. */
async function endOfToken(
  token: string,
  key: CryptoKey | Uint8Array,
  nowMs: number,
  rules: { readonly algorithms: string[]; readonly audience: string; readonly issuer?: string },
): Promise<number | undefined> {
  try {
    const options = { ...rules, currentDate: new Date(nowMs) };
    const { payload }: { readonly payload: JWTPayload } = await jwtVerify(token, key, options);
    return payload.exp;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
