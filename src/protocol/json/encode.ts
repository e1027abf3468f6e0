import type { ErrorCode } from "../codes.ts";
import {
  encodeHistory,
  encodePresence,
  encodePresenceStats,
  encodePublications,
} from "./json-result.ts";
import type { ConnectResult, Expiry, Reply, SubscribeResult } from "../reply.ts";

/**
 * A reply as JSON on one line. Fields stand in the order of their numbers, and what is zero, false or empty is left
 * out but where the reference says "always" (1.3): SDKs read those without asking whether they are there.
 */
export function encodeReply(reply: Reply): string {
  if ("error" in reply) return `{"id":${reply.id},"error":${encodeError(reply.error)}}`;
  return `{"id":${reply.id},"${reply.method}":${encodeResult(reply)}}`;
}

function encodeError(error: ErrorCode): string {
  const temporary = error.temporary ? ',"temporary":true' : "";
  return `{"code":${error.code},"message":${JSON.stringify(error.message)}${temporary}}`;
}

function encodeResult(reply: Exclude<Reply, { readonly error: ErrorCode }>): string {
  switch (reply.method) {
    case "connect":
      return encodeConnect(reply.result);
    case "subscribe":
      return encodeSubscribe(reply.result);
    case "presence":
      return encodePresence(reply.result);
    case "presence_stats":
      return encodePresenceStats(reply.result);
    case "history":
      return encodeHistory(reply.result);
    case "refresh":
    case "sub_refresh":
      return braced(expiryFields(reply.result));
    case "unsubscribe":
    case "publish":
    case "rpc":
      return "{}";
  }
}

function encodeConnect(result: ConnectResult): string {
  let fields = `,"client":${JSON.stringify(result.client)}`;
  fields += `,"version":${JSON.stringify(result.version)}`;
  fields += expiryFields(result);
  if (result.subscriptions !== undefined && result.subscriptions.size > 0) {
    fields += `,"subs":${encodeSubscriptions(result.subscriptions)}`;
  }
  if (result.pingSeconds > 0) fields += `,"ping":${result.pingSeconds}`;
  if (result.pong) fields += ',"pong":true';
  if (result.session !== undefined) fields += `,"session":${JSON.stringify(result.session)}`;
  if (result.node !== undefined) fields += `,"node":${JSON.stringify(result.node)}`;
  if (result.timeMs !== undefined) fields += `,"time":${result.timeMs}`;
  return braced(fields);
}

function encodeSubscriptions(subscriptions: ReadonlyMap<string, SubscribeResult>): string {
  const members = Array.from(
    subscriptions,
    ([channel, result]) => `${JSON.stringify(channel)}:${encodeSubscribe(result)}`,
  );
  return `{${members.join(",")}}`;
}

function encodeSubscribe(result: SubscribeResult): string {
  const { position, publications } = result;
  let fields = expiryFields(result);
  if (result.recoverable) fields += ',"recoverable":true';
  if (position !== undefined && position.epoch !== "") {
    fields += `,"epoch":${JSON.stringify(position.epoch)}`;
  }
  if (publications.length > 0) fields += `,"publications":${encodePublications(publications)}`;
  if (result.recovered) fields += ',"recovered":true';
  if (position !== undefined && position.offset > 0) fields += `,"offset":${position.offset}`;
  if (result.positioned) fields += ',"positioned":true';
  if (result.data !== undefined) fields += `,"data":${result.data}`;
  if (result.wasRecovering) fields += ',"was_recovering":true';
  if (result.delta === true) fields += ',"delta":true';
  return braced(fields);
}

function expiryFields(expiry: Expiry): string {
  return expiry.ttlSeconds > 0 ? `,"expires":true,"ttl":${expiry.ttlSeconds}` : "";
}

/** An object of fields that each begin with a comma. */
function braced(fields: string): string {
  return `{${fields.slice(1)}}`;
}
