import type { Operation } from "../../access/operations.ts";
import type { EventsConfig } from "./config.ts";
import { type EventObject, parseEventObject } from "../../contract/object-names.ts";
import { eventLimits } from "./limits.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { type ApiCaller, type Malformed, type Refused, refusedRequest } from "../../api/command.ts";
import {
  checkAllChannels,
  checkChannel,
  checkMethod,
  offsetField,
  parseShape,
  shape,
  textField,
  uint32Field,
} from "../../api/shape.ts";

/** A request for events that an object keeps, parsed. */
export type ParsedEventsRequest =
  | {
      readonly outcome: "events";
      readonly object: EventObject;
      readonly since: number;
      readonly limit: number;
    }
  | Refused
  | Malformed;

/**
 * Parses an `events` request (rule E5): a key has to admit the channel of a channel's object, and all channels for any
 * other object.
 *
 * @param events undefined if the objects keep none
 */
export function parseEventsRequest(
  params: string,
  caller: ApiCaller,
  events: EventsConfig | undefined,
): ParsedEventsRequest {
  const parsed = parseShape(eventsShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { object: named, since, limit } = parsed.value;
  const asked = { method: "events", caller } as const;
  const object = parseEventObject(named);
  if (object === undefined) return checkMethod(asked) ?? refusedRequest(notAnObject);
  const refused = object.name.startsWith(channelPrefix)
    ? checkChannel(object.name.slice(channelPrefix.length), asked)
    : checkAllChannels(asked);
  if (refused?.outcome === "refused") return refused;
  if (events === undefined) return switchedOff;
  if (limit > eventLimits.eventsAnswerMax)
    return refusedRequest(`limit is more than ${eventLimits.eventsAnswerMax}`);
  return { outcome: "events", object, since, limit: limit || eventLimits.eventsAnswerDefault };
}

const channelPrefix = "channel:";
const notAnObject = "object must be channel/, gateway/ or home/ and a name, as events have it";

const switchedOff: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "events.target isn't set",
};

/** The row of that method. */
export const eventsOperations = {
  events: { at: "events" },
} as const satisfies Readonly<Record<string, Operation>>;

type EventsOperations = typeof eventsOperations;

declare module "../../access/operations.ts" {
  interface Operations extends EventsOperations {}
}

/** An `events` request. */
export const eventsShape = shape(() => ({
  object: textField(),
  since: offsetField(),
  limit: uint32Field(),
}));
