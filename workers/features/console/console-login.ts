/** The login of the console (rules N2, N3, N10, N11): its cookies, and the assertion of Cloudflare Access. */
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import * as v from "valibot";
import { GuessBound } from "../../../src/features/console/guess-bound.ts";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import {
  type ConsoleAccess,
  consoleAccess,
  type Login,
  type PasswordAccess,
} from "./console-access.ts";
import { utf8Text } from "../../../src/protocol/bytes.ts";
import { AddressRate } from "../../http/client-address.ts";
import { addressOf } from "../../http/endpoints.ts";
import type { AppEnv } from "../../http/app-env.ts";
import type { Ordered } from "../../../src/contract/user-order.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { limits } from "../../../src/limits.ts";
import { digest, hexadecimal } from "../../platform/digest.ts";
import { answerInTime } from "../../platform/object-call.ts";
import { anybodysBytes } from "../../http/body.ts";
import { keyAmong } from "../../http/middleware.ts";
import type { Configured } from "../../platform/configuration.ts";
import { mountedAt } from "../../platform/embedded.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondNotFound,
  respondText,
} from "../../http/responses.ts";

/** The console of a Worker; where it is off, its paths don't exist. */
export const consoleOn: MiddlewareHandler<AppEnv> = async (context, next) =>
  consoleAccess(context.var.configured) === undefined ? respondNotFound() : next();

/** Lets everybody see the page and its files, but in a Worker of one's own that knows its operators only these. */
export const maySeePage: MiddlewareHandler<AppEnv> = async (context, next) => {
  const access = consoleAccess(context.var.configured);
  return access?.kind !== "worker" || (await access.admits(context.req.raw))
    ? next()
    : respondText(403, "Forbidden");
};

/**
 * Lets only requests of the console's own pages pass (rule N3): the browser's cookie comes with requests of others, too.
 * The scheme isn't compared, because a proxy in front may have taken TLS off.
 */
export const ownOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const origin = context.req.header("Origin") ?? "";
  const site = context.req.header("Sec-Fetch-Site") ?? "same-origin";
  if (site === "same-origin" && hostOf(origin) === new URL(context.req.url).host) return next();
  context.set("refusal", { rule: "N3", reason: "the request isn't from a page of the console" });
  return respondText(403, "Forbidden");
};

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Lets only an operator pass who is logged in, or whom Cloudflare Access has let through (rule N2). */
export const loggedIn: MiddlewareHandler<AppEnv> = async (context, next) => {
  if ((await loginOf(context)) === undefined) {
    // The page asks for its settings to find out whether there is a login: nothing is refused by that.
    if (context.req.path !== settingsPath)
      context.set("refusal", { rule: "N2", reason: "nobody is logged in to the console" });
    return respondText(401, "Unauthorized");
  }
  context.set("apiKey", { name: "console" });
  return next();
};

/** The login of a request: when it ends, in seconds since 1970, and its ID, which is none of a token of clients. */
export async function loginOf(
  context: Context<AppEnv>,
): Promise<{ readonly endsAtSeconds: number; readonly id: string } | undefined> {
  const access = consoleAccess(context.var.configured);
  if (access === undefined) return undefined;
  const proof = await proofOf(context, access);
  const endsAtSeconds = proof === "" ? undefined : await access.endOf(proof, Date.now());
  if (endsAtSeconds === undefined) return undefined;
  const id = hexadecimal(new Uint8Array(await digest(`console login\n${proof}`)));
  return { endsAtSeconds, id: `console ${id}` };
}

async function proofOf(context: Context<AppEnv>, access: ConsoleAccess): Promise<string> {
  switch (access.kind) {
    case "password":
      return getCookie(context, cookieName) ?? "";
    case "access":
      return context.req.header("Cf-Access-Jwt-Assertion") ?? "";
    case "worker":
      // Each socket ends by itself.
      return (await access.admits(context.req.raw)) ? crypto.randomUUID() : "";
  }
}

/** `POST /console/login` with `{"password":"…"}`: sets the cookies of a login. */
export function logIn(): (context: Context<AppEnv>) => Promise<Response> {
  const attempts = new AddressRate({
    burst: consoleLimits.consoleLoginsBurst,
    perSecond: consoleLimits.consoleLoginsPerSecond,
  });
  // An attacker's guesses don't lock out the browsers of operators (rule N11).
  const ofKnown = new GuessBound();
  const ofOthers = new GuessBound();
  return async (context) => {
    const access = consoleAccess(context.var.configured);
    if (access?.kind !== "password") return respondNotFound();
    const nowMs = Date.now();
    const isKnown = await access.knows(getCookie(context, knownCookieName) ?? "", nowMs);
    if (!isKnown && !attempts.admits(addressOf(context), nowMs)) {
      context.set("refusal", {
        rule: "N2",
        reason: "the client's address tries to log in too fast",
      });
      return respondBusy(busyRetrySeconds());
    }
    const password = await passwordIn(context.req.raw);
    if (password instanceof Response) return password;
    if (password === undefined) return wrongPassword(context);
    return compare(context, access, isKnown ? ofKnown : ofOthers, { password, nowMs });
  };
}

async function compare(
  context: Context<AppEnv>,
  access: PasswordAccess,
  guesses: GuessBound,
  { password, nowMs }: { readonly password: string; readonly nowMs: number },
): Promise<Response> {
  // Guesses of a key are compared by the HTTP API as often as they come, so nothing is gained by trying them here.
  if (await isApiKey(password, context.var.configured))
    return admitted(context, await access.admit(nowMs));
  const waitSeconds = Math.ceil(guesses.attempt(nowMs) / 1_000);
  if (waitSeconds > 0) {
    const reason = `too many wrong passwords: no other is compared for ${waitSeconds} s, but the API key logs in`;
    context.set("refusal", { rule: "N10", reason });
    return respondBusy(waitSeconds);
  }
  const login = await access.logIn(password, nowMs);
  if (login === undefined) return wrongPassword(context);
  guesses.right();
  return admitted(context, login);
}

/** Whether a text is a key of the HTTP API that admits everything, as a login does (rule N22). */
async function isApiKey(text: string, configured: Configured): Promise<boolean> {
  if (text.length > consoleLimits.consolePasswordCharactersMax) return false;
  const key = await keyAmong([text], configured);
  return key !== undefined && key.rights === undefined;
}

/** 204 with the cookies of a login. */
function admitted(context: Context<AppEnv>, login: Login): Response {
  const response = withCookie(context, login.token, consoleLimits.consoleSessionSeconds);
  const known = cookie(context, knownCookieName, login.known, consoleLimits.consoleKnownSeconds);
  response.headers.append("Set-Cookie", known);
  return response;
}

function wrongPassword(context: Context<AppEnv>): Response {
  context.set("refusal", { rule: "N2", reason: "the password isn't CONSOLE_PASSWORD" });
  return respondText(401, "Unauthorized");
}

/**
 * `POST /console/logout`: deletes the cookie, and closes the login's sockets: these were made with its ID as with a token,
 * which is revoked (rules N27 and U10). Calls with a copy of the cookie end by its time, or with the password.
 */
export async function logOut(context: Context<AppEnv>): Promise<Response> {
  const login = await loginOf(context);
  const loggedOut = withCookie(context, "", 0);
  if (login === undefined || !context.var.configured.config.client.users.enabled) return loggedOut;
  const key = tokenKey(login.id);
  const { id: uid, endsAtSeconds: expireAtSeconds } = login;
  const order = { method: "revoke_token", uid, expireAtSeconds } as const;
  const ordered = await answerInTime<Ordered>(
    "log-out of the console",
    limits.orderAnswerMs * 2,
    () => context.env.USERS.getByName(homeName(key)).order(key, [order]),
  );
  // The home goes on with what it has taken. Otherwise the operator logs out again.
  const isTaken = ordered?.outcome === "done" || ordered?.outcome === "pending";
  return isTaken ? loggedOut : respondBusy(busyRetrySeconds());
}

function withCookie(context: Context<AppEnv>, value: string, seconds: number): Response {
  const headers = { "Set-Cookie": cookie(context, cookieName, value, seconds) };
  return new Response(null, { status: 204, headers });
}

/** A cookie for the console alone: no script can read it, and no other site's request carries it. */
function cookie({ req }: Context<AppEnv>, name: string, value: string, seconds: number): string {
  const { protocol, hostname } = new URL(req.url);
  // A browser on this machine may refuse it otherwise, as `npm start` has no TLS.
  const isLocal = protocol === "http:" && localNames.has(hostname);
  const secure = isLocal ? "" : "; Secure";
  return `${name}=${value}; Path=${mountedAt()}/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The path at which the page asks for its settings. */
export const settingsPath = "/console/api/settings";

const cookieName = "dormouse-console";
const knownCookieName = "dormouse-console-known";
const localNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

async function passwordIn(request: Request): Promise<string | undefined | Response> {
  const bytes = await anybodysBytes(request, consoleLimits.consolePasswordCharactersMax * 8);
  if (bytes instanceof Response) return bytes;
  const text = utf8Text(bytes);
  const parsed = text === undefined ? undefined : v.safeParse(loginShape(), text);
  return parsed?.success === true ? parsed.output.password : undefined;
}

const loginShape = () => v.pipe(v.string(), v.parseJson(), v.object({ password: v.string() }));
