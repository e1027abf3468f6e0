/**
 * The shapes of requests to the HTTP API: the kinds of fields, and the parsing of a request by its shape. Every parser
 * of `src/api` uses them, and refuses a field of the wrong type for the whole request (rule W4).
 */
import { limits } from "../limits.ts";
import * as v from "valibot";
import {
  type ApiCaller,
  type Malformed,
  type ParsedEntry,
  type Refused,
  refusedRequest,
} from "./command.ts";
import { allChannels, keyRefusal } from "../access/api-keys.ts";
import type { Operation, OperationName } from "../access/operations.ts";
import { resolveChannel, unknownNamespace } from "../channel/channel-name.ts";
import type { ChannelOptions } from "../config/config.ts";
import { errorCodes } from "../protocol/codes.ts";
import { memberText } from "../protocol/json/text.ts";

/**
 * The kinds of fields in requests. As in Go, null means absent, an absent field has the zero value, and unknown fields
 * are ignored. The message of each kind completes the sentence "the field must be …".
 */
export const textField = () => v.nullish(v.string("a string"), "");
export const flagField = () => v.nullish(v.boolean("a boolean"), false);
export const textListField = () => v.nullish(v.array(v.string("a string"), "an array"), []);
export const int32Field = () => integerField(-(2 ** 31), 2 ** 31 - 1, "a 32 bit integer");
export const uint32Field = () => integerField(0, 2 ** 32 - 1, "an unsigned 32 bit integer");
/** Numbers above 2^53 are rounded, but no stream reaches such an offset. */
export const offsetField = () => integerField(0, 2 ** 64, "an unsigned 64 bit integer");
/** Undefined or null if it is absent, where 0 has another meaning. */
export const optionalOffsetField = () =>
  v.nullish(integerOf(0, Number.MAX_SAFE_INTEGER, "an integer from 0 to 2^53 - 1"));
/** Larger ones would be rounded, and two different scores become equal. */
export const safeIntegerField = () =>
  integerField(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "an integer of less than 2^53");
/** An object with any content, passed on unchanged: valibot's own record drops keys such as "constructor". */
export const objectField = () => v.nullish(v.custom<object>(parsesAsObject, "an object"));

/** An object with these fields, inside a request. */
export function objectOf<Fields extends v.ObjectEntries>(fields: Fields) {
  const schema = v.pipe(v.custom<object>(parsesAsObject, "an object"), v.object(fields));
  fieldNames.set(schema, Object.keys(fields));
  return schema;
}

/** The names of the fields of each schema of {@link objectOf}. */
const fieldNames = new WeakMap<object, readonly string[]>();

/** The names of a request's fields, also of those that are read from the text. */
export function fieldsOf({
  shape: shapeOf,
  texts = [],
}: Pick<AnyMethod, "shape" | "texts">): readonly string[] {
  return [...(fieldNames.get(shapeOf()) ?? []), ...texts];
}

/**
 * A whole request: an object with these fields. The schema is built when the first request is parsed, because an
 * isolate starts for every object that wakes, and objects parse no requests.
 */
export function shape<Fields extends v.ObjectEntries>(fields: () => Fields) {
  let schema: ReturnType<typeof objectOf<Fields>> | undefined;
  return () => (schema ??= objectOf(fields()));
}

/** The same for several requests, whose schemas are built together, by one call at the start of an isolate. */
export function shapes<Schemas>(build: () => Schemas): () => Schemas {
  let schemas: Schemas | undefined;
  return () => (schemas ??= build());
}

/** The type of a parsed request. */
export type Shaped<Shape extends () => v.GenericSchema> = v.InferOutput<ReturnType<Shape>>;

/** How the requests of a method are read: by their shape, and then in the words of the feature. */
export interface ApiMethod<Shape extends () => v.GenericSchema<unknown, object>> {
  readonly shape: Shape;
  /** A field that would choose connections, and that the method doesn't read, is refused (rule W10). */
  readonly selects?: true;
  /** The fields that are read from the text of the request, beside those of the shape. */
  readonly texts?: readonly string[];
  // A method, so that those of all shapes are of one type.
  entry(fields: Shaped<Shape>, request: MethodRequest): ParsedEntry;
}

/** A method whose requests have any shape. */
export type AnyMethod = ApiMethod<() => v.GenericSchema<unknown, object>>;

/** A request to a method, beside the fields of its shape. */
export interface MethodRequest {
  readonly method: OperationName;
  /** The method's row. */
  readonly operation: Operation;
  /** Valid JSON, of which some fields are cut as text so that they stay as their sender wrote them (rule W2). */
  readonly params: string;
  readonly caller: ApiCaller;
}

type ParsedShape<Value> = { readonly outcome: "shape"; readonly value: Value } | Malformed;

/** Parses a request, valid JSON, by its shape. Stops at the first field of a wrong type, and names that field. */
export function parseShape<Schema extends v.GenericSchema>(
  shapeOf: () => Schema,
  request: string,
): ParsedShape<v.InferOutput<Schema>> {
  const parsed = v.safeParse(shapeOf(), JSON.parse(request), { abortEarly: true });
  if (parsed.success) return { outcome: "shape", value: parsed.output };
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  const subject = path === null ? "the request" : `the field ${path}`;
  return { outcome: "malformed", detail: `${subject} must be ${issue.message}` };
}

/**
 * Parses an order or a question about connections. A field that would choose others in another method, or in Centrifugo
 * PRO, and that this one doesn't read, is refused: ignored, it would make the order act on more (rule W10).
 */
export function parseSelection<Schema extends v.GenericSchema<unknown, object>>(
  shapeOf: () => Schema,
  request: string,
): ParsedShape<v.InferOutput<Schema>> | Refused {
  const parsed = parseShape(shapeOf, request);
  if (parsed.outcome === "malformed") return parsed;
  const stray = selecting.find((name) => !(name in parsed.value) && asks(request, name));
  return stray === undefined ? parsed : strayField(stray);
}

/** Refuses a field that would change on whom or when a request acts, and that its method doesn't read (rule W10). */
export function strayField(name: string): Refused {
  return refusedRequest(`${name} is not a field of this method`);
}

/** Whether a field is there and has another value than the zero value of its kind. */
export function asks(request: string, name: string): boolean {
  return !["null", "false", "0", '""', "[]"].includes(memberText(request, name) ?? "null");
}

const selecting = ["all_users", "label_filter", "whitelist", "client", "session"];

function integerField(min: number, max: number, message: string) {
  return v.nullish(integerOf(min, max, message), 0);
}

function integerOf(min: number, max: number, message: string) {
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

/** Valibot's object accepts arrays too, and this check doesn't. */
function parsesAsObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type CheckedChannel = { readonly outcome: "channel"; readonly options: ChannelOptions } | Refused;

/**
 * Finds the options of a channel. Refuses a name that a backend can't use (docs/protocol.md 6.2) with error 107 or 102,
 * and a method or a channel that the backend's key doesn't admit with 103, whether the channel exists or not (rule A14).
 */
export function checkChannel(channel: string, call: MethodCall): CheckedChannel {
  if (channel === "") return checkMethod(call) ?? refusedRequest("channel is required");
  const refused = checkKey(call, channel);
  if (refused !== undefined) return refused;
  // A lone surrogate is replaced on the way to the object, which would make one channel of two.
  if (!channel.isWellFormed()) return refusedRequest("the channel name is not well-formed Unicode");
  const resolved = resolveChannel(channel, call.caller.channels);
  switch (resolved.outcome) {
    case "resolved":
      return { outcome: "channel", options: resolved.options };
    case "bad-name":
      return refusedRequest(resolved.reason);
    case "unknown-namespace":
      break;
  }
  const detail = unknownNamespace(channel, call.caller.channels);
  return { outcome: "refused", error: errorCodes.unknownChannel, detail };
}

/** A refusal that names its channel in the log, unless there is no name. */
export function refusedFor(channel: string, refused: Refused): Refused {
  return channel === "" ? refused : { ...refused, channel };
}

/** Refuses an ID that no user can have, with error 107; undefined if it can be one, or is empty. */
export function refusedUser(user: string): Refused | undefined {
  if (user.length > limits.userCharactersMax)
    return refusedRequest(`user has more than ${limits.userCharactersMax} characters`);
  // A lone surrogate is replaced when it is stored or hashed, which would make one user of two.
  return user.isWellFormed() ? undefined : refusedRequest("user is not well-formed Unicode");
}

/** Refuses a method that the backend's key doesn't admit for any channel with error 103; undefined if it does. */
export function checkMethod(call: MethodCall): Refused | undefined {
  return checkKey(call, undefined);
}

/** Refuses a method that acts on all channels, unless the backend's key admits it for all of them. */
export function checkAllChannels(call: MethodCall): Refused | undefined {
  return checkKey(call, allChannels);
}

/** A method, and the backend that calls it. */
type MethodCall = Pick<MethodRequest, "method" | "caller">;

function checkKey(
  { method, caller: { key } }: MethodCall,
  channel: string | typeof allChannels | undefined,
): Refused | undefined {
  // Most backends have the only key, which admits everything.
  const detail = key.rights === undefined ? undefined : keyRefusal(key, method, channel);
  if (detail === undefined) return undefined;
  const error = errorCodes.permissionDenied;
  return { outcome: "refused", error, detail, ...(typeof channel === "string" && { channel }) };
}
