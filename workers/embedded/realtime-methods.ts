import type { ChannelDefinitions } from "../../src/features/index.ts";
import type { ApiRequests, ApiResults } from "./api-types.ts";
import type { JsonData } from "../../src/protocol/wire-value.ts";
import type { CallOptions, CallProcedure } from "./procedure-calls.ts";
import type { ErrorValue } from "./realtime-error.ts";

/** What a publication may have besides its data. */
export interface PublishOptions {
  /** A second publication with the same key within 5 minutes publishes nothing, and has the first result. */
  readonly idempotencyKey?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Send the publication as a delta to subscribers that take deltas. */
  readonly delta?: boolean;
  /** Publish to subscribers only: the channel doesn't keep it. */
  readonly skipHistory?: boolean;
  /** Publish only if this is greater than the version of the channel's newest publication of the same `versionEpoch`. */
  readonly version?: number;
  readonly versionEpoch?: string;
  /** Publish only if this is the offset of the channel's newest publication. */
  readonly ifOffset?: number;
}

/**
 * The name of a command. The table of operations has the same names, but each feature adds its own to it, which declarations of an
 * installed package don't see.
 */
type ApiName = keyof ApiRequests;

/** The methods that take what the HTTP API takes, with its names, and give its `result`. */
export type MethodName = Exclude<ApiName, "publish" | "broadcast" | "call">;

/** The request of a publish, in the names of the HTTP API. */
export function publishRequest(
  channel: string,
  data: JsonData,
  options: PublishOptions = {},
): ApiRequests["publish"] {
  return { channel, data, ...optionsRequest(options) };
}

/** The same for several channels. */
export function broadcastRequest(
  channels: readonly string[],
  data: JsonData,
  options: Omit<PublishOptions, "ifOffset"> = {},
): ApiRequests["broadcast"] {
  return { channels: [...channels], data, ...optionsRequest(options) };
}

/** The request of a call of a procedure. */
export function callRequest(
  channel: string,
  procedure: string,
  args?: JsonData,
  { idempotencyKey }: CallOptions = {},
): ApiRequests["call"] {
  return {
    channel,
    procedure,
    ...(args !== undefined && { args }),
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
  };
}

function optionsRequest(options: PublishOptions) {
  const { idempotencyKey, tags, delta, skipHistory, version, versionEpoch, ifOffset } = options;
  return {
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
    ...(tags !== undefined && { tags }),
    ...(delta !== undefined && { delta }),
    ...(skipHistory !== undefined && { skip_history: skipHistory }),
    ...(version !== undefined && { version }),
    ...(versionEpoch !== undefined && { version_epoch: versionEpoch }),
    ...(ifOffset !== undefined && { if_offset: ifOffset }),
  };
}

/** A method of each name. */
export type Methods<Before extends readonly unknown[]> = {
  readonly [Name in MethodName]: (
    ...given: [...Before, ...Params<Name>]
  ) => Promise<ApiResults[Name]>;
};

/** A request without required fields may be left out. */
type Params<Name extends MethodName> =
  Record<string, never> extends ApiRequests[Name]
    ? [params?: ApiRequests[Name]]
    : [params: ApiRequests[Name]];

/** A command of a batch: the request of one method, by the method's name. */
export type BatchCommand = {
  readonly [Name in ApiName]: { readonly [Method in Name]: ApiRequests[Name] };
}[ApiName];

/** A batch as the HTTP API takes it. Absent commands are a mistake of the caller, which is answered. */
export interface BatchRequest<Commands extends readonly BatchCommand[]> {
  readonly commands?: Commands;
}

/**
 * What came of each command of a batch, in the order of the commands. Here errors are values, because other commands were
 * carried out.
 */
export type BatchReplies<Commands extends readonly BatchCommand[]> = {
  readonly [Index in keyof Commands]: BatchReply<keyof Commands[Index] & ApiName>;
};

/** What came of one command. */
export type BatchReply<Name extends ApiName> =
  | { readonly result: ApiResults[Name]; readonly error?: undefined }
  | {
      readonly error: { readonly code: number; readonly message: string };
      readonly result?: undefined;
    };

/** What came of a command as a value, because an error loses its fields between Workers with old compatibility dates. */
export type RealtimeOutcome<Result extends object> =
  | { readonly result: Result; readonly error?: undefined }
  | { readonly error: ErrorValue; readonly result?: undefined };

/**
 * A binding to the `RealtimeEntrypoint` of another Worker, as the type of an environment's field. The platform's own type of
 * the class can't say that a payload is any JSON.
 */
export interface RealtimeService extends RealtimeCalls {
  /** Carries out a command by its name in the HTTP API, or `batch`, and gives errors as values. `realtimeService` calls it. */
  outcome(method: string, params: object): Promise<RealtimeOutcome<object>>;
}

/**
 * The methods of {@link Realtime}, without an environment.
 *
 * @typeParam Definitions the code of the channels, such as `typeof channels`, by which calls of procedures are typed
 */
export interface RealtimeCalls<
  Definitions extends ChannelDefinitions = ChannelDefinitions,
> extends Methods<[]> {
  /** As {@link Realtime.publish} of the Worker itself. */
  publish(
    channel: string,
    data: JsonData,
    options?: PublishOptions,
  ): Promise<ApiResults["publish"]>;
  /** As {@link Realtime.broadcast} of the Worker itself. */
  broadcast(
    channels: readonly string[],
    data: JsonData,
    options?: Omit<PublishOptions, "ifOffset">,
  ): Promise<ApiResults["broadcast"]>;
  /** As {@link Realtime.batch} of the Worker itself. */
  batch<const Commands extends readonly BatchCommand[]>(
    commands: Commands,
  ): Promise<BatchReplies<Commands>>;
  /** As {@link Realtime.call} of the Worker itself. */
  call: CallProcedure<[], Definitions>;
}
