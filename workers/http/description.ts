import type { Handler } from "hono";
import type { AppEnv } from "./app-env.ts";
import { respondNotFound, respondText } from "./responses.ts";

/**
 * Serves a file of the description of the HTTP API, if `swagger.enabled` is set (rule W8). The files are the same for every
 * deployment, so they need no API key. A page of another origin can neither read nor show them. That they are off isn't
 * logged as a refusal, because scanners of other servers' faults ask for these addresses all the time.
 *
 * @param file in `public`, such as "/swagger.html"
 */
export function description(file: string): Handler<AppEnv> {
  return async ({ env, req, var: { configured } }) => {
    if (!configured.config.swagger.enabled) return respondText(404, "swagger.enabled is not set");
    const { ASSETS: assets } = env;
    if (assets === undefined) return respondNotFound();
    // Cloudflare redirects a file of HTML to its name without the ending, which this request follows.
    const asset = await assets.fetch(new URL(file, req.url));
    // The headers of a fetched response are immutable.
    const response = new Response(asset.body, asset);
    for (const [name, value] of headers) response.headers.set(name, value);
    return response;
  };
}

/** The page loads its style sheet and nothing else, runs no script, and is shown in no frame. */
const headers = [
  [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["X-Content-Type-Options", "nosniff"],
] as const;
