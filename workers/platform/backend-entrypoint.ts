import { WorkerEntrypoint } from "cloudflare:workers";
import { isWithoutProps } from "../../src/access/binding-caller.ts";
import type { HookTarget } from "../../src/config/config.ts";
import type {
  BackendCalls,
  BackendQuestion,
  BackendReply,
} from "../../src/contract/backend-call.ts";
import { limits } from "../../src/limits.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import { boundedBytes } from "./bounded-bytes.ts";
import { type Configured, configurationOf } from "./configuration.ts";
import type { Env } from "./env.ts";
import { serviceOf } from "./services.ts";
import { inSpan } from "./spans.ts";

/**
 * Asks backends for the objects. It is stateless: the platform lets one object wait for six connections at a time, and
 * runs any number of entrypoints. The Worker's own objects reach it by `ctx.exports`; a binding with `props`, such as the
 * name of a key, has no right to it (rule OW10). It takes addresses from the configuration alone (rule Q8).
 */
export class BackendEntrypoint extends WorkerEntrypoint<Env> implements BackendCalls {
  // The call's contract is in src/contract/backend-call.ts.
  async ask(question: BackendQuestion): Promise<BackendReply> {
    // The objects' own calls carry no props.
    if (!isWithoutProps(this.ctx.props)) return failed("only the Worker itself asks backends");
    const configuration = configurationOf(this.env);
    if (configuration.outcome === "unconfigured") return failed("the Worker isn't configured");
    const target = configuration.config.hooks.targets.get(question.target);
    // During a deploy, objects of another release may have another configuration.
    if (target === undefined) return failed("the configuration doesn't have the backend any more");
    return sendQuestion(question, target, configuration, this.env);
  }
}

/**
 * Sends a question to a backend, once (rules Q5 and Q8). Never throws.
 *
 * @param target of the question, by its name in the configuration
 */
export async function sendQuestion(
  question: BackendQuestion,
  target: HookTarget,
  configured: Pick<Configured, "hookSigner">,
  env: Env,
): Promise<BackendReply> {
  const [, traceparent] = question.headers?.find(([name]) => name === "traceparent") ?? [];
  if (traceparent === undefined) return request(question, target, configured, env);
  return inSpan(question.hook, { traceparent, target: question.target }, () =>
    request(question, target, configured, env),
  );
}

async function request(
  { hook, body, headers = [] }: BackendQuestion,
  target: HookTarget,
  { hookSigner }: Pick<Configured, "hookSigner">,
  env: Env,
): Promise<BackendReply> {
  const fetcher = fetcherOf(target, hook, env);
  if (fetcher === undefined) return failed("the binding of the backend's Worker is missing");
  const signed = await hookSigner.headers(crypto.randomUUID(), body, Date.now());
  const abortion = new AbortController();
  const timer = setTimeout(() => abortion.abort(), target.timeoutMs);
  try {
    const response = await fetcher({
      method: "POST",
      headers: new Headers([
        // A header of the client's goes before a static one.
        ...Object.entries({
          ...Object.fromEntries(target.staticHeaders),
          ...Object.fromEntries(headers),
        }),
        ...Object.entries({ ...signed, "content-type": "application/json", "dormouse-hook": hook }),
      ]),
      body,
      redirect: "manual",
      signal: abortion.signal,
    });
    return await replyOf(response);
  } catch {
    return failed(
      abortion.signal.aborted
        ? `there is no response within ${target.timeoutMs} ms`
        : "the backend can't be reached",
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a request to a target; undefined if the target is a Worker whose binding is missing. */
function fetcherOf(
  { endpoint }: HookTarget,
  hook: string,
  env: Env,
): ((init: RequestInit) => Promise<Response>) | undefined {
  if (endpoint.kind === "url") return (init) => fetch(endpoint.url, init);
  const service = serviceOf(env, endpoint.binding);
  // The host is only a name: a service binding goes to its Worker whatever the URL is.
  return service === undefined ? undefined : (init) => service.fetch(`https://hooks/${hook}`, init);
}

async function replyOf(response: Response): Promise<BackendReply> {
  const { status } = response;
  const retryAfter = parseRetryAfter(response.headers.get("Retry-After"), Date.now());
  const pause = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
  if (status !== 200) {
    await response.body?.cancel();
    return { outcome: "answered", status, body: "", ...pause };
  }
  const bytes = await boundedBytes(response.body, limits.hookAnswerBytesMax);
  if (bytes === undefined)
    return failed(`the response has more than ${limits.hookAnswerBytesMax} bytes`);
  const body = utf8Text(bytes);
  return body === undefined
    ? failed("the response is not valid UTF-8")
    : { outcome: "answered", status, body, ...pause };
}

/** The seconds of a `Retry-After`, which may be a date (RFC 9110 section 10.2.3); undefined if there is none. */
function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / 1_000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

function failed(reason: string): BackendReply {
  return { outcome: "failed", reason };
}
