import type { Context, MiddlewareHandler } from "hono";
import type { Configured } from "../platform/configuration.ts";
import type { Served } from "./middleware.ts";
import { respondUnauthorized } from "./respond.ts";

/**
 * Lets only a request with the API key pass (reference 6.1). It may stand in any of three places, and one that has it
 * is enough. Comes before everything else that is asked about a request: a stranger learns nothing of the API.
 */
export const authenticate: MiddlewareHandler<Served> = async (context, next) => {
  const expected = await expectedDigest(context.var.configured);
  for (const offered of offeredKeys(context)) {
    // Digests have one length and say nothing of the key, so neither its length nor its beginning shows in the time.
    if (crypto.subtle.timingSafeEqual(await digest(offered), expected)) return next();
  }
  return respondUnauthorized();
};

/** Made once: it is the same for every request. */
async function expectedDigest(configured: Configured): Promise<ArrayBuffer> {
  const known = expectedDigests.get(configured);
  if (known !== undefined) return known;
  const made = await digest(configured.secrets.apiKey);
  expectedDigests.set(configured, made);
  return made;
}

const expectedDigests = new WeakMap<Configured, ArrayBuffer>();

function offeredKeys(context: Context<Served>): readonly string[] {
  const [scheme, key] = splitOnce(context.req.header("Authorization") ?? "");
  return [
    context.req.header("X-API-Key") ?? "",
    scheme.toLowerCase() === "apikey" ? key : "",
    context.req.query("api_key") ?? "",
  ].filter((offered) => offered !== "");
}

function splitOnce(header: string): readonly [string, string] {
  const space = header.indexOf(" ");
  return space < 0 ? [header, ""] : [header.slice(0, space), header.slice(space + 1).trim()];
}

function digest(key: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
}
