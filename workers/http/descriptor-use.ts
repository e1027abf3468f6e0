/**
 * The edge refuses clients if a server of one's own has no file descriptors for them (rules B10, B30 and B31).
 * Cloudflare has no such bound.
 */
import type { Context, MiddlewareHandler, Next } from "hono";
import { type Descriptors, descriptorsOf } from "../platform/descriptors.ts";
import { offeredToken, tokenRequired } from "./admit.ts";
import type { AppEnv } from "./app-env.ts";
import { objectOf } from "./emulation.ts";
import { keyAmong, offeredKeys } from "./middleware.ts";
import type { Admitted } from "./placement.ts";
import { busyRetrySeconds, cutOff, respondBusy } from "./responses.ts";

/**
 * Refuses requests while the server has too few file descriptors left (rule B10); `/health` is answered all the same.
 */
export const enoughDescriptors: MiddlewareHandler<AppEnv> = (context, next) => {
  const { env, req } = context;
  const descriptors = env.DESCRIPTORS === undefined ? undefined : descriptorsOf(env);
  if (descriptors === undefined || req.path === "/health") return next();
  return withDescriptors(descriptors, context, next);
};

async function withDescriptors(
  descriptors: Descriptors,
  context: Context<AppEnv>,
  next: Next,
): Promise<void> {
  let isKnown = false;
  let hasRoom = await descriptors.haveRoom("request");
  if (!hasRoom) {
    isKnown = await provesItself(context);
    hasRoom = isKnown && (await descriptors.haveRoom("known"));
  }
  if (hasRoom) {
    try {
      await next();
    } finally {
      descriptors.ended();
    }
  } else context.res = refusedByUse(context, "B10");
  const isStranger = !isKnown && context.get("apiKey") === undefined;
  if (!isStranger || context.res.status < 400) return;
  // Room may have come since the refusal.
  if (wasRefused(context) || !(await descriptors.haveRoom("stranger")))
    context.res = cutOff(context.res);
}

/** Whether a request has a key of the API, or a valid token where an upgrade has it. */
async function provesItself(context: Context<AppEnv>): Promise<boolean> {
  const configured = context.get("configured");
  if ((await keyAmong(offeredKeys(context), configured)) !== undefined) return true;
  const token = offeredToken(context, configured.config.client.tokenCookie);
  if (token === "") return false;
  return (await configured.verifier.connection(token, Date.now())).outcome === "verified";
}

/**
 * Refuses a client that has proved nothing, while descriptors are kept for others (rule B30). If there are many silent
 * connections, the oldest is closed before another one is taken (rule B31).
 *
 * @param isSilent whether the client may send nothing; false if its connect came with the request
 * @returns undefined if the client may come
 */
export async function refusedStranger(
  context: Context<AppEnv>,
  { claims, asked }: Admitted,
  isSilent = false,
): Promise<Response | undefined> {
  const { env } = context;
  const descriptors = env.DESCRIPTORS === undefined ? undefined : descriptorsOf(env);
  if (descriptors === undefined || claims !== undefined || asked !== undefined) return undefined;
  // Otherwise `checkClient` has verified the token.
  if (!isSilent && tokenRequired(context)) return undefined;
  const hasRoom =
    (await descriptors.haveRoom("stranger")) &&
    (!isSilent || (await closedAnother(descriptors, context)));
  return hasRoom ? undefined : refusedByUse(context, "B30");
}

/** Whether the server has room for a silent connection, if need be because another one was closed. */
async function closedAnother(
  { silent }: Descriptors,
  { env, var: { configured } }: Context<AppEnv>,
): Promise<boolean> {
  const node = silent.objectToClose();
  if (node === undefined) return true;
  const object = objectOf(node, env, configured.config.channel);
  return (await object?.closeOldestSilent()) === true;
}

/** Whether the request was answered by `refusedByUse`. */
function wasRefused(context: Context<AppEnv>): boolean {
  const rule = context.get("refusal")?.rule;
  return rule === "B10" || rule === "B30";
}

function refusedByUse(context: Context<AppEnv>, rule: "B10" | "B30"): Response {
  const reason = "the server has too few file descriptors left: raise ulimit -n";
  context.set("refusal", { rule, reason });
  return respondBusy(busyRetrySeconds());
}
