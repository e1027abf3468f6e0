import { hasPassed } from "../moment.ts";
import { operationOf } from "./operations.ts";
import * as v from "valibot";
import type { ClientConfig } from "../config/config.ts";
import { isHolderOrder, type OrderTarget, type UserOrder } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import { type DisconnectCode, disconnectCodes, errorCodes } from "../protocol/codes.ts";
import { type JsonText, memberText, parseJsonText } from "../protocol/json/text.ts";
import { jsonValue } from "../protocol/wire-value.ts";
import { parseServerFilter } from "../protocol/json/decode.ts";
import type { SubscriptionOverride } from "../access/claims.ts";
import { isTokenUid, parseBase64Json } from "../access/parse-claims.ts";
import { tokenKey, userKey } from "../contract/identity-key.ts";
import { type Entry, type ParsedEntry, type Refused, refusedRequest } from "./command.ts";
import {
  checkAllChannels,
  checkChannel,
  flagField,
  objectOf,
  offsetField,
  type MethodRequest,
  type Shaped,
  refusedUser,
  shape,
  textField,
  textListField,
  uint32Field,
} from "./shape.ts";

/**
 * The methods that give orders for the connections of a user (docs/protocol.md 6.2). An order names a user, and may be
 * narrowed down to one connection. Without a user it names one anonymous connection. A revocation names a token.
 */

function disconnectEntry(
  fields: Shaped<typeof disconnectShape>,
  request: MethodRequest,
): ParsedEntry {
  const { user, client, session, whitelist, disconnect } = fields;
  const refused = checkAllChannels(request);
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

function unsubscribeEntry(
  fields: Shaped<typeof unsubscribeShape>,
  request: MethodRequest,
): ParsedEntry {
  const { channel, user, client, session } = fields;
  const checked = checkChannel(channel, request);
  if (checked.outcome === "refused") return checked;
  return orderEntry(user, { method: "unsubscribe", channel, ...targetOf({ client, session }) });
}

function subscribeEntry(
  fields: Shaped<typeof subscribeShape>,
  request: MethodRequest,
): ParsedEntry {
  const { channel, user, client, session, expire_at: expireAtSeconds, override } = fields;
  const { params, caller } = request;
  const checked = checkChannel(channel, request);
  if (checked.outcome === "refused") return checked;
  const info = rawField(params, "info", fields.b64info);
  const data = rawField(params, "data", fields.b64data);
  if (info === "malformed" || data === "malformed") return notBase64Json;
  const filter = parseServerFilter({
    server_tags_filter: jsonValue(memberText(params, "server_tags_filter") ?? "null"),
  });
  if (filter.outcome === "invalid") return refusedRequest(filter.reason);
  if (hasPassed(expireAtSeconds, caller.nowMs)) return endedSubscribe;
  const since = fields.recover_since;
  return orderEntry(user, {
    method: "subscribe",
    subscription: {
      channel,
      override: overrideOf(override ?? {}),
      ...(info === undefined ? {} : { info }),
      ...(data === undefined ? {} : { data }),
      ...(filter.serverFilter === undefined ? {} : { serverFilter: filter.serverFilter }),
    },
    expireAtSeconds,
    ...(since === null || since === undefined ? {} : { recoverSince: since }),
    ...targetOf({ client, session }),
  });
}

function refreshEntry(fields: Shaped<typeof refreshShape>, request: MethodRequest): ParsedEntry {
  const { user, client, session, expired, expire_at: expireAtSeconds, b64info } = fields;
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  const info = rawField(request.params, "info", b64info);
  if (info === "malformed") return notBase64Json;
  return orderEntry(user, {
    method: "refresh",
    expired,
    expireAtSeconds,
    ...(info === undefined ? {} : { info }),
    ...targetOf({ client, session }),
  });
}

function blockEntry(fields: Shaped<typeof blockShape>, request: MethodRequest): ParsedEntry {
  const { user, expire_at: expireAtSeconds } = fields;
  return namedEntry(user, { method: "block_user", expireAtSeconds }, request);
}

function unblockEntry(fields: Shaped<typeof blockShape>, request: MethodRequest): ParsedEntry {
  return namedEntry(fields.user, { method: "unblock_user" }, request);
}

function revokeEntry(fields: Shaped<typeof revokeShape>, request: MethodRequest): ParsedEntry {
  const { uid, expire_at: expireAtSeconds } = fields;
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  if (uid === "") return refusedRequest("uid is required");
  if (!isTokenUid(uid)) {
    const most = `at most ${limits.tokenUidCharactersMax} characters`;
    return refusedRequest(`uid must be well-formed Unicode of ${most}`);
  }
  return {
    outcome: "order",
    user: tokenKey(uid),
    order: { method: "revoke_token", expireAtSeconds },
  };
}

function invalidateEntry(
  fields: Shaped<typeof invalidateShape>,
  request: MethodRequest,
): ParsedEntry {
  const { user, channel, issued_before, expire_at: expireAtSeconds } = fields;
  if (channel !== "") {
    const checked = checkChannel(channel, request);
    if (checked.outcome === "refused") return checked;
    if (user === "") return refusedRequest("user is required");
  }
  const order: UserOrder = {
    method: "invalidate_user_tokens",
    channel,
    issuedBeforeSeconds: issued_before,
    expireAtSeconds,
  };
  return channel === "" ? namedEntry(user, order, request) : orderEntry(user, order);
}

/** An order that only makes sense for a user with an ID. */
function namedEntry(user: string, order: UserOrder, request: MethodRequest): Entry {
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  return user === "" ? refusedRequest("user is required") : orderEntry(user, order);
}

/** Centrifugo's code (rule U28). A queue needn't deliver the order again, as it does after another error 100. */
const endedSubscribe: Refused = {
  outcome: "refused",
  error: { ...errorCodes.internal, temporary: false },
  detail: "expire_at has passed",
};

/**
 * Reads a field that clients get as it was written, or its form in base64 of JSON, which wins.
 *
 * @returns undefined if neither is there
 */
function rawField(
  params: string,
  name: string,
  encoded: string,
): JsonText | undefined | "malformed" {
  const plain = encoded === "" ? memberText(params, name) : parseBase64Json(encoded);
  if (plain === undefined) return encoded === "" ? undefined : "malformed";
  if (plain === "null") return undefined;
  return utf8Fits(plain, limits.sessionClaimsBytesMax) ? plain : "malformed";
}

const notBase64Json = refusedRequest(
  `b64info and b64data must be base64 of JSON, and info and data at most ${limits.sessionClaimsBytesMax} bytes`,
);

/** The options that an order overrides. */
function overrideOf(given: Shaped<typeof overrideShape>): SubscriptionOverride {
  const { presence, join_leave, force_push_join_leave, force_positioning, force_recovery } = given;
  return {
    ...(presence && { presence: presence.value }),
    ...(join_leave && { joinLeave: join_leave.value }),
    ...(force_push_join_leave && { forcePushJoinLeave: force_push_join_leave.value }),
    ...(force_positioning && { forcePositioning: force_positioning.value }),
    ...(force_recovery && { forceRecovery: force_recovery.value }),
  };
}

/** An order for the connections of a user, if it can be addressed to anybody. */
function orderEntry(user: string, order: UserOrder): Entry {
  const refused = refusedUser(user);
  if (refused !== undefined) return refused;
  if (user === "" && !namesOne(order)) return notAddressed;
  if (JSON.stringify(order).length > limits.orderCharactersMax)
    return refusedRequest(`the order has more than ${limits.orderCharactersMax} characters`);
  return { outcome: "order", user: userKey(user), order };
}

/** Whether an order is narrowed down to one connection. */
function namesOne(order: UserOrder): boolean {
  return isHolderOrder(order) && (order.client !== undefined || order.session !== undefined);
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

/** A `disconnect` request. */
const disconnectShape = shape(() => ({
  user: textField(),
  client: textField(),
  session: textField(),
  whitelist: textListField(),
  disconnect: v.nullish(objectOf({ code: uint32Field(), reason: textField() })),
}));

const flagOverride = () => v.nullish(objectOf({ value: flagField() }));

const overrideShape = () =>
  objectOf({
    presence: flagOverride(),
    join_leave: flagOverride(),
    force_push_join_leave: flagOverride(),
    force_positioning: flagOverride(),
    force_recovery: flagOverride(),
  });

/** A `subscribe` request, without `info`, `data` and `server_tags_filter`, which are read from the text. */
const subscribeShape = shape(() => ({
  channel: textField(),
  user: textField(),
  client: textField(),
  session: textField(),
  expire_at: offsetField(),
  b64info: textField(),
  b64data: textField(),
  recover_since: v.nullish(objectOf({ offset: offsetField(), epoch: textField() })),
  override: v.nullish(overrideShape()),
}));

/** A `block_user` request; an `unblock_user` request has no `expire_at`. */
const blockShape = shape(() => ({ user: textField(), expire_at: offsetField() }));

/** A `revoke_token` request. */
const revokeShape = shape(() => ({ uid: textField(), expire_at: offsetField() }));

/** An `invalidate_user_tokens` request. */
const invalidateShape = shape(() => ({
  user: textField(),
  channel: textField(),
  issued_before: offsetField(),
  expire_at: offsetField(),
}));

/** A `refresh` request, without `info`, which is read from the text. */
const refreshShape = shape(() => ({
  user: textField(),
  client: textField(),
  session: textField(),
  expired: flagField(),
  expire_at: offsetField(),
  b64info: textField(),
}));

/** An `unsubscribe` request. */
const unsubscribeShape = shape(() => ({
  channel: textField(),
  user: textField(),
  client: textField(),
  session: textField(),
}));

/** How the requests of these methods are read. */
export const orderMethods = {
  disconnect: { shape: disconnectShape, selects: true, entry: disconnectEntry },
  unsubscribe: { shape: unsubscribeShape, selects: true, entry: unsubscribeEntry },
  subscribe: {
    shape: subscribeShape,
    selects: true,
    entry: subscribeEntry,
    texts: ["info", "data", "server_tags_filter"],
  },
  refresh: { shape: refreshShape, selects: true, entry: refreshEntry, texts: ["info"] },
  block_user: { shape: blockShape, selects: true, entry: blockEntry },
  unblock_user: { shape: blockShape, selects: true, entry: unblockEntry },
  revoke_token: { shape: revokeShape, selects: true, entry: revokeEntry },
  invalidate_user_tokens: { shape: invalidateShape, selects: true, entry: invalidateEntry },
} as const;

/** The entry, or the refusal of what the configuration has switched off (`client.users`). */
export function availableEntry(entry: Entry, { enabled, status }: ClientConfig["users"]): Entry {
  const name = nameOf(entry);
  const needs = name === undefined ? undefined : operationOf(name).needs;
  if (needs !== undefined && !enabled) return switchedOff;
  return needs === "status" && !status ? statusSwitchedOff : entry;
}

function nameOf(entry: Entry): string | undefined {
  switch (entry.outcome) {
    case "call":
      return entry.command.method;
    case "order":
      return entry.order.method;
    case "question":
      return entry.question.method;
    case "refused":
      return undefined;
  }
}

const statusSwitchedOff: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "client.users.status.enabled is false",
};

const switchedOff: Refused = {
  outcome: "refused",
  error: errorCodes.notAvailable,
  detail: "client.users.enabled is false",
};
