import type { Context } from "hono";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import { parseTraceparent } from "../../src/contract/traceparent.ts";
import { noTokenReason, tokenReason } from "../../src/access/refusal.ts";
import type { Codec, Message } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../src/protocol/codes.ts";
import { refusesPage } from "./middleware.ts";
import type { AppEnv } from "./app-env.ts";
import type { Admitted, ClientTransport } from "./placement.ts";
import {
  askAboutClient,
  type ConnectHookOutcome,
  asksAtUpgrade,
  headersForHooks,
} from "../features/hooks/connect-hook.ts";
import { addressOf } from "./endpoints.ts";
import { busyRetrySeconds, respondBusy, respondText, respondTooLarge } from "./responses.ts";
import { getCookie } from "hono/cookie";

/** Whether a client may connect. */
type Admission =
  | ({ readonly outcome: "admitted" } & Admitted)
  | { readonly outcome: "refused"; readonly response: Response };

/** Checks the origin and the token of a request for a connection, before any object is called (rules A3 and A6). */
export async function admit(context: Context<AppEnv>): Promise<Admission> {
  if (refusesPage(context)) return refused(respondText(403, "Forbidden"));
  const token = await checkUpgradeToken(context);
  switch (token.outcome) {
    case "refused":
      context.set("refusal", { rule: "A3", reason: token.reason });
      return refused(respondText(401, token.problem));
    case "unavailable":
      context.set("refusal", { rule: "A9", reason: tokenReason(token) });
      return refused(respondBusy(busyRetrySeconds()));
    case "absent":
      return admitted(context, undefined);
    case "verified":
      return admitted(context, token.claims);
  }
}

/** Admits a client, unless the headers that hooks get are more than a session can keep (rule B2). */
function admitted(context: Context<AppEnv>, claims: ConnectionClaims | undefined): Admission {
  const request = context.req.raw.headers;
  const headers = headersForHooks(context.get("configured").config, request);
  if (headers === "too-large") return refused(respondTooLarge());
  const traceparent = parseTraceparent(request.get("traceparent"));
  const address = claims === undefined ? addressOf(context) : undefined;
  return {
    outcome: "admitted",
    ...(claims !== undefined && { claims }),
    ...(headers !== undefined && { headers }),
    ...(traceparent !== undefined && { traceparent }),
    ...(address !== undefined && { address }),
  };
}

/**
 * Checks a client before any object is called: a backend may have to be asked about it (rule Q10). Where a token is
 * required, a first frame that came with the request has to bring a valid one (rule A12).
 *
 * @param admission of the request itself
 * @param client    how the client is connected
 */
export async function checkClient(
  context: Context<AppEnv>,
  admission: Admitted,
  client: ClientTransport,
  firstFrame?: { readonly codec: Codec; readonly frame: Message },
): Promise<ConnectHookOutcome> {
  if (firstFrame === undefined) return askAboutClient(context, admission, client);
  const isAsked = asksAtUpgrade(context.get("configured").config);
  const isChecked = admission.claims === undefined && (isAsked || tokenRequired(context));
  if (!isChecked) return { outcome: "admitted", ...admission };
  const [first] = firstFrame.codec.decodeFrame(firstFrame.frame).commands;
  if (first?.method !== "connect")
    return closing(context, disconnectCodes.badRequest, noTokenReason);
  const { request } = first;
  const asked = await askAboutClient(context, admission, client, request);
  if (asked.outcome !== "admitted" || asked.claims !== undefined || !tokenRequired(context))
    return asked;
  if (request.token === "") return closing(context, disconnectCodes.badRequest, noTokenReason);
  const verdict = await context.get("configured").verifier.connection(request.token, Date.now());
  return verdict.outcome === "invalid"
    ? closing(context, disconnectCodes.invalidToken, tokenReason(verdict))
    : asked;
}

/** Refuses a client with the code with which the object would close the connection (rule A12). */
function closing(
  context: Context<AppEnv>,
  code: DisconnectCode,
  reason: string,
): ConnectHookOutcome {
  context.set("refusal", { rule: "A12", reason, code: code.code });
  return { outcome: "refused", refusal: { outcome: "disconnect", code } };
}

/** Whether a client needs a connection token, if no backend has given it credentials (rules C3 and Q10). */
export function tokenRequired(context: Context<AppEnv>): boolean {
  const { config } = context.get("configured");
  const isAskedLater = config.hooks.connect !== undefined && !asksAtUpgrade(config);
  return !config.client.allowAnonymousConnectWithoutToken && !isAskedLater;
}

function refused(response: Response): Admission {
  return { outcome: "refused", response };
}

/** The outcome of checking the token of an upgrade. `problem` is for the client, and quotes nothing. */
type UpgradeToken =
  | { readonly outcome: "verified"; readonly claims: ConnectionClaims }
  | { readonly outcome: "absent" }
  /** The token can't be verified now. */
  | { readonly outcome: "unavailable" }
  /** `reason` is for the log. */
  | { readonly outcome: "refused"; readonly problem: string; readonly reason: string };

/** Finds and verifies the token of an upgrade. An attacker without a valid token never reaches an object. */
async function checkUpgradeToken(context: Context<AppEnv>): Promise<UpgradeToken> {
  const { config, verifier } = context.get("configured");
  const known = await visitors.get(context.req.raw)?.();
  if (known !== undefined) return { outcome: "verified", claims: known };
  const token = offeredToken(context, config.client.tokenCookie);
  if (token === "") {
    // A backend that is asked at the upgrade takes the place of the token (rule Q10).
    return config.client.requireEdgeToken && !asksAtUpgrade(config)
      ? {
          outcome: "refused",
          problem: "token required",
          reason: "there is no token, and client.require_edge_token is on",
        }
      : { outcome: "absent" };
  }
  const verdict = await verifier.connection(token, Date.now());
  switch (verdict.outcome) {
    case "verified":
    case "unavailable":
      return verdict;
    case "expired":
      return { outcome: "refused", problem: "token expired", reason: tokenReason(verdict) };
    case "invalid":
      return { outcome: "refused", problem: "invalid token", reason: tokenReason(verdict) };
  }
}

/** The token of a request: from the header, or else from the cookie, or else from the query. "" if there is none. */
export function offeredToken(context: Context<AppEnv>, cookie: string): string {
  const header = /^bearer +(.+)$/i.exec(context.req.header("Authorization") ?? "")?.[1] ?? "";
  if (header !== "") return header;
  const fromCookie = cookie === "" ? "" : (getCookie(context, cookie) ?? "");
  return fromCookie === "" ? (context.req.query("token") ?? "") : fromCookie;
}

/**
 * The user who sends a request, as the Worker around the app knows it. undefined: the Worker doesn't know, and a token or a hook may
 * say it. Found by the request's own object, which nobody else can make.
 */
export const visitors = new WeakMap<Request, () => Promise<ConnectionClaims | undefined>>();
