/** The parsers of the methods that publish nothing: history, history_remove, presence and presence_stats. */
import * as v from "valibot";
import { errorCodes } from "../protocol/codes.ts";
import type { HistoryQuery } from "../contract/channel-call.ts";
import {
  type ApiCaller,
  type Entry,
  type ParsedEntry,
  type Refused,
  refusedRequest,
} from "./command.ts";
import {
  checkChannel,
  flagField,
  int32Field,
  objectOf,
  offsetField,
  parseShape,
  type Shaped,
  shape,
  textField,
} from "./shape.ts";

/** Parses a `history` request (docs/protocol.md 6.2). */
export function parseHistory(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(historyShape, params);
  if (parsed.outcome === "malformed") return parsed;
  return historyEntry(parsed.value, caller);
}

function historyEntry(request: Shaped<typeof historyShape>, caller: ApiCaller): Entry {
  const { channel, limit, reverse, since } = request;
  const checked = checkChannel(channel, "history", caller);
  if (checked.outcome === "refused") return checked;
  if (checked.options.subscriptionType !== "stream") return noHistory;
  const query = { limit, reverse, ...(since && { since }) };
  const refused = refusedQuery(query, "since.offset");
  return refused ?? { outcome: "call", channel, command: { method: "history", request: query } };
}

/**
 * Refuses a query of publications that must be a mistake; undefined if it isn't one.
 *
 * @param sinceField the name of the field with the offset
 */
export function refusedQuery(
  { limit, reverse, since }: HistoryQuery,
  sinceField: string,
): Refused | undefined {
  // Nothing precedes the first publication.
  const detail = `${sinceField} must be above 0 when reverse is set`;
  return (
    refusedLimit(limit) ?? (reverse && since?.offset === 0 ? refusedRequest(detail) : undefined)
  );
}

/** Refuses a limit below -1, which stands for no limit; undefined for all others. */
export function refusedLimit(limit: number): Refused | undefined {
  return limit < -1 ? refusedRequest("limit must be -1 or more") : undefined;
}

/** A `history` request. */
export const historyShape = shape(() => ({
  channel: textField(),
  limit: int32Field(),
  since: v.nullish(objectOf({ offset: offsetField(), epoch: textField() })),
  reverse: flagField(),
}));

/** Parses the request of a method whose only parameter is a channel. */
export function parseChannelRequest(
  method: "history_remove" | "presence" | "presence_stats",
  params: string,
  caller: ApiCaller,
): ParsedEntry {
  const parsed = parseShape(channelShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { channel } = parsed.value;
  const checked = checkChannel(channel, method, caller);
  if (checked.outcome === "refused") return checked;
  if (method === "history_remove" && checked.options.subscriptionType !== "stream")
    return noHistory;
  return { outcome: "call", channel, command: { method } };
}

/** A map has a stream, which isn't a history: without it clients would have to synchronise again. */
const noHistory: Entry = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "the channel's namespace is not one of streams: use map_read_stream or map_clear",
};

/** A request of a method whose only parameter is a channel. */
export const channelShape = shape(() => ({ channel: textField() }));
