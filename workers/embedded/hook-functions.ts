import { parseFunctionAnswer } from "../features/index.ts";
import { functionsBinding } from "../../src/config/targets.ts";
import type { Service } from "../platform/embedded.ts";
import type { JsonData } from "../../src/protocol/wire-value.ts";

/** What all questions say of the connection (docs/hooks.md). Empty fields are left out. */
export interface HookRequest {
  /** The connection's ID. */
  readonly client: string;
  readonly transport: string;
  readonly protocol: string;
  readonly encoding: string;
  /** "" or absent for an anonymous connection. */
  readonly user?: string;
  /** What the server keeps for the connection, with `include_connection_meta`. */
  readonly meta?: unknown;
  /** The client's JSON. */
  readonly data?: unknown;
  /** In place of `data`: a payload that isn't JSON, in base64. */
  readonly b64data?: string;
}

export interface ConnectHookRequest extends HookRequest {
  readonly name?: string;
  readonly version?: string;
  readonly channels?: readonly string[];
}

export interface ConnectHookResult {
  readonly user: string;
  /** Seconds since 1970; absent or 0: never. */
  readonly expire_at?: number;
  readonly info?: JsonData;
  readonly data?: JsonData;
  readonly channels?: readonly string[];
  readonly subs?: Readonly<Record<string, object>>;
  readonly meta?: JsonData;
  readonly caps?: readonly object[];
}

export interface RefreshHookResult {
  readonly expired?: boolean;
  /** Seconds since 1970; without it the connection ends. */
  readonly expire_at?: number;
  readonly info?: JsonData;
  readonly meta?: JsonData;
}

export interface SubscribeHookRequest extends HookRequest {
  readonly channel: string;
}

export interface SubscribeHookResult {
  readonly expire_at?: number;
  readonly info?: JsonData;
  readonly data?: JsonData;
  readonly override?: object;
  readonly server_tags_filter?: object;
}

export interface PublishHookRequest extends HookRequest {
  readonly channel: string;
  /** `dormouse.update` or `dormouse.delete`, if the client edits or deletes a publication; absent if it publishes. */
  readonly method?: string;
  /** Of the publication that is edited or deleted. */
  readonly offset?: number;
  /** Of the offset, if the client has said it. */
  readonly epoch?: string;
  /** Of a deletion, if the client has said it. */
  readonly reason?: string;
}

export interface PublishHookResult {
  readonly data?: JsonData;
  readonly skip_history?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
  readonly idempotency_key?: string;
  readonly delta?: boolean;
  readonly version?: number;
  readonly version_epoch?: string;
}

export interface RpcHookRequest extends HookRequest {
  readonly method: string;
}

export interface RpcHookResult {
  readonly data?: JsonData;
}

/**
 * An answer, in the form of the HTTP hooks. Nothing stands for `{}`: a subscribe and a publish are allowed as they are, a
 * call is answered without data, and a connect has no credentials.
 */
export type FunctionAnswer<Result> =
  | { readonly result: Result }
  | {
      readonly error: {
        readonly code: number;
        readonly message?: string;
        readonly temporary?: boolean;
      };
    }
  | { readonly disconnect: { readonly code: number; readonly reason?: string } }
  | undefined
  | void;

/** What a function gets beside the question. */
export interface HookContext {
  /** The headers of the handshake that the configuration names in `http_headers`. */
  readonly headers: Headers;
}

type HookFunction<Request, Result> = (
  request: Request,
  context: HookContext,
) => FunctionAnswer<Result> | Promise<FunctionAnswer<Result>>;

/** Any question. */
type AnyRequest = ConnectHookRequest & SubscribeHookRequest & RpcHookRequest;

/**
 * Hooks as functions of one's own Worker. They run in a Worker without state, and never in an object. A function that throws
 * counts as a backend that fails; the error is in the log.
 */
export interface HookFunctions {
  /** A client connects, and neither `user` nor a token says who it is. */
  readonly onConnect?: HookFunction<ConnectHookRequest, ConnectHookResult>;
  /** A connection is about to end. */
  readonly onRefresh?: HookFunction<HookRequest, RefreshHookResult>;
  /** A client subscribes without a token, in a namespace with `subscribe_proxy_enabled`. */
  readonly onSubscribe?: HookFunction<SubscribeHookRequest, SubscribeHookResult>;
  /** A client publishes, in a namespace with `publish_proxy_enabled`. */
  readonly onPublish?: HookFunction<PublishHookRequest, PublishHookResult>;
  /** A client calls a method. */
  readonly onRpc?: HookFunction<RpcHookRequest, RpcHookResult>;
}

/** The functions as the Worker of a service binding, which is asked as any backend; undefined if there are none. */
export function functionsService(functions: HookFunctions): Service | undefined {
  const byHook = new Map<string, HookFunction<AnyRequest, object> | undefined>([
    ["connect", functions.onConnect],
    ["refresh", functions.onRefresh],
    ["subscribe", functions.onSubscribe],
    ["publish", functions.onPublish],
    ["rpc", functions.onRpc],
  ]);
  if ([...byHook.values()].every((one) => one === undefined)) return undefined;
  return {
    async fetch(url, { body, headers, signal }) {
      const hook = new URL(url).pathname.slice(1);
      const asked = byHook.get(hook);
      if (asked === undefined) return new Response(null, { status: 404 });
      const question: AnyRequest = JSON.parse(typeof body === "string" ? body : "{}");
      const answer = answered(hook, async () => asked(question, { headers: new Headers(headers) }));
      return Promise.race([answer, aborted(signal)]);
    },
  };
}

async function answered(
  hook: string,
  ask: () => Promise<FunctionAnswer<object>>,
): Promise<Response> {
  try {
    const answer = parseFunctionAnswer(hook, (await ask()) ?? {});
    const headers = { "Content-Type": "application/json" };
    if (answer.outcome === "text") return new Response(answer.text, { headers });
    const { reason } = answer;
    console.error(`the function of the hook ${hook} gave an answer that can't be used: ${reason}`);
  } catch (error) {
    console.error(`the function of the hook ${hook} threw:`, error);
  }
  return new Response(null, { status: 500 });
}

/** Rejects when the question has taken too long; the function goes on, and its answer is dropped. */
function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("too late")));
  });
}

/** How a configuration means the functions. */
const endpoint = `service:${functionsBinding}`;

/**
 * The configuration with the functions as the backends of their hooks. What it says of them itself, such as a timeout, stays.
 */
export function withFunctions(config: object, functions: HookFunctions): object {
  const { onConnect, onRefresh, onSubscribe, onPublish, onRpc } = functions;
  const set: readonly (readonly [HookFunctions[keyof HookFunctions], readonly string[], object])[] =
    [
      [onConnect, ["client", "proxy", "connect"], { enabled: true, endpoint }],
      [onRefresh, ["client", "proxy", "refresh"], { enabled: true, endpoint }],
      [onSubscribe, ["channel", "proxy", "subscribe"], { endpoint }],
      [onPublish, ["channel", "proxy", "publish"], { endpoint }],
      [onRpc, ["rpc", "proxy"], { endpoint }],
      [onRpc, ["rpc", "without_namespace"], { proxy_enabled: true }],
    ];
  return set.reduce(
    (before, [given, path, values]) =>
      given === undefined ? before : merged(before, path, values),
    config,
  );
}

/** A copy of an object with defaults at a path. */
function merged(config: object, [name, ...below]: readonly string[], values: object): object {
  if (name === undefined) return { ...values, ...config };
  const at: unknown = Reflect.get(config, name);
  const child = typeof at === "object" && at !== null ? at : {};
  return { ...config, [name]: merged(child, below, values) };
}
