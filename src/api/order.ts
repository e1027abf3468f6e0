import * as v from "valibot";
import type { UsersConfig } from "../config/config.ts";
import type { OrderTarget, UserOrder } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import { type DisconnectCode, disconnectCodes, errorCodes } from "../protocol/codes.ts";
import { parseJsonText } from "../protocol/json/text.ts";
import {
  type ApiCaller,
  type Entry,
  type ParsedEntry,
  type Refused,
  refusedRequest,
} from "./command.ts";
import {
  checkAllChannels,
  checkChannel,
  objectOf,
  parseShape,
  shape,
  textField,
  textListField,
  uint32Field,
} from "./shape.ts";

/**
 * The parsers of the methods that give orders for the connections of a user (docs/protocol.md 6.2): disconnect and
 * unsubscribe. An order names a user, and may be narrowed down to one connection. Without a user it names one anonymous
 * connection.
 */

/** Parses a `disconnect` request. */
export function parseDisconnect(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(disconnectShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { user, client, session, whitelist, disconnect } = parsed.value;
  const refused = checkAllChannels("disconnect", caller.key);
  if (refused !== undefined) return refused;
  if (whitelist.length > limits.orderWhitelistMax)
    return refusedRequest(`whitelist has more than ${limits.orderWhitelistMax} entries`);
  const code = disconnect === null || disconnect === undefined ? undefined : checkCode(disconnect);
  if (code?.outcome === "refused") return code;
  return orderEntry(user, {
    method: "disconnect",
    code: code?.code ?? disconnectCodes.forceDisconnect,
    ...targetOf({ client, session }),
    ...(whitelist.length === 0 ? {} : { whitelist }),
  });
}

/** Parses an `unsubscribe` request. */
export function parseUnsubscribe(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(unsubscribeShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { channel, user, client, session } = parsed.value;
  const checked = checkChannel(channel, "unsubscribe", caller);
  if (checked.outcome === "refused") return checked;
  return orderEntry(user, { method: "unsubscribe", channel, ...targetOf({ client, session }) });
}

/** An order for the connections of a user, if it can be addressed to anybody. */
function orderEntry(user: string, order: UserOrder): Entry {
  if (user.length > limits.userCharactersMax)
    return refusedRequest(`user has more than ${limits.userCharactersMax} characters`);
  if (user === "" && order.client === undefined && order.session === undefined) return notAddressed;
  return { outcome: "order", user, order };
}

const notAddressed: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "without a user, client or session has to name one anonymous connection",
};

/** An empty field of a request narrows nothing down. */
function targetOf({ client, session }: Required<Omit<OrderTarget, "whitelist">>): OrderTarget {
  return { ...(client === "" ? {} : { client }), ...(session === "" ? {} : { session }) };
}

type CheckedCode = { readonly outcome: "code"; readonly code: DisconnectCode } | Refused;

/** Checks a custom code and its reason, which have to pass through a WebSocket's close frame (docs/protocol.md 1.8). */
function checkCode({ code, reason }: DisconnectCode): CheckedCode {
  const forced = disconnectCodes.forceDisconnect;
  if (code !== 0 && (code < 3000 || code > 4999))
    return refusedRequest("disconnect.code must be 3000 to 4999");
  if (!utf8Fits(reason, limits.disconnectReasonBytesMax)) {
    return refusedRequest(
      `disconnect.reason has more than ${limits.disconnectReasonBytesMax} bytes`,
    );
  }
  // JavaScript clients take a reason that is valid JSON for the form of an older protocol.
  if (parseJsonText(reason) !== undefined)
    return refusedRequest("disconnect.reason must not be valid JSON");
  if (code === 0) return { outcome: "code", code: { ...forced, ...(reason !== "" && { reason }) } };
  return { outcome: "code", code: { code, reason } };
}

const disconnectShape = shape(() => ({
  user: textField(),
  client: textField(),
  session: textField(),
  whitelist: textListField(),
  disconnect: v.nullish(objectOf({ code: uint32Field(), reason: textField() })),
}));

const unsubscribeShape = shape(() => ({
  channel: textField(),
  user: textField(),
  client: textField(),
  session: textField(),
}));

/** The entry, or the refusal of an order where users have no homes (`client.users.enabled`). */
export function availableEntry(entry: Entry, { enabled }: UsersConfig): Entry {
  return entry.outcome === "order" && !enabled ? switchedOff : entry;
}

const switchedOff: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "client.users.enabled is false",
};
