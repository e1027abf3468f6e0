import type { Context, MiddlewareHandler } from "hono";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { appOf, type PusherApp } from "../../../src/features/pusher/config.ts";
import { requestText } from "../../../src/features/pusher/signed-text.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { readBody } from "../../http/body.ts";
import { respondNotFound, respondText } from "../../http/responses.ts";
import { hexadecimal } from "../../platform/digest.ts";
import { isSigned } from "../../platform/named-signatures.ts";

/** A request that an application's server has signed. */
export interface SignedRequest {
  readonly app: PusherApp;
  readonly body: string;
}

/** The requests that {@link signed} has let pass. */
const requests = new WeakMap<Request, SignedRequest>();

/** The application that has signed a request, and the request's body. */
export function signedRequest({ req }: Context<AppEnv>): SignedRequest {
  const request = requests.get(req.raw);
  if (request === undefined) throw new Error("The request was not checked");
  return request;
}

/** Responds 404 unless there are applications. */
export const enabledPusher: MiddlewareHandler<AppEnv> = (context, next) =>
  context.get("configured").config.pusher === undefined
    ? Promise.resolve(respondNotFound())
    : next();

/** Lets only requests pass that the application's server has signed, in this time and with this body (rule PU10). */
export const signed: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { config, secrets } = context.get("configured");
  const { req } = context;
  const app = appOf(config, req.param("app"));
  if (app === undefined) return refuse(context, 404, "pusher.apps doesn't have the application");
  const body = req.method === "POST" ? await readBody(req.raw) : "";
  if (body instanceof Response) return body;
  const url = new URL(req.url);
  const given = new Map(
    [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value] as const),
  );
  if (given.get("auth_key") !== app.key) return refuse(context, 401, "auth_key is not the key");
  if (given.get("auth_version") !== "1.0") return refuse(context, 401, "auth_version must be 1.0");
  const ageSeconds = Math.abs(
    Date.now() / 1_000 - Number(given.get("auth_timestamp") ?? Number.NaN),
  );
  if (!(ageSeconds <= pusherLimits.signatureSeconds)) {
    const seconds = pusherLimits.signatureSeconds;
    return refuse(context, 401, `auth_timestamp is not within ${seconds} s of the server's time`);
  }
  if (body !== "" && given.get("body_md5")?.toLowerCase() !== (await md5(body)))
    return refuse(context, 401, "body_md5 is not the hash of the body");
  const text = requestText(req.method, url.pathname, url.searchParams);
  const signature = given.get("auth_signature") ?? "";
  if (!(await isSigned(secrets.given, app.secret, text, signature)))
    return refuse(context, 401, `auth_signature doesn't match ${app.secret}`);
  requests.set(req.raw, { app, body });
  return next();
};

/** Refuses a request, and leaves the reason for the log; whoever has signed rightly gets it, too. */
export function refuse(context: Context<AppEnv>, status: number, reason: string): Response {
  const rule = status === 401 ? "PU10" : "PU11";
  context.set("refusal", { refused: "pusher", rule, reason });
  return respondText(status, reason);
}

async function md5(body: string): Promise<string> {
  const hash = await crypto.subtle.digest("MD5", new TextEncoder().encode(body));
  return hexadecimal(new Uint8Array(hash));
}
