/**
 * What a Worker's own code says about the channels of a namespace (docs/procedures.md): the public types, and nothing that
 * runs. {@link ChannelCode} is the same, checked.
 */
import type { JsonData, JsonValue } from "../../protocol/wire-value.ts";

/**
 * The channel as a procedure sees and changes it. All reads, changes, publications and timers of a call are one step: they happen together
 * when the procedure returns, or not at all. It is of no use once the procedure has returned.
 */
export interface ProcedureContext {
  /** The name of the channel. */
  readonly channel: string;
  /** The time of the call, ms since 1970: the same in the whole call. Use it in place of `Date.now()`. */
  readonly nowMs: number;
  /** The user that calls; "" for an anonymous client, a backend and a timer. */
  readonly user: string;
  /** The ID of the connection that calls; "" for a backend and a timer. */
  readonly client: string;
  /** The `info` of the connection that calls; undefined without one. */
  readonly info: JsonValue | undefined;
  /** A backend calls, and no client. */
  readonly isBackend: boolean;
  /** A timer calls. */
  readonly isTimer: boolean;
  /** The offset of the channel's newest publication when the call began; 0 without one, and without history. */
  readonly offset: number;
  /** The value of a key, as this call has set it; undefined without it. Changing the value changes nothing: `set` does. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the key holds
  get<Value = JsonValue>(key: string): Value | undefined;
  /** Sets a key to a value that JSON can hold. */
  set(key: string, value: JsonData): void;
  /** Removes a key, if there is one. */
  remove(key: string): void;
  /** A cursor over the keys in the order of their UTF-8 bytes, as this call has changed them; those after `after`. */
  keys(after?: string): Iterable<string>;
  /** Publishes to the channel. A map has no publications but the changes of its keys. */
  publish(data: JsonData, options?: ProcedurePublishOptions): void;
  /**
   * Sets the timer of that name, or replaces it: it calls a procedure of the channel once, at `atMs` or as soon as possible
   * afterwards.
   */
  at(name: string, atMs: number, procedure: string, args?: JsonData): void;
  /** Removes the timer of that name, if there is one. */
  cancel(name: string): void;
  /** When the timer of that name calls, ms since 1970; undefined without it. */
  timer(name: string): number | undefined;
  /** Calls another procedure of the channel, within this step. If it fails, the whole step does. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the procedure returns
  call<Result = JsonValue>(procedure: string, args?: JsonData): Result | undefined;
  /**
   * Ends the call with an error for the caller: nothing has happened. The codes from 1000 on are yours.
   *
   * @param code from 1000 to 2147483647
   */
  reject(code: number, message: string): never;
  /** A random number from 0 to below 1. Use it in place of `Math.random()`. */
  random(): number;
}

/** The options of a publication of a procedure. */
export interface ProcedurePublishOptions {
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * A procedure. It runs in the channel's object, synchronously: it has no I/O, no clock and no randomness but the context's.
 *
 * @returns the answer to the caller
 */
export type Procedure = (ctx: ProcedureContext, args: never) => JsonData | undefined | void;

/** The procedures of a namespace, by their names. */
export type Procedures = Readonly<Record<string, Procedure>>;

/** A publication that a client or a backend makes, edits or deletes, before that has its place. */
export interface IncomingPublication {
  /** The data; undefined if it isn't JSON, or if a key is removed. */
  readonly data: JsonValue | undefined;
  /** The data as base64, if it isn't JSON. */
  readonly b64data?: string;
  /** The key of a map that is set or removed; absent in a stream. */
  readonly key?: string;
  /** The key is removed, or the publication is deleted. */
  readonly removed?: true;
  /** Absent also for an edit that keeps the tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The publication that is edited, or deleted with `removed`, as it is now; absent for a new one. */
  readonly changes?: EarlierPublication;
}

/** A publication that is about to be edited or deleted. */
interface EarlierPublication {
  readonly offset: number;
  /** How often it was published and edited: 1 if it was never changed. */
  readonly version: number;
  /** The user whose client has published it; "" for a backend, the code and an anonymous client. */
  readonly user: string;
  /** The data; undefined if it isn't JSON. */
  readonly data: JsonValue | undefined;
  /** The data as base64, if it isn't JSON. */
  readonly b64data?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** The changes that `onPublish` makes to a publication. */
export interface ChangedPublication {
  /** In place of the data. */
  readonly data?: JsonData;
  /** In place of the tags. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** The code of the channels of a namespace. */
export interface ChannelDefinition<Own extends Procedures = Procedures> {
  readonly procedures?: Own;
  /** The procedures that clients may call, where the namespace lets them call any; absent: all of them. */
  readonly clients?: readonly string[];
  /**
   * Every publication of clients and backends passes here before it has its place, and so does every edit and deletion.
   * The publications that this call makes come after it; a rejection is the publisher's answer.
   */
  readonly onPublish?: (
    ctx: ProcedureContext,
    publication: IncomingPublication,
  ) => ChangedPublication | undefined | void;
  /** The version of what the keys hold, from 1 on; absent: 1. */
  readonly version?: number;
  /** Brings the keys of an older version to this one, in a step of its own before the first call after the deploy. */
  readonly migrate?: (ctx: ProcedureContext, from: number) => void;
}

/** The code of a Worker's channels, by their namespaces; "" for channels without one. */
export type ChannelDefinitions = Readonly<Record<string, ChannelDefinition>>;

/** The procedures of a definition. */
export type ProceduresOf<Definition> =
  Definition extends ChannelDefinition<infer Own> ? Own : Procedures;

/** The arguments that a procedure takes. */
export type ProcedureArgs<Called> = Called extends (
  ctx: ProcedureContext,
  ...args: infer Args
) => unknown
  ? Args
  : never;

/** The answer of a procedure. */
export type ProcedureResult<Called extends Procedure> = ReturnType<Called>;

/** Makes the code of the channels of a namespace. It is checked at the start of the Worker. */
export function channel<const Own extends Procedures>(
  definition: ChannelDefinition<Own>,
): ChannelDefinition<Own> {
  return definition;
}
