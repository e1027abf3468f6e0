import type { HookEndpoint, QueueTarget } from "./config.ts";
import type { ProblemReport } from "./section.ts";

/**
 * Parses where a backend is: an HTTPS URL, or another Worker of the account.
 *
 * @param plainHttp "allowed" for an HTTP URL of any host, too (rule A20)
 * @returns undefined if the text is neither
 */
export function parseEndpoint(
  text: string,
  plainHttp?: ProblemReport["plainHttp"],
): HookEndpoint | undefined {
  const [, binding, entrypoint] = serviceShape.exec(text) ?? [];
  if (binding !== undefined)
    return { kind: "service", binding, ...(entrypoint === undefined ? {} : { entrypoint }) };
  const shown = plainHttp === "allowed" ? text.replace(/^http:/i, "https:") : text;
  return urlShape.test(shown) ? { kind: "url", url: text } : undefined;
}

/** The form that the URL of a backend must have, in words for a problem. */
export function urlMeaning(plainHttp: ProblemReport["plainHttp"]): string {
  const also = plainHttp === "offered" ? ", or with insecure_endpoints" : "";
  return `an https URL without user, password or fragment (http is allowed for localhost only${also})`;
}

/** A binding of wrangler.toml, and the name of a class that the other Worker exports. */
const serviceShape = /^service:([A-Za-z_]\w{0,63})(?:#([A-Za-z_]\w{0,63}))?$/;

const urlShape =
  /^(?:https:\/\/(?:[-\w.]+|\[[\da-f:]+\])|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:[/?][^\s#\\]*)?$/i;

/** Parses the name of a queue's binding, as `queue:BINDING`; undefined if the text isn't one. */
export function parseQueueTarget(text: string): QueueTarget | undefined {
  const [, binding] = queueShape.exec(text) ?? [];
  return binding === undefined ? undefined : { kind: "queue", binding };
}

const queueShape = /^queue:([A-Za-z_]\w{0,63})$/;

/** A place to which the Worker sends something, with the key that names it. */
export interface Target {
  readonly key: string;
  readonly endpoint: HookEndpoint | QueueTarget;
}

/** The binding by which the configuration of a Worker of one's own means that Worker's functions. */
export const functionsBinding = "DORMOUSE_FUNCTIONS";

/**
 * The problems of bindings that the configuration names and that aren't there (rule A8).
 *
 * @param isBound whether a binding is there, and of the kind that is needed
 * @returns a sentence for each; none if the Worker has all of them
 */
export function unboundTargets(
  targets: readonly Target[],
  isBound: (kind: "queue" | "service", binding: string) => boolean,
): readonly string[] {
  return targets.flatMap(({ key, endpoint }) => {
    if (endpoint.kind === "url") return [];
    const { kind, binding } = endpoint;
    if (isBound(kind, binding)) return [];
    const [what, where] =
      kind === "queue" ? ["queue", "[[queues.producers]]"] : ["Worker", "[[services]]"];
    return [
      `binding ${binding} to the ${what} that ${key} names is missing: add it to ${where} in wrangler.toml`,
    ];
  });
}
