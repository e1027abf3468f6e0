import type { ApiKey } from "../../src/access/api-keys.ts";
import type { Refusal } from "../../src/access/refusal.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import type { Configured } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";

/**
 * What handlers leave for those that run after them: the configuration, the key if `authenticate` has checked it, and the
 * body if `jsonBody` has read it. A refusal is what a handler says of it, and as it is noted.
 */
class Variables {
  configured!: Configured;
  apiKey!: ApiKey;
  request!: JsonText;
  refusal?: RefusedRequest;
  noted?: Refusal;
}

/** A request on its way through the handlers, with what those before have left for those after them. */
export class Context {
  readonly env: Env;
  readonly req: RoutedRequest;
  /** The path of the last route that the request's path fits. */
  readonly route: string;
  readonly var = new Variables();
  readonly #execution: ExecutionContext | undefined;

  constructor({ request, env, execution, path, route, params }: Routed) {
    this.env = env;
    this.req = new RoutedRequest(request, path, params);
    this.route = route;
    this.#execution = execution;
  }

  get<Name extends keyof Variables>(name: Name): Variables[Name] {
    return this.var[name];
  }

  set<Name extends keyof Variables>(name: Name, value: Variables[Name]): void {
    this.var[name] = value;
  }

  /** Lets the isolate live until some work after the response is done. */
  waitUntil(work: Promise<unknown>): void {
    this.#execution?.waitUntil(work);
  }
}

/** A request, and what its path says. */
class RoutedRequest {
  readonly raw: Request;
  /** Decoded. */
  readonly path: string;
  readonly #params: Params;
  #query: URLSearchParams | undefined;

  constructor(raw: Request, path: string, params: Params) {
    this.raw = raw;
    this.path = path;
    this.#params = params;
  }

  get url(): string {
    return this.raw.url;
  }

  get method(): string {
    return this.raw.method;
  }

  header(name: string): string | undefined {
    return this.raw.headers.get(name) ?? undefined;
  }

  /** A parameter of the query; the first one of that name. */
  query(name: string): string | undefined {
    this.#query ??= new URL(this.raw.url).searchParams;
    return this.#query.get(name) ?? undefined;
  }

  /** A parameter of the path, decoded. */
  param(name: string): string {
    return decoded(this.#params.get(name) ?? "", decodeURIComponent);
  }

  /** The value of a cookie; undefined if there is none of that name. */
  cookie(name: string): string | undefined {
    for (const pair of (this.header("Cookie") ?? "").split(";")) {
      const equals = pair.indexOf("=");
      if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
      const value = pair.slice(equals + 1).trim();
      return decoded(/^"(.*)"$/.exec(value)?.[1] ?? value, decodeURIComponent);
    }
    return undefined;
  }
}

/** The parameters of a path by their names. */
type Params = ReadonlyMap<string, string>;

interface Routed {
  readonly request: Request;
  readonly env: Env;
  /** Absent in tests. */
  readonly execution: ExecutionContext | undefined;
  readonly path: string;
  readonly route: string;
  readonly params: Params;
}

/** Why the edge refuses a request: what a handler knows of it. The log adds the rest, see `logRefusal`. */
export type RefusedRequest = Pick<Refusal, "rule" | "reason"> & Partial<Refusal>;

/** The path of a URL, with its escapes decoded but those of characters that separate its parts. */
export function pathOf(url: string): string {
  const begin = url.indexOf("/", url.indexOf("://") + 3);
  const [path = ""] = url.slice(begin).split(/[?#]/, 1);
  // What comes out of a decoded "%25" must not be decoded again.
  return path.includes("%") ? decoded(path.replaceAll("%25", "%2525"), decodeURI) : path;
}

/** A text with its escapes decoded; those that are malformed stay as they are. */
function decoded(text: string, decode: (text: string) => string): string {
  try {
    return decode(text);
  } catch {
    return text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => {
      try {
        return decode(escapes);
      } catch {
        return escapes;
      }
    });
  }
}
