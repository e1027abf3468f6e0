import * as v from "valibot";
import { type Malformed, type Refused, refusedRequest } from "./command.ts";
import { resolveChannel } from "../channel/channel-name.ts";
import type { ChannelConfig, ChannelOptions } from "../config/config.ts";
import { errorCodes } from "../protocol/codes.ts";

/**
 * The kinds of field that requests are made of. As in Go, null is absence, absence is the zero value, and fields that
 * nobody asked for are ignored. Each kind's message completes the sentence "the field must be …".
 */
export const textField = () => v.nullish(v.string("a string"), "");
export const flagField = () => v.nullish(v.boolean("a boolean"), false);
export const textListField = () => v.nullish(v.array(v.string("a string"), "an array"), []);
export const int32Field = () => integerField(-(2 ** 31), 2 ** 31 - 1, "a 32 bit integer");
export const uint32Field = () => integerField(0, 2 ** 32 - 1, "an unsigned 32 bit integer");
/** Above 2^53 it is no longer exact, and no longer an offset that any stream has. */
export const offsetField = () => integerField(0, 2 ** 64, "an unsigned 64 bit integer");
/** An object with whatever in it, handed on as it is: valibot's own record drops keys such as "constructor". */
export const objectField = () => v.nullish(v.custom<object>(parsesAsObject, "an object"));

/** An object with these fields, inside a request. */
export function objectOf<Fields extends v.ObjectEntries>(fields: Fields) {
  return v.pipe(v.custom<object>(parsesAsObject, "an object"), v.object(fields));
}

/**
 * A whole request: an object with these fields. It is put together when the first one is read, because an isolate starts
 * for every object that wakes, and objects read none.
 */
export function shape<Fields extends v.ObjectEntries>(fields: () => Fields) {
  let schema: ReturnType<typeof objectOf<Fields>> | undefined;
  return () => (schema ??= objectOf(fields()));
}

/** What a request is once it is read. */
export type Shaped<Shape extends () => v.GenericSchema> = v.InferOutput<ReturnType<Shape>>;

type ParsedShape<Value> = { readonly outcome: "shape"; readonly value: Value } | Malformed;

/** Reads a request by its shape; stops at the first field that has the wrong type, and names it. The request is valid JSON. */
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

function integerField(min: number, max: number, message: string) {
  return v.nullish(
    v.pipe(
      v.number(message),
      v.integer(message),
      v.minValue(min, message),
      v.maxValue(max, message),
    ),
    0,
  );
}

/** Valibot's object takes arrays too. */
function parsesAsObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type CheckedChannel = { readonly outcome: "channel"; readonly options: ChannelOptions } | Refused;

/** Finds a channel's options, or says why a backend can't use that name (docs/protocol.md 6.2): errors 107 and 102. */
export function checkChannel(channel: string, config: ChannelConfig): CheckedChannel {
  if (channel === "") return refusedRequest("channel is required");
  // Text with half a surrogate pair is changed on its way to the object, and two channels would become one.
  if (!channel.isWellFormed()) return refusedRequest("the channel name is not well-formed Unicode");
  const resolved = resolveChannel(channel, config);
  switch (resolved.outcome) {
    case "resolved":
      return { outcome: "channel", options: resolved.options };
    case "bad-name":
      return refusedRequest(resolved.reason);
    case "unknown-namespace":
      break;
  }
  const detail = "the channel's namespace is not configured";
  return { outcome: "refused", error: errorCodes.unknownChannel, detail };
}
