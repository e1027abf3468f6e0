import * as v from "valibot";
import { isCommandName, operationOf } from "../../api/operations.ts";
import type { ConsumerConfig } from "./config.ts";
import { isPublishing, type PublishingOperation } from "../../contract/channel-call.ts";
import { queueLimits } from "./limits.ts";
import { utf8Text } from "../../protocol/bytes.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import { type JsonText, memberText, parseJsonText } from "../../protocol/json/text.ts";
import type { JsonValue } from "../../protocol/wire-value.ts";
import type { ApiAnswer } from "../../api/answers.ts";
import { planCalls } from "../../api/calls.ts";
import {
  type ApiCaller,
  type ApiCommand,
  entriesOf,
  type Entry,
  type Malformed,
  malformedAt,
  type ParsedCommand,
  type Refused,
  refusedRequest,
} from "../../api/command.ts";
import { parseCommand, unknownMethodDetail } from "../../api/methods.ts";
import { parseShape, shape, textField } from "../../api/shape.ts";

/**
 * Messages of a queue (the rules M). Each holds a command of the API, or a publication. This file parses a
 * message, and decides by the answers to its command whether it is done, repeated or refused. `workers/features/queues/take-messages.ts`
 * makes the calls.
 */

/** The command of a message, or the reason why it has none. */
export type ParsedMessage = { readonly outcome: "command"; readonly command: ApiCommand } | Refused;

/**
 * Parses a message (docs/protocol.md 6.4). Its publications have an idempotency key in any case, so that a message that
 * is delivered twice publishes once (rule M4).
 *
 * @param body     as {@link parseMessageBody} gives it; undefined if it has no text
 * @param id       of the message; each delivery has the same one
 * @param channels the configuration of channels
 * @param nowMs    the time of this delivery, ms since 1970
 */
export function parseQueueMessage(
  body: MessageBody | undefined,
  id: string,
  consumer: ConsumerConfig,
  channels: ApiCaller["channels"],
  nowMs: number,
): ParsedMessage {
  if (body === undefined) return refusedRequest("the message is neither JSON nor UTF-8 text");
  if (body.text.length > queueLimits.queueMessageCharactersMax)
    return refusedRequest(
      `the message exceeds ${queueLimits.queueMessageCharactersMax} characters`,
    );
  const json = parseJsonText(body.text);
  if (json === undefined) return refusedRequest("the message is not valid JSON");
  const caller = { key: consumerKey(consumer), channels, nowMs };
  const parsed = consumer.publicationDataMode
    ? parseCommand("broadcast", json, caller)
    : parseMethod(json, caller);
  if (parsed.outcome === "refused") return parsed;
  if (parsed.outcome === "malformed") return refusedRequest(parsed.detail);
  const plan = planCalls(entriesOf(parsed.command));
  if (plan.outcome === "refused") return plan;
  return { outcome: "command", command: withKey(parsed.command, `queue:${id}`) };
}

/** The body of a message, as text to be parsed and as a value to be sent on. */
export interface MessageBody {
  readonly text: string;
  /** The text itself if the sender sent text or bytes, so that not a digit of it changes. */
  readonly value: JsonValue;
}

/**
 * Reads the body of a message: text, bytes of UTF-8, or a value, which the platform has parsed already.
 *
 * @returns undefined for bytes that aren't UTF-8 and for values that JSON can't hold
 */
export function parseMessageBody(body: unknown): MessageBody | undefined {
  if (typeof body === "string") return { text: body, value: body };
  const bytes = bytesOf(body);
  if (bytes !== undefined) {
    const text = utf8Text(bytes);
    return text === undefined ? undefined : { text, value: text };
  }
  try {
    // Undefined for a value such as undefined, whatever the types of TypeScript say.
    const text: string | undefined = JSON.stringify(body);
    return text === undefined ? undefined : { text, value: JSON.parse(text) };
  } catch {
    return undefined; // It has a cycle or a bigint.
  }
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : undefined;
}

function consumerKey({ name, rights }: ConsumerConfig): ApiCaller["key"] {
  return { name, rights, title: `the consumer "${name}"` };
}

/** Parses `{"method":…,"payload":…}`. As in Centrifugo, the payload may also be a string of JSON. */
function parseMethod(message: JsonText, caller: ApiCaller): ParsedCommand | Refused {
  const parsed = parseShape(messageShape, message);
  if (parsed.outcome === "malformed") return parsed;
  const { method } = parsed.value;
  if (!isCommandName(method)) return refusedRequest(unknownMethodDetail(method));
  if (operationOf(method).changes !== true) return readsOnly;
  const payload = parsePayload(memberText(message, "payload") ?? "null");
  if (typeof payload !== "string") return payload;
  const command = parseCommand(method, payload, caller);
  return command.outcome === "malformed" ? malformedAt("payload", command) : command;
}

function parsePayload(payload: string): string | Malformed {
  if (payload === "null") return "{}";
  if (!payload.startsWith('"')) return payload;
  const text: unknown = JSON.parse(payload);
  const json = typeof text === "string" ? parseJsonText(text) : undefined;
  return json ?? { outcome: "malformed", detail: "payload: a string that is not valid JSON" };
}

const readsOnly: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "the method only reads, and messages get no answers",
};

const messageShape = shape(() => ({ method: textField(), payload: v.nullish(v.unknown()) }));

/** Gives a key to the publications of a command that have none. */
function withKey(command: ApiCommand, idempotencyKey: string): ApiCommand {
  return command.form === "single"
    ? { ...command, entry: keyed(command.entry, idempotencyKey) }
    : { ...command, entries: command.entries.map((entry) => keyed(entry, idempotencyKey)) };
}

function keyed(entry: Entry, idempotencyKey: string): Entry {
  // A shared poll ignores a version that it has had, so a repeated message needs no key.
  if (entry.outcome !== "call" || !isPublishing(entry.command)) return entry;
  const { request } = entry.command;
  // A text that names its place is appended once without a key, which would end its window (rule Z40).
  if (request.idempotencyKey !== "" || "at" in request) return entry;
  return { ...entry, command: withIdempotencyKey(entry.command, idempotencyKey) };
}

function withIdempotencyKey<Command extends PublishingOperation>(
  command: Command,
  idempotencyKey: string,
): Command {
  return { ...command, request: { ...command.request, idempotencyKey } };
}

/**
 * How many of the first commands of a batch one request may carry out (rule B4). It is at least one, because
 * {@link parseQueueMessage} refuses a command that is too large for a request of its own.
 */
export function fittingCommands(commands: readonly ApiCommand[]): number {
  let [fitting, tooMany] = [0, commands.length + 1];
  while (tooMany - fitting > 1) {
    const count = Math.floor((fitting + tooMany) / 2);
    const entries = commands.slice(0, count).flatMap(entriesOf);
    if (planCalls(entries).outcome === "plan") fitting = count;
    else tooMany = count;
  }
  return fitting;
}

/** The fate of a message. */
export type MessageOutcome =
  /** It was carried out, and is not delivered again. */
  | { readonly outcome: "done" }
  /** It is delivered again, as something could not be done now; the detail is for the log. */
  | { readonly outcome: "again"; readonly detail: string }
  /** It can't be carried out, however often it is delivered. */
  | Refused;

/**
 * Decides on a message by the answers to the entries of its command (rules M3 and M5).
 *
 * @param answers one for each entry, in order
 */
export function messageOutcome(command: ApiCommand, answers: readonly ApiAnswer[]): MessageOutcome {
  let refused: MessageOutcome = { outcome: "done" };
  for (const [index, entry] of entriesOf(command).entries()) {
    // A missing answer is an internal error, not a fault of the message.
    const answer = answers[index] ?? { error: errorCodes.internal };
    if (!("error" in answer) || answer.kept === true) continue;
    const { error, detail = error.message } = answer;
    if (error.temporary || isOfAnotherRelease(entry, error)) return { outcome: "again", detail };
    if (refused.outcome === "refused") continue;
    const channel = "channel" in entry ? { channel: entry.channel } : {};
    refused = { outcome: "refused", error, detail, ...channel };
  }
  return refused;
}

/**
 * Whether the channel's object doesn't know the namespace, which the edge knows: during a deploy the object may have the
 * configuration of before (rule V1).
 */
function isOfAnotherRelease(entry: Entry, { code }: ErrorCode): boolean {
  return entry.outcome === "call" && code === errorCodes.unknownChannel.code;
}

/**
 * The delay before the next delivery, in seconds (rule M3).
 *
 * @param attempts deliveries so far, with the present one
 */
export function retrySeconds(attempts: number): number {
  const { queueRetrySeconds, queueRetrySecondsMax } = queueLimits;
  return Math.min(queueRetrySeconds * 2 ** Math.max(0, attempts - 1), queueRetrySecondsMax);
}
