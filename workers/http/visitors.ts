import type { ConnectionClaims } from "../../src/access/claims.ts";

/**
 * Who sends a request, as the Worker around the app knows it. undefined: the Worker doesn't know, and a token or a hook may
 * say it. Found by the request's own object, which nobody else can make.
 */
export const visitors = new WeakMap<Request, () => Promise<ConnectionClaims | undefined>>();
