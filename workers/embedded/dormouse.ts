import type { Context, Env as HonoEnv } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { isCommandName, operationNames } from "../../src/api/operations.ts";
import type { JsonData } from "../../src/protocol/wire-value.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import {
  type CheckedPlace,
  type CodedConfiguration,
  codeListener,
} from "../../src/contract/coded-configuration.ts";
import { type ChannelDefinitions, leftOutProblems } from "../../src/features/index.ts";
import { withChannelCode } from "../../src/features/sections.ts";
import { askForClaims, takeMessages } from "../features/index.ts";
import { createApp } from "../http/app.ts";
import { respondUnconfigured } from "../http/responses.ts";
import { visitors } from "../http/admit.ts";
import { embed } from "../platform/embedded.ts";
import { isBound, type RealtimeBindings, unboundIn } from "./bindings.ts";
import { runtimeProblems } from "./runtime-problems.ts";
import type { ApiResults } from "./api-types.ts";
import { callProcedure, carryOut, carryOutBatch } from "./commands.ts";
import type { CallProcedure } from "./procedure-calls.ts";
import type { DormouseConfig } from "../../src/features/options.ts";
import { fileIn, type PackageFiles } from "./files.ts";
import { type OperatorAnswer, askForAdmission, withConsole } from "./operators.ts";
import {
  type ConnectHookResult,
  functionsService,
  type HookFunctions,
  withFunctions,
} from "./hook-functions.ts";
import {
  type BatchCommand,
  type BatchReplies,
  broadcastRequest,
  callRequest,
  type MethodName,
  type Methods,
  publishRequest,
  type PublishOptions,
} from "./realtime-methods.ts";

/** hono's environment of a Worker that has the objects. */
export interface BoundEnv extends HonoEnv {
  Bindings: RealtimeBindings;
}

/** What a Worker of one's own says about its real-time layer. */
export interface RealtimeOptions<
  Bound extends BoundEnv,
  Definitions extends ChannelDefinitions = ChannelDefinitions,
> extends HookFunctions {
  /** Where the app is mounted, such as "/realtime": the clients' address is then "wss://host/realtime/connection/websocket". */
  readonly prefix: string;
  /** As under `[vars.config]`, with Centrifugo's names. Absent: the defaults, with which clients may do nothing. */
  readonly config?: DormouseConfig;
  /** The code of channels, by their namespaces: `{ auction: channel({ … }) }`; "" for channels without one. */
  readonly channels?: Definitions;
  /** Who connects, as the Worker's own middleware knows it. Then no tokens are needed. */
  readonly user?: (context: Context<Bound>) => Visitor | Promise<Visitor>;
  /**
   * Whether the console is open to whoever sends a request, as the Worker's own middleware knows it: only to whom it gives
   * `true`. Then there is no password, and the console is on unless the configuration says otherwise.
   */
  readonly console?: (context: Context<Bound>) => OperatorAnswer | Promise<OperatorAnswer>;
  /** What the Worker serves below the prefix, such as `[consoleFiles]`, from `dormouse-realtime/files`. Absent: no pages. */
  readonly files?: readonly PackageFiles[];
}

/**
 * Who connects: the user's ID, or what a token or the connect hook could say. Nothing, or "": the Worker doesn't know; a
 * token or the connect hook may say it, and without them the client is refused or anonymous, as the configuration says.
 */
export type Visitor = string | ConnectHookResult | null | undefined;

/** The real-time layer of a Worker of one's own. */
export interface Realtime<
  Bound extends BoundEnv,
  Definitions extends ChannelDefinitions = ChannelDefinitions,
> extends Methods<[env: RealtimeBindings]> {
  /** For `app.route(prefix, realtime.app)`. */
  readonly app: HonoBase<Bound>;
  /**
   * The same without hono: answers what is asked for below the prefix, and leaves everything else to the Worker, as in
   * `realtime.fetch(request, env, ctx) ?? new Response("not found", { status: 404 })`.
   *
   * @returns the answer, or undefined at once if the address isn't below the prefix
   */
  readonly fetch: (
    request: Request,
    env: Bound["Bindings"],
    ctx: ExecutionContext,
  ) => Promise<Response> | undefined;
  /** The consumer of the configuration's queues: `export default { fetch: app.fetch, queue: realtime.queue }`. */
  readonly queue: (batch: MessageBatch, env: RealtimeBindings) => Promise<void>;
  /**
   * Publishes to a channel.
   *
   * @returns where the publication is; without history neither offset nor epoch
   * @throws RealtimeError if it wasn't published, or may not have been
   */
  readonly publish: (
    env: RealtimeBindings,
    channel: string,
    data: JsonData,
    options?: PublishOptions,
  ) => Promise<ApiResults["publish"]>;
  /** Publishes to several channels. What happened in each is in the result. */
  readonly broadcast: (
    env: RealtimeBindings,
    channels: readonly string[],
    data: JsonData,
    options?: Omit<PublishOptions, "ifOffset">,
  ) => Promise<ApiResults["broadcast"]>;
  /**
   * Carries out several commands in one go, such as `[{ publish: { channel, data } }, { presence: { channel } }]`. Those for
   * one channel share a call, and are carried out in their order.
   *
   * @returns what came of each, errors included
   * @throws RealtimeError if none was carried out
   */
  readonly batch: <const Commands extends readonly BatchCommand[]>(
    env: RealtimeBindings,
    commands: Commands,
  ) => Promise<BatchReplies<Commands>>;
  /**
   * Calls a procedure of a channel, as in `realtime.call(env, "auction:7", "bid", { amount: 5 })`.
   *
   * @returns what the procedure has returned
   * @throws RealtimeError if nothing has happened, or may have; its `code` is that of the procedure's `reject`
   */
  readonly call: CallProcedure<[env: RealtimeBindings], Definitions>;
}

/**
 * Makes the real-time layer of a Worker of one's own. To be called once, at the top level of the Worker's module: the
 * objects run that module, too, and learn their configuration there.
 *
 * @typeParam Definitions the code of its channels, by which `call` is typed
 * @throws if it is called twice, or with a prefix that can't be one
 */
export function dormouse<
  Bound extends BoundEnv = BoundEnv,
  Definitions extends ChannelDefinitions = ChannelDefinitions,
>(options: RealtimeOptions<Bound, Definitions>): Realtime<Bound, Definitions>;
export function dormouse<Bound extends BoundEnv = BoundEnv>(
  options: RealtimeOptions<Bound>,
): Realtime<Bound> {
  const { prefix, config = {}, user, console: mayOperate, files = [], channels } = options;
  if (!/^(?:\/[\w~.-]+)+$/.test(prefix))
    throw new Error(
      'prefix of dormouse() must be a path such as "/realtime", with no "/" at its end',
    );
  const hooks = functionsService(options);
  const operators: Operators = new WeakMap();
  const admitsOperator = async (request: Request) => (await operators.get(request)?.()) === true;
  const said = {
    config: withFunctions(mayOperate === undefined ? config : withConsole(config), options),
    knowsUsers: user !== undefined,
    knowsOperators: mayOperate !== undefined,
  };
  embed({
    ...said,
    ...(hooks && { hooks }),
    ...(channels && { channels }),
    prefix,
    file: (path) => fileIn(files, prefix, path),
    ...(mayOperate && { admitsOperator }),
  });
  tellChecker(said, channels);
  const app = mounted(options, operators);
  return {
    app,
    fetch: (request, env, ctx) =>
      isBelow(prefix, new URL(request.url).pathname)
        ? Promise.resolve(app.fetch(request, env, ctx))
        : undefined,
    queue: async (batch, env) => {
      if (!isBound(env)) throw new Error(unboundIn(env).join("; "));
      await takeMessages(batch, env);
    },
    publish: (env, channel, data, more) =>
      carryOut(env, "publish", publishRequest(channel, data, more), ownKey),
    broadcast: (env, names, data, more) =>
      carryOut(env, "broadcast", broadcastRequest(names, data, more), ownKey),
    batch: (env, commands) => carryOutBatch(env, { commands }, ownKey),
    call: callOwn,
    ...ownMethods(),
  };
}

/** Tells whoever checks the Worker's code what it has configured, and what is wrong with that; usually nobody does. */
function tellChecker(
  made: Omit<CodedConfiguration, "problems">,
  channels: ChannelDefinitions | undefined,
): void {
  const listener: unknown = Reflect.get(globalThis, codeListener);
  if (typeof listener === "function")
    listener((place: CheckedPlace): CodedConfiguration => ({
      ...made,
      problems: problemsOf(made.config, place, channels),
    }));
}

function problemsOf(
  config: object,
  place: CheckedPlace,
  channels: ChannelDefinitions = {},
): readonly string[] {
  const parsed = parseConfig(config, place);
  if (parsed.outcome === "bad") return parsed.problems;
  const coded = withChannelCode(parsed.config, channels);
  return [...leftOutProblems(coded.config), ...coded.problems];
}

/** The names of all methods but publish, broadcast and call, which have forms of their own. */
function methodNames(): readonly MethodName[] {
  return operationNames().filter(
    (name): name is MethodName =>
      isCommandName(name) && name !== "publish" && name !== "broadcast" && name !== "call",
  );
}

const callOwn: CallProcedure<[env: RealtimeBindings], ChannelDefinitions> = (
  env,
  channel,
  procedure,
  args,
  options,
) => callProcedure(env, callRequest(channel, procedure, args, options), ownKey);

/** The Worker's own code may do everything. */
const ownKey = { name: "this Worker" };

function ownMethods(): Methods<[env: RealtimeBindings]> {
  const methods = methodNames().map((name) => [
    name,
    (env: RealtimeBindings, params: object = {}) => carryOut(env, name, params, ownKey),
  ]);
  return Object.fromEntries(methods);
}

/** What asks whether a request is an operator's, by the requests as the inner app gets them. */
type Operators = WeakMap<Request, () => Promise<boolean>>;

/** The app of the server that stands alone, below a prefix. */
function mounted<Bound extends BoundEnv>(
  { prefix, user, console: mayOperate }: RealtimeOptions<Bound>,
  operators: Operators,
): HonoBase<Bound> {
  const app = new HonoBase<Bound>({ router: new TrieRouter() });
  // Created by the first request, because an isolate that starts only for an object doesn't need it.
  let inner: ReturnType<typeof createApp> | undefined;
  let problems: readonly string[] | undefined;
  app.all("/*", async (context) => {
    problems ??= runtimeProblems();
    if (problems.length > 0) return respondUnconfigured(problems);
    noteCollisions(prefix, context);
    const url = new URL(context.req.url);
    if (!isBelow(prefix, url.pathname))
      return respondUnconfigured([misplaced(prefix, url.pathname)]);
    url.pathname = url.pathname.slice(prefix.length) || "/";
    const request = new Request(url, context.req.raw);
    if (user !== undefined) visitors.set(request, () => askForClaims(async () => user(context)));
    if (mayOperate !== undefined)
      operators.set(request, () => askForAdmission(() => mayOperate(context)));
    inner ??= createApp();
    return changeable(await inner.fetch(request, context.env, context.executionCtx));
  });
  return app;
}

function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** A response that the Worker's own middleware can add headers to: those of an object's response can't be changed. */
function changeable(response: Response): Response {
  const { status, headers, webSocket } = response;
  return webSocket === null
    ? new Response(response.body, response)
    : new Response(null, { status, headers, webSocket });
}

/** Says once which routes of the Worker's own can't be reached, because they are below the prefix and come later. */
function noteCollisions<Bound extends BoundEnv>(prefix: string, context: Context<Bound>): void {
  const below = parsePaths(Reflect.get(context.req, "matchedRoutes")).filter(
    (path) => path.startsWith(`${prefix}/`) && path !== `${prefix}/*` && !noted.has(path),
  );
  for (const path of below) {
    noted.add(path);
    console.warn(
      `the route ${path} is below ${prefix}, the prefix of dormouse(), which answers first: give one of them another path`,
    );
  }
}

const noted = new Set<string>();

/**
 * The paths of the routes that a request matches. The context may be of another version of hono, where they are elsewhere:
 * then there is nothing to say, and the request goes on.
 */
function parsePaths(routes: unknown): readonly string[] {
  if (!Array.isArray(routes)) return [];
  return routes.flatMap((route: unknown) => {
    const path: unknown =
      typeof route === "object" && route !== null ? Reflect.get(route, "path") : undefined;
    return typeof path === "string" ? [path] : [];
  });
}

function misplaced(prefix: string, path: string): string {
  return `the app of dormouse() has the prefix ${prefix} and is asked for ${path}: mount it with app.route("${prefix}", realtime.app), or call realtime.fetch(request, env, ctx)`;
}
