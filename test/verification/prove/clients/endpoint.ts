import { signToken } from "../../../support/test-tokens.ts";
import type { Random } from "../../../support/random.ts";
import type { ConnectionAccepted } from "../../checker/history-event.ts";
import type { ClientsPlan, SubscriberPlan } from "./plan.ts";

/** The address that a subscriber connects to, such as `ws://127.0.0.1:8787/connection/websocket`. */
export function endpointOf(
  { address }: ClientsPlan,
  { endpoint, channels }: SubscriberPlan,
): string {
  const sockets = address.replace(/^http/, "ws");
  const [channel = ""] = channels;
  return endpoint === "gateway"
    ? `${sockets}/connection/websocket`
    : `${sockets}/channel/${encodeURIComponent(channel)}/websocket`;
}

/**
 * A connection token with the subscriber's user and its server-side subscriptions. It doesn't expire, because
 * expiry isn't checked here. That of a user for whom orders are given has a name and the time, so it is made for each
 * connection.
 */
export function tokenOf(
  { tokenSecret }: ClientsPlan,
  subscriber: SubscriberPlan,
  random: Random,
): SignedToken {
  const { channels, user, given = false } = subscriber;
  const subs = Object.fromEntries(channels.map((channel) => [channel, {}]));
  const claims = { sub: userOf(subscriber), ...(given ? { subs } : {}) };
  if (user === undefined) return { text: signToken(claims, tokenSecret), marks: {} };
  const iat = Math.floor(Date.now() / 1_000);
  const jti = tokenName(user, random);
  const text = signToken({ ...claims, iat, jti }, tokenSecret);
  return { text, marks: { token: jti, issuedAt: iat } };
}

/** A token, and what orders for its user may say of it. */
export interface SignedToken {
  readonly text: string;
  readonly marks: Pick<ConnectionAccepted, "token" | "issuedAt">;
}

/** The user of a subscriber: one for whom orders are given, a reader, or one of a few that all others share. */
export function userOf({ process, user, reads }: SubscriberPlan): string {
  let sum = 0;
  for (const character of process) sum += character.charCodeAt(0);
  return user ?? reads?.user ?? `shared-${sum % sharedUsers}`;
}

const sharedUsers = 16;

/** The name (`jti`) of some of a user's tokens: there are a few names, so that orders find connections. */
export function tokenName(user: string, random: Random): string {
  return `${user}-${random.between(1, 4)}`;
}

/** The options of a socket. Compression would cost more than everything else. */
export function socketOptions(hostHeader: string | undefined) {
  return {
    perMessageDeflate: false,
    skipUTF8Validation: true,
    handshakeTimeout: 10_000,
    // A socket whose peer is gone is closed without a close frame.
    closeTimeout: 2_000,
    ...(hostHeader === undefined ? {} : { headers: { Host: hostHeader } }),
  };
}

/** Whether SDKs stop reconnecting after this close code (docs/protocol.md 1.8; 1009 is terminal for SDKs too). */
export function isTerminal(code: number): boolean {
  return code === 1009 || (code >= 3500 && code < 4000) || (code >= 4500 && code < 5000);
}

/** Whether SDKs repeat a command after this error (docs/protocol.md 1.7). */
export function isTemporary(error: ErrorReply): boolean {
  return error.temporary === true || error.code === 100 || error.code === 111;
}

/** The code of the errors with which the backend of the hooks refuses something. */
export const backendsRefusal = 1_000;

export interface ErrorReply {
  readonly code: number;
  readonly temporary?: boolean;
}
