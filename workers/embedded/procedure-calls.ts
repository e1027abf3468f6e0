/** The types of calls of procedures: their names, arguments and results come from the code of the channels. */
import type {
  ChannelDefinitions,
  Procedure,
  ProcedureArgs,
  ProcedureResult,
  ProceduresOf,
} from "../../src/features/index.ts";
import type { JsonData, JsonValue } from "../../src/protocol/wire-value.ts";

/** The options of a call. */
export interface CallOptions {
  /** A second call with the same key within 5 minutes calls nothing, and has the first result. */
  readonly idempotencyKey?: string;
}

/**
 * Calls a procedure of a channel. A channel whose namespace isn't known to the compiler, such as one of type `string`, may be
 * one of any namespace.
 *
 * @typeParam Before the parameters before the channel
 */
export type CallProcedure<
  Before extends readonly unknown[],
  Definitions extends ChannelDefinitions,
> = string extends keyof Definitions ? AnyCall<Before> : TypedCall<Before, Definitions>;

/** Where the compiler doesn't know the code of the channels. */
type AnyCall<Before extends readonly unknown[]> = <Result = JsonValue | undefined>(
  ...given: [...Before, channel: string, procedure: string, args?: JsonData, options?: CallOptions]
) => Promise<Result>;

type TypedCall<Before extends readonly unknown[], Definitions extends ChannelDefinitions> = <
  Channel extends string,
  Name extends ProcedureName<Definitions, Channel>,
>(
  ...given: [
    ...Before,
    channel: Channel,
    procedure: Name,
    ...more: MoreOf<ProcedureAt<Definitions, Channel, Name>>,
  ]
) => Promise<ResultOf<ProcedureAt<Definitions, Channel, Name>>>;

/** The namespace of a channel; `string` for any. The separator is that of the default configuration. */
type NamespaceOf<Channel extends string> = string extends Channel
  ? string
  : Channel extends `${infer Namespace}:${string}`
    ? Namespace
    : "";

/** The names of the procedures that a channel may have. */
type ProcedureName<Definitions extends ChannelDefinitions, Channel extends string> =
  string extends NamespaceOf<Channel>
    ? { [Name in keyof Definitions]: NamesOf<Definitions[Name]> }[keyof Definitions]
    : NamespaceOf<Channel> extends keyof Definitions
      ? NamesOf<Definitions[NamespaceOf<Channel>]>
      : never;

type NamesOf<Definition> = keyof ProceduresOf<Definition> & string;

/** The procedure of that name; {@link Procedure} if it may be one of several. */
type ProcedureAt<
  Definitions extends ChannelDefinitions,
  Channel extends string,
  Name extends string,
> =
  NamespaceOf<Channel> extends keyof Definitions
    ? Name extends keyof ProceduresOf<Definitions[NamespaceOf<Channel>]>
      ? ProceduresOf<Definitions[NamespaceOf<Channel>]>[Name]
      : Procedure
    : Procedure;

/** The parameters after the name of a procedure. */
type MoreOf<Called> =
  ProcedureArgs<Called> extends readonly [infer Args]
    ? [Args] extends [never]
      ? [args?: JsonData, options?: CallOptions]
      : [args: Args, options?: CallOptions]
    : ProcedureArgs<Called> extends readonly []
      ? [args?: undefined, options?: CallOptions]
      : [...args: ProcedureArgs<Called>, options?: CallOptions];

type ResultOf<Called> = Procedure extends Called
  ? JsonValue | undefined
  : Called extends Procedure
    ? ProcedureResult<Called>
    : JsonValue | undefined;
