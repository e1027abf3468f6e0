import type { Env } from "../platform/env.ts";
import { Context, pathOf } from "./context.ts";

/**
 * Handles a request, or passes it on: `next` gives the response of the handlers after this one. A handler that throws is
 * answered as {@link Routes} says, so that those before it see a response in any case.
 */
export type Handler = (
  context: Context,
  next: () => Promise<Response>,
) => Response | Promise<Response>;

/**
 * The route table: each request passes the handlers of all routes that its path fits, in the order of the table, until
 * one responds. A path is a text, or has parameters such as `:name{[^/]*}`, whose pattern is any segment if none is
 * given. A path that ends with `/*` fits everything below it, and itself.
 */
export class Routes {
  readonly #routes: Route[] = [];
  readonly #setup: RoutesSetup;

  constructor(setup: RoutesSetup) {
    this.#setup = setup;
  }

  /** The paths of all routes, in their order. */
  get paths(): readonly string[] {
    return this.#routes.map(({ path }) => path);
  }

  /** Adds a route for all methods. */
  all(path: string, ...handlers: readonly Handler[]): void {
    this.#routes.push({ path, handlers, pattern: patternOf(path) });
  }

  /** Adds a route for GET. */
  get(path: string, ...handlers: readonly Handler[]): void {
    this.#routes.push({ path, handlers, pattern: patternOf(path), method: "GET" });
  }

  /** Answers a request. HEAD is answered as GET, without the body. */
  async fetch(request: Request, env: Env, execution?: ExecutionContext): Promise<Response> {
    const isHead = request.method === "HEAD";
    const path = pathOf(request.url);
    const handlers: Handler[] = [];
    const params = new Map<string, string>();
    let last = "";
    for (const route of this.#routes) {
      if (route.method !== undefined && route.method !== request.method && !isHead) continue;
      const fit = fits(path, route);
      if (fit === undefined) continue;
      for (const [name, value] of Object.entries(fit)) params.set(name, value);
      handlers.push(...route.handlers);
      last = route.path;
    }
    const context = new Context({ request, env, execution, path, route: last, params });
    const pass = async (index: number): Promise<Response> => {
      const handler = handlers[index];
      if (handler === undefined) return this.#setup.notFound();
      try {
        return await handler(context, () => pass(index + 1));
      } catch (error) {
        return this.#setup.failed(error);
      }
    };
    const response = await pass(0);
    return isHead ? new Response(null, response) : response;
  }
}

interface RoutesSetup {
  /** The response to a request that no handler has answered. */
  readonly notFound: () => Response;
  /** The response for a handler that has thrown. */
  readonly failed: (error: unknown) => Response;
}

interface Route {
  readonly path: string;
  readonly handlers: readonly Handler[];
  /** Undefined for a path without parameters. */
  readonly pattern: RegExp | undefined;
  /** Absent for all. */
  readonly method?: string;
}

function patternOf(path: string): RegExp | undefined {
  if (!path.includes(":")) return undefined;
  const parameter = /:(\w+)(?:\{((?:[^{}]|\{[^{}]*\})+)\})?/g;
  const pattern = path.replaceAll(
    parameter,
    (_, name: string, own: string | undefined) => `(?<${name}>${own ?? "[^/]+"})`,
  );
  return new RegExp(`^${pattern}$`);
}

/** The parameters in a path that fits a route; undefined if it doesn't. */
function fits(path: string, route: Route): Readonly<Record<string, string>> | undefined {
  const { pattern } = route;
  if (pattern !== undefined) {
    const match = pattern.exec(path);
    return match === null ? undefined : (match.groups ?? {});
  }
  if (!route.path.endsWith("/*")) return route.path === path ? {} : undefined;
  const above = route.path.slice(0, -2);
  return path === above || path.startsWith(`${above}/`) ? {} : undefined;
}
