import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/wire-value.ts";

/**
 * A frame as two servers' are compared: its members in their order, and `data` that is JSON in a text as a value with the
 * sign `~`. The sentences of errors are free, so they aren't shown.
 *
 * @throws if it isn't JSON
 */
export function shownFrame(text: string): string {
  const value: JsonValue = JSON.parse(text);
  if (!isJsonObject(value)) return JSON.stringify(value);
  const { event, data } = value;
  if (data === undefined) return JSON.stringify(ordered(value));
  const isError = event === "pusher:error" || event === "pusher:subscription_error";
  const shown = typeof data === "string" ? textValue(data) : data;
  const free = isError && isJsonObject(shown) ? withoutSentences(shown) : shown;
  return JSON.stringify(ordered({ ...value, data: free }));
}

function textValue(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return typeof value === "object" && value !== null ? { "~": value } : text;
  } catch {
    return text;
  }
}

function withoutSentences(data: JsonObject): JsonObject {
  const told = Object.entries(data).filter(([name]) => name !== "message" && name !== "error");
  return Object.fromEntries(told);
}

function ordered(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(ordered);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !ownMembers.has(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, one]) => [name, unordered.has(name) ? sorted(one) : ordered(one)] as const);
  return Object.fromEntries(entries);
}

/** The lists that have no order. */
function sorted(list: JsonValue): JsonValue {
  return isJsonArray(list)
    ? list.map((one) => JSON.stringify(ordered(one))).toSorted()
    : ordered(list);
}

const unordered: ReadonlySet<string> = new Set(["ids", "users"]);

/** What Sockudo adds to the answers of requests. */
const ownMembers: ReadonlySet<string> = new Set(["ok", "acknowledgement_id"]);
