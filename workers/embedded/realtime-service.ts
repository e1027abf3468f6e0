import type { ChannelDefinitions } from "../../src/features/index.ts";
import type { JsonData, JsonValue } from "../../src/protocol/wire-value.ts";
import type { ApiResults } from "./api-types.ts";
import type { CallOptions } from "./procedure-calls.ts";
import { RealtimeError } from "./realtime-error.ts";
import {
  type BatchCommand,
  type BatchReplies,
  broadcastRequest,
  callRequest,
  type MethodName,
  type Methods,
  publishRequest,
  type RealtimeCalls,
  type RealtimeOutcome,
  type RealtimeService,
} from "./realtime-methods.ts";

/**
 * The methods of another Worker's real-time layer, whose errors are of the class `RealtimeError`, with their `code`, `detail`
 * and `isTemporary`, whatever the compatibility dates of both Workers.
 *
 * @param binding to the other Worker's `RealtimeEntrypoint`; `wrangler types` calls it a `Fetcher` or a `Service`
 * @typeParam Definitions the code of the other Worker's channels, such as `typeof channels`
 * @throws if the binding has no methods
 */
export function realtimeService<Definitions extends ChannelDefinitions = ChannelDefinitions>(
  binding: RealtimeService | Fetcher,
): RealtimeCalls<Definitions>;
export function realtimeService(binding: RealtimeService | Fetcher): RealtimeCalls {
  if (!hasOutcome(binding))
    throw new Error(
      'the binding has no methods: it needs entrypoint = "RealtimeEntrypoint", and this Worker compatibility_date 2024-04-03 or the flag rpc',
    );
  const call = async <Result extends object>(method: string, params: object): Promise<Result> => {
    const { result, error } = await binding.outcome<Result>(method, params);
    if (error !== undefined) throw new RealtimeError(error);
    return result;
  };
  return {
    publish: (channel, data, options) => call("publish", publishRequest(channel, data, options)),
    broadcast: (channels, data, options) =>
      call("broadcast", broadcastRequest(channels, data, options)),
    batch: <const Commands extends readonly BatchCommand[]>(commands: Commands) =>
      call<BatchReplies<Commands>>("batch", { commands }),
    call: async <Result = JsonValue | undefined>(
      channel: string,
      procedure: string,
      args?: JsonData,
      options?: CallOptions,
    ) => {
      const request = callRequest(channel, procedure, args, options);
      return (await call<{ readonly data: Result }>("call", request)).data;
    },
    ...methodsOf(call),
  };
}

/** The binding of a Worker that may call methods has all names, and a `Fetcher` of an older date has none of these. */
function hasOutcome(binding: object): binding is Outcomes {
  return typeof Reflect.get(binding, "outcome") === "function";
}

interface Outcomes {
  outcome<Result extends object>(method: string, params: object): Promise<RealtimeOutcome<Result>>;
}

function methodsOf(
  call: (method: string, params: object) => Promise<ApiResults[MethodName]>,
): Methods<[]> {
  const methods = Object.keys(methodNames).map((name) => [
    name,
    (params: object = {}) => call(name, params),
  ]);
  return Object.fromEntries(methods);
}

/**
 * All methods but those with forms of their own. Written down, because a Worker that only calls needs nothing of the table
 * that the server has.
 */
const methodNames: Readonly<Record<MethodName, true>> = {
  history: true,
  history_remove: true,
  presence: true,
  presence_stats: true,
  disconnect: true,
  unsubscribe: true,
  subscribe: true,
  refresh: true,
  block_user: true,
  unblock_user: true,
  revoke_token: true,
  invalidate_user_tokens: true,
  connections: true,
  info: true,
  channels: true,
  update_user_status: true,
  get_user_status: true,
  delete_user_status: true,
  why: true,
  inspect: true,
  update_publication: true,
  delete_publication: true,
  erase: true,
  map_publish: true,
  map_remove: true,
  map_append: true,
  map_read_state: true,
  map_read_stream: true,
  map_stats: true,
  map_clear: true,
  shared_poll_publish: true,
  forget_user: true,
  set_audience: true,
  add_audience: true,
  remove_audience: true,
  audience: true,
  mark_read: true,
  marks: true,
  unread: true,
  delivered: true,
};
