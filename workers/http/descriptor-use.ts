/** Who may take file descriptors of a server of one's own (rules B10, B30 and B31). On Cloudflare there are none to take. */
import type { Context, MiddlewareHandler, Next } from "hono";
import type { Codec, Message } from "../../src/protocol/codec.ts";
import { type Descriptors, descriptorsOf } from "../platform/descriptors.ts";
import { parseCallFailure } from "../platform/object-call.ts";
import { offeredToken } from "./admit.ts";
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
  if (!isStranger || context.res.status < 400 || (await descriptors.haveRoom("stranger"))) return;
  context.res = cutOff(context.res);
}

/** Whether a request has a key of the API, or a valid token where an upgrade has it. */
async function provesItself(context: Context<AppEnv>): Promise<boolean> {
  const { configured } = context.var;
  if ((await keyAmong(offeredKeys(context), configured)) !== undefined) return true;
  return isValid(context, offeredToken(context, configured.config.client.tokenCookie));
}

async function isValid({ var: { configured } }: Context<AppEnv>, token: string): Promise<boolean> {
  if (token === "") return false;
  return (await configured.verifier.connection(token, Date.now())).outcome === "verified";
}

/**
 * Refuses a client that has proved nothing while descriptors are kept for others (rule B30). Before another silent
 * connection is taken, the oldest is closed if there are many (rule B31).
 *
 * @param first the frame that came with the request; or "silent" for a client that may send none
 * @returns undefined if the client may come
 */
export async function refusedStranger(
  context: Context<AppEnv>,
  { claims, asked }: Admitted,
  first: "silent" | "poll" | { readonly codec: Codec; readonly frame: Message },
): Promise<Response | undefined> {
  const { env } = context;
  const descriptors = env.DESCRIPTORS === undefined ? undefined : descriptorsOf(env);
  if (descriptors === undefined || claims !== undefined || asked !== undefined) return undefined;
  if (await descriptors.haveRoom("stranger")) {
    if (first !== "silent" || (await closedAnother(descriptors, context))) return undefined;
  } else if (typeof first === "object") {
    const [command] = first.codec.decodeFrame(first.frame).commands;
    if (command?.method === "connect" && (await isValid(context, command.request.token)))
      return undefined;
  }
  return refusedByUse(context, "B30");
}

/** Whether the server has room for a silent connection, if need be because another one was closed. */
async function closedAnother(
  { silent }: Descriptors,
  { env, var: { configured } }: Context<AppEnv>,
): Promise<boolean> {
  for (let tries = 0; tries < closeTries; tries++) {
    const node = silent.objectToClose();
    if (node === undefined) return true;
    const object = objectOf(node, env, configured.config.channel);
    if (object === undefined) return false;
    try {
      if (await object.closeOldestSilent()) return true;
    } catch (error) {
      console.error(`closing a connection failed: ${parseCallFailure(error, object).summary}`);
    }
  }
  return false;
}

/** An object may have no silent connection any more when it is called. */
const closeTries = 3;

function refusedByUse(context: Context<AppEnv>, rule: "B10" | "B30"): Response {
  const reason = "the server has too few file descriptors left: raise ulimit -n";
  context.set("refusal", { rule, reason });
  return respondBusy(busyRetrySeconds());
}
