import { WorkerEntrypoint } from "cloudflare:workers";
import type { JsonData, JsonValue } from "../../src/protocol/wire-value.ts";
import type { ApiKey } from "../../src/access/api-keys.ts";
import { parseBindingCaller } from "../../src/access/binding-caller.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import type { ApiRequests, ApiResults } from "./api-types.ts";
import { callProcedure, carryOut, carryOutBatch, outcomeOf } from "./commands.ts";
import type { CallOptions } from "./procedure-calls.ts";
import {
  type BatchCommand,
  type BatchReplies,
  broadcastRequest,
  callRequest,
  type MethodName,
  publishRequest,
  type PublishOptions,
  type RealtimeOutcome,
  type RealtimeService,
} from "./realtime-methods.ts";

/**
 * The operations that another Worker of the same account calls by a service binding, without HTTP and without a key:
 *
 * ```toml
 * services = [{ binding = "REALTIME", service = "mine", entrypoint = "RealtimeEntrypoint", props = { name = "orders" } }]
 * ```
 *
 * They are those of the HTTP API, and `outcome`, which carries out one of them (rule OW10). The binding's `props.name` is a name of `http_api.keys`,
 * and the caller has the rights of that key. Any other props admit nothing. Without props the caller may do everything:
 * anybody who can deploy Workers of the account could do that anyway.
 */
export class RealtimeEntrypoint extends WorkerEntrypoint<Env> implements RealtimeService {
  publish(
    channel: string,
    data: JsonData,
    options?: PublishOptions,
  ): Promise<ApiResults["publish"]> {
    const request = publishRequest(channel, data, options);
    return carryOut(this.env, "publish", request, callerOf(this.env, this.ctx.props));
  }

  broadcast(
    channels: readonly string[],
    data: JsonData,
    options?: Omit<PublishOptions, "ifOffset">,
  ): Promise<ApiResults["broadcast"]> {
    const request = broadcastRequest(channels, data, options);
    return carryOut(this.env, "broadcast", request, callerOf(this.env, this.ctx.props));
  }

  batch<const Commands extends readonly BatchCommand[]>(
    commands: Commands,
  ): Promise<BatchReplies<Commands>> {
    return carryOutBatch(this.env, { commands }, callerOf(this.env, this.ctx.props));
  }

  /** Names, arguments and results have types in `realtimeService<typeof channels>(binding)`. */
  call<Result = JsonValue | undefined>(
    channel: string,
    procedure: string,
    args?: JsonData,
    options?: CallOptions,
  ): Promise<Result> {
    const request = callRequest(channel, procedure, args, options);
    return callProcedure(this.env, request, callerOf(this.env, this.ctx.props));
  }

  outcome(method: string, params: object): Promise<RealtimeOutcome<object>> {
    return outcomeOf(this.env, method, params, callerOf(this.env, this.ctx.props));
  }

  // The others take what the HTTP API takes, and give the `result` of its answer.

  history(params: ApiRequests["history"]): Promise<ApiResults["history"]> {
    return this.#carryOut("history", params);
  }

  history_remove(params: ApiRequests["history_remove"]): Promise<ApiResults["history_remove"]> {
    return this.#carryOut("history_remove", params);
  }

  presence(params: ApiRequests["presence"]): Promise<ApiResults["presence"]> {
    return this.#carryOut("presence", params);
  }

  presence_stats(params: ApiRequests["presence_stats"]): Promise<ApiResults["presence_stats"]> {
    return this.#carryOut("presence_stats", params);
  }

  disconnect(params: ApiRequests["disconnect"] = {}): Promise<ApiResults["disconnect"]> {
    return this.#carryOut("disconnect", params);
  }

  unsubscribe(params: ApiRequests["unsubscribe"]): Promise<ApiResults["unsubscribe"]> {
    return this.#carryOut("unsubscribe", params);
  }

  subscribe(params: ApiRequests["subscribe"]): Promise<ApiResults["subscribe"]> {
    return this.#carryOut("subscribe", params);
  }

  refresh(params: ApiRequests["refresh"] = {}): Promise<ApiResults["refresh"]> {
    return this.#carryOut("refresh", params);
  }

  block_user(params: ApiRequests["block_user"]): Promise<ApiResults["block_user"]> {
    return this.#carryOut("block_user", params);
  }

  unblock_user(params: ApiRequests["unblock_user"]): Promise<ApiResults["unblock_user"]> {
    return this.#carryOut("unblock_user", params);
  }

  revoke_token(params: ApiRequests["revoke_token"]): Promise<ApiResults["revoke_token"]> {
    return this.#carryOut("revoke_token", params);
  }

  invalidate_user_tokens(
    params: ApiRequests["invalidate_user_tokens"],
  ): Promise<ApiResults["invalidate_user_tokens"]> {
    return this.#carryOut("invalidate_user_tokens", params);
  }

  connections(params: ApiRequests["connections"]): Promise<ApiResults["connections"]> {
    return this.#carryOut("connections", params);
  }

  info(params: ApiRequests["info"] = {}): Promise<ApiResults["info"]> {
    return this.#carryOut("info", params);
  }

  channels(params: ApiRequests["channels"] = {}): Promise<ApiResults["channels"]> {
    return this.#carryOut("channels", params);
  }

  update_user_status(
    params: ApiRequests["update_user_status"],
  ): Promise<ApiResults["update_user_status"]> {
    return this.#carryOut("update_user_status", params);
  }

  get_user_status(params: ApiRequests["get_user_status"]): Promise<ApiResults["get_user_status"]> {
    return this.#carryOut("get_user_status", params);
  }

  delete_user_status(
    params: ApiRequests["delete_user_status"],
  ): Promise<ApiResults["delete_user_status"]> {
    return this.#carryOut("delete_user_status", params);
  }

  why(params: ApiRequests["why"]): Promise<ApiResults["why"]> {
    return this.#carryOut("why", params);
  }

  inspect(params: ApiRequests["inspect"] = {}): Promise<ApiResults["inspect"]> {
    return this.#carryOut("inspect", params);
  }

  update_publication(
    params: ApiRequests["update_publication"],
  ): Promise<ApiResults["update_publication"]> {
    return this.#carryOut("update_publication", params);
  }

  delete_publication(
    params: ApiRequests["delete_publication"],
  ): Promise<ApiResults["delete_publication"]> {
    return this.#carryOut("delete_publication", params);
  }

  erase(params: ApiRequests["erase"]): Promise<ApiResults["erase"]> {
    return this.#carryOut("erase", params);
  }

  map_publish(params: ApiRequests["map_publish"]): Promise<ApiResults["map_publish"]> {
    return this.#carryOut("map_publish", params);
  }

  map_remove(params: ApiRequests["map_remove"]): Promise<ApiResults["map_remove"]> {
    return this.#carryOut("map_remove", params);
  }

  map_append(params: ApiRequests["map_append"]): Promise<ApiResults["map_append"]> {
    return this.#carryOut("map_append", params);
  }

  map_read_state(params: ApiRequests["map_read_state"]): Promise<ApiResults["map_read_state"]> {
    return this.#carryOut("map_read_state", params);
  }

  map_read_stream(params: ApiRequests["map_read_stream"]): Promise<ApiResults["map_read_stream"]> {
    return this.#carryOut("map_read_stream", params);
  }

  map_stats(params: ApiRequests["map_stats"]): Promise<ApiResults["map_stats"]> {
    return this.#carryOut("map_stats", params);
  }

  map_clear(params: ApiRequests["map_clear"]): Promise<ApiResults["map_clear"]> {
    return this.#carryOut("map_clear", params);
  }

  shared_poll_publish(
    params: ApiRequests["shared_poll_publish"],
  ): Promise<ApiResults["shared_poll_publish"]> {
    return this.#carryOut("shared_poll_publish", params);
  }

  forget_user(params: ApiRequests["forget_user"]): Promise<ApiResults["forget_user"]> {
    return this.#carryOut("forget_user", params);
  }

  set_audience(params: ApiRequests["set_audience"]): Promise<ApiResults["set_audience"]> {
    return this.#carryOut("set_audience", params);
  }

  add_audience(params: ApiRequests["add_audience"]): Promise<ApiResults["add_audience"]> {
    return this.#carryOut("add_audience", params);
  }

  remove_audience(params: ApiRequests["remove_audience"]): Promise<ApiResults["remove_audience"]> {
    return this.#carryOut("remove_audience", params);
  }

  audience(params: ApiRequests["audience"]): Promise<ApiResults["audience"]> {
    return this.#carryOut("audience", params);
  }

  mark_read(params: ApiRequests["mark_read"]): Promise<ApiResults["mark_read"]> {
    return this.#carryOut("mark_read", params);
  }

  marks(params: ApiRequests["marks"]): Promise<ApiResults["marks"]> {
    return this.#carryOut("marks", params);
  }

  unread(params: ApiRequests["unread"]): Promise<ApiResults["unread"]> {
    return this.#carryOut("unread", params);
  }

  delivered(params: ApiRequests["delivered"]): Promise<ApiResults["delivered"]> {
    return this.#carryOut("delivered", params);
  }

  #carryOut<Name extends MethodName>(name: Name, params: object): Promise<ApiResults[Name]> {
    return carryOut(this.env, name, params, callerOf(this.env, this.ctx.props));
  }
}

/** Whose rights count (rule OW5). */
function callerOf(env: Env, props: unknown): ApiKey {
  const configuration = configurationOf(env);
  const keys = configuration.outcome === "configured" ? configuration.config.httpApi.keys : [];
  return parseBindingCaller(props, keys);
}
