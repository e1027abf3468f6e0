/** What a row of the outbox asks of the server: the request of its method, or the reason why it asks nothing. */
import { createHash } from "node:crypto";
import type { OperationName } from "../../src/access/operations.ts";
import { methods } from "../../src/api/methods.ts";
import { isCommandName, operationOf } from "../../src/api/operations.ts";
import { broadcastShape } from "../../src/api/publish.ts";
import { fieldsOf } from "../../src/api/shape.ts";
import { type JsonText, parseJsonText, trustedJsonText } from "../../src/protocol/json/text.ts";
import { isJsonObject, type JsonObject, jsonValue } from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";
import { outboxLimits } from "./limits.ts";

/** A row as it is read from the table. */
export interface OutboxRow {
  /** A whole number as text, because it may exceed 2^53. */
  readonly id: string;
  readonly method: string;
  /** Bytes of the payload as text. */
  readonly bytes: number;
  /** JSON; undefined if it exceeds `outboxLimits.rowBytesMax`. */
  readonly payload: string | undefined;
  /** When the row was made, in microseconds since 1970, as text. */
  readonly createdAt: string;
}

/** The request of a row. */
export interface RowCommand {
  readonly id: string;
  readonly method: OperationName;
  /** The body of `POST /api/<method>`. */
  readonly body: JsonText;
  /** Commands of different kinds aren't carried out in order within one request. */
  readonly kind: "channel" | "user" | "question";
}

export type ParsedRow =
  | { readonly outcome: "command"; readonly command: RowCommand }
  | { readonly outcome: "refused"; readonly id: string; readonly reason: string };

/**
 * Parses a row.
 *
 * @param table of the row, with its database: what no other table has whose rows the same server gets
 */
export function parseRow(row: OutboxRow, table: string): ParsedRow {
  const { id, method, payload, bytes } = row;
  const refused = (reason: string) => ({ outcome: "refused", id, reason }) as const;
  if (!isCommandName(method)) return refused(`there is no method ${shown(method)}`);
  const { at, changes } = operationOf(method);
  if (changes !== true) return refused(`${method} only reads, and nobody gets the answer to a row`);
  if (payload === undefined)
    return refused(
      `the payload has ${bytes} bytes, and at most ${outboxLimits.rowBytesMax} can be sent`,
    );
  const object = parsePayload(payload);
  if (object === undefined) return refused("the payload is not a JSON object");
  const kind = at === "list" || at === "events" ? "channel" : at;
  const body = takesKey(method, object.fields) ? withKey(object, keyOf(row, table)) : object.text;
  return { outcome: "command", command: { id, method, body, kind } };
}

interface Payload {
  readonly text: JsonText;
  readonly fields: JsonObject;
}

/** As in Centrifugo, nothing stands for an empty object, and a text may hold the JSON. */
function parsePayload(payload: string): Payload | undefined {
  const text = parseJsonText(payload);
  if (text === undefined) return undefined;
  const value = jsonValue(text);
  if (value === null) return { text: trustedJsonText("{}"), fields: {} };
  if (isJsonObject(value)) return { text, fields: value };
  const inner = typeof value === "string" ? parseJsonText(value) : undefined;
  const fields = inner === undefined ? null : jsonValue(inner);
  return inner !== undefined && isJsonObject(fields) ? { text: inner, fields } : undefined;
}

/** The methods whose repetition does nothing, because their requests have an idempotency key. */
export const keyedMethods: ReadonlySet<string> = new Set(
  Object.entries({ ...methods, broadcast: { shape: broadcastShape } }).flatMap(
    ([name, { shape }]) => (fieldsOf({ shape }).includes("idempotency_key") ? [name] : []),
  ),
);

/** Whether a request needs a key of the row. A text that names its place is appended once without one (rule Z40). */
function takesKey(method: string, fields: JsonObject): boolean {
  if (!keyedMethods.has(method)) return false;
  const own = fields["idempotency_key"] ?? "";
  return own === "" && (fields["at"] ?? null) === null;
}

/** Puts the key behind all other fields, where it counts also if the payload has an empty one. */
function withKey({ text, fields }: Payload, key: string): JsonText {
  const comma = Object.keys(fields).length === 0 ? "" : ",";
  return trustedJsonText(`${text.slice(0, -1)}${comma}"idempotency_key":"${key}"}`);
}

/**
 * The idempotency key of a row: the same whenever the row is sent, and another one for a row of another table, or for a later row
 * with the same number in an emptied table.
 */
function keyOf({ id, createdAt }: OutboxRow, table: string): string {
  const place = createHash("sha256").update(table).digest("hex").slice(0, 12);
  return `outbox:${place}:${id}:${createdAt}`;
}

/** Divides commands into requests: neighbours of one kind, in which the server keeps the order of each channel and user. */
export function requestsOf(commands: readonly RowCommand[]): readonly (readonly RowCommand[])[] {
  const requests: RowCommand[][] = [];
  for (const command of commands) {
    const last = requests.at(-1);
    if (last?.[0]?.kind === command.kind) last.push(command);
    else requests.push([command]);
  }
  return requests;
}
