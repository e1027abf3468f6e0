import { DormouseTestError } from "./test-error.ts";

/** The question of a hook, in the fields of docs/hooks.md, such as `user`, `channel` and `data`. */
export interface HookQuestion {
  readonly [field: string]: unknown;
}

/** The answer of a hook, as docs/hooks.md lists them: `{ result }`, `{ error }`, `{ disconnect }`, or nothing. */
export type HookAnswer = object | undefined | void;

/**
 * A function that answers a hook. One that throws counts as a backend that fails.
 *
 * @param headers those that the configuration names in `http_headers`
 */
export type HookAnswerer = (
  question: HookQuestion,
  headers: Headers,
) => HookAnswer | Promise<HookAnswer>;

/** The hooks that functions of a test can answer. */
export interface TestHooks {
  onConnect?: HookAnswerer;
  onRefresh?: HookAnswerer;
  onMessage?: HookAnswerer;
  onSubscribe?: HookAnswerer;
  onSubRefresh?: HookAnswerer;
  onPublish?: HookAnswerer;
  onMapPublish?: HookAnswerer;
  onMapRemove?: HookAnswerer;
  onSharedPollRefresh?: HookAnswerer;
  onRpc?: HookAnswerer;
}

/** A question that was asked. */
export interface AskedQuestion {
  /** Such as `publish`. */
  readonly hook: string;
  readonly question: HookQuestion;
}

/** A configuration in JSON. */
export type JsonConfig = Readonly<Record<string, unknown>>;

/** The name of the binding by which the server asks the functions. */
export const hooksBinding = "DORMOUSE_TEST_HOOKS";

const endpoint = `service:${hooksBinding}`;

/** The functions' hooks, and the keys that switch them on. */
const hookTable: Readonly<
  Record<
    keyof TestHooks,
    { readonly hook: string; readonly path: readonly string[]; readonly keys: JsonConfig }
  >
> = {
  onConnect: row("connect", ["client", "proxy", "connect"], { enabled: true }),
  onRefresh: row("refresh", ["client", "proxy", "refresh"], { enabled: true }),
  onMessage: row("message", ["client", "proxy", "message"], { enabled: true }),
  onSubscribe: row("subscribe", ["channel", "proxy", "subscribe"]),
  onSubRefresh: row("sub_refresh", ["channel", "proxy", "sub_refresh"]),
  onPublish: row("publish", ["channel", "proxy", "publish"]),
  onMapPublish: row("map_publish", ["channel", "proxy", "map_publish"]),
  onMapRemove: row("map_remove", ["channel", "proxy", "map_remove"]),
  onSharedPollRefresh: row("shared_poll_refresh", ["channel", "proxy", "shared_poll_refresh"]),
  onRpc: row("rpc", ["rpc", "proxy"]),
};

function row(hook: string, path: readonly string[], keys: JsonConfig = {}) {
  return { hook, path, keys: { ...keys, endpoint } };
}

/** The events with which the server keeps what is published. */
export const keptEvents: JsonConfig = {
  target: endpoint,
  types: ["publication"],
  keep: "336h",
};

/** The names of hooks as functions answer them, such as `onPublish`. */
export const hookNames: readonly string[] = Object.keys(hookTable);

/** Whether functions can answer a hook of this name. */
export function isHookName(name: string): name is keyof TestHooks {
  return Object.hasOwn(hookTable, name);
}

/**
 * The configuration with the functions in place of the backends of their hooks, and with events of publications, which tell
 * what was published. All else stays as it is.
 *
 * @throws {DormouseTestError} for a hook that there isn't
 */
export function testConfig(config: JsonConfig, hooks: TestHooks): JsonConfig {
  let changed: JsonConfig = { events: keptEvents, ...config };
  for (const name of Object.keys(hooks)) {
    if (!isHookName(name))
      throw new DormouseTestError(
        `hooks: ${name} is no hook; the hooks are ${hookNames.join(", ")}`,
      );
    const { path, keys } = hookTable[name];
    changed = withKeys(changed, path, keys);
    if (name === "onRpc")
      changed = withKeys(changed, ["rpc", "without_namespace"], { proxy_enabled: true });
  }
  return changed;
}

/** Whether a server whose configuration has these events keeps those of publications; undefined if that isn't known. */
export function keepsPublications(events: unknown): boolean | undefined {
  if (events === undefined) return undefined;
  const types = sectionOf(events)["types"];
  return Array.isArray(types) && types.includes("publication");
}

/** A copy with some keys in the section at a path. */
function withKeys(
  config: JsonConfig,
  [name, ...below]: readonly string[],
  keys: JsonConfig,
): JsonConfig {
  if (name === undefined) return { ...config, ...keys };
  return { ...config, [name]: withKeys(sectionOf(config[name]), below, keys) };
}

function sectionOf(value: unknown): JsonConfig {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Answers the server's questions by the functions of a test, and keeps the questions. */
export class HookBackend {
  /** May be changed at any time; which hooks are asked is decided at the start. */
  readonly functions: TestHooks;
  readonly asked: AskedQuestion[] = [];

  constructor(functions: TestHooks) {
    this.functions = functions;
  }

  /** The status and the body with which a request is answered. */
  async answer(
    path: string,
    body: string,
    headers: Headers,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const hook = path.slice(1);
    const name = hookNames.find((one) => isHookName(one) && hookTable[one].hook === hook);
    // All else is events, which the server keeps by itself.
    if (name === undefined || !isHookName(name)) return { status: 200, body: "" };
    const question: HookQuestion = JSON.parse(body);
    this.asked.push({ hook, question });
    try {
      const answer = await this.functions[name]?.(question, headers);
      return { status: 200, body: JSON.stringify(answer ?? {}) };
    } catch (error) {
      console.error(`${name} threw:`, error);
      return { status: 500, body: "" };
    }
  }
}
