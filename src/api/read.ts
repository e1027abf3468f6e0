import * as v from "valibot";
import { errorCodes } from "../protocol/codes.ts";
import type { HistoryQuery } from "../contract/channel-call.ts";
import { type Entry, type Refused, refusedRequest } from "./command.ts";
import {
  checkChannel,
  flagField,
  int32Field,
  objectOf,
  offsetField,
  type ApiMethod,
  type MethodRequest,
  type Shaped,
  shape,
  textField,
} from "./shape.ts";

function historyEntry(
  { channel, limit, reverse, since }: Shaped<typeof historyShape>,
  request: MethodRequest,
): Entry {
  const checked = checkChannel(channel, request);
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
const historyShape = shape(() => ({
  channel: textField(),
  limit: int32Field(),
  since: v.nullish(objectOf({ offset: offsetField(), epoch: textField() })),
  reverse: flagField(),
}));

/** The entry of a method whose only parameter is a channel. */
function channelEntry(
  method: "history_remove" | "presence" | "presence_stats",
  { channel }: Shaped<typeof channelShape>,
  request: MethodRequest,
): Entry {
  const checked = checkChannel(channel, request);
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

/** The methods that publish nothing (docs/protocol.md 6.2). */
export const readMethods = {
  history: { shape: historyShape, entry: historyEntry } satisfies ApiMethod<typeof historyShape>,
  history_remove: {
    shape: channelShape,
    entry: (fields, request) => channelEntry("history_remove", fields, request),
  } satisfies ApiMethod<typeof channelShape>,
  presence: {
    shape: channelShape,
    entry: (fields, request) => channelEntry("presence", fields, request),
  } satisfies ApiMethod<typeof channelShape>,
  presence_stats: {
    shape: channelShape,
    entry: (fields, request) => channelEntry("presence_stats", fields, request),
  } satisfies ApiMethod<typeof channelShape>,
} as const;
