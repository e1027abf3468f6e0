import type { Result, Router } from "hono/router";
import { limits } from "../../src/limits.ts";

/**
 * Remembers the routes of the requests that came last: finding them among a hundred takes a twentieth of an upgrade's
 * processor time. Paths may name any number of channels, so the requests that are remembered are bounded.
 */
export class KnownRoutes<Handler> implements Router<Handler> {
  readonly name = "KnownRoutes";
  readonly #router: Router<Handler>;
  readonly #known = new Map<string, Result<Handler>>();

  /** @param router finds the routes; it may give the same result for the same request */
  constructor(router: Router<Handler>) {
    this.#router = router;
  }

  /** Adds a route. All routes are added before the first request. */
  add(method: string, path: string, handler: Handler): void {
    this.#router.add(method, path, handler);
  }

  match(method: string, path: string): Result<Handler> {
    const request = `${method} ${path}`;
    const known = this.#known.get(request);
    if (known !== undefined) return known;
    const found = this.#router.match(method, path);
    if (request.length > limits.rememberedRequestLengthMax) return found;
    this.#known.set(request, found);
    if (this.#known.size > limits.routesRememberedMax) {
      const [oldest = ""] = this.#known.keys();
      this.#known.delete(oldest);
    }
    return found;
  }
}
