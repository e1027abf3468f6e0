import { type ConnectionClaims, withoutSubscriptions } from "../../src/access/claims.ts";
import type { SessionSnapshot } from "../../src/contract/session-snapshot.ts";
import type { Handover } from "../../src/contract/handover.ts";

/**
 * The session of a socket that is about to be taken, on which nobody has connected yet.
 *
 * @param claims those of the handover that are of use here, see {@link usefulClaims}
 */
export function newSession(
  { keepalive, codec, emulated, passing }: Handover,
  claims: ConnectionClaims | undefined,
  nowMs: number,
): SessionSnapshot {
  return {
    phase: "new",
    client: crypto.randomUUID(),
    openedAtMs: nowMs,
    keepalive,
    ...(codec === undefined ? {} : { codec }),
    ...(emulated === true ? { secret: newSecret() } : {}),
    ...(passing === true ? { passing } : {}),
    ...(claims === undefined ? {} : { claims }),
    subscriptions: [],
  };
}

/**
 * The subscriptions that a token asks for are of no use where the server makes none; but for the one that somebody asks for
 * with its address who only listens.
 *
 * @param channel the one that sockets here are opened for; undefined where they are for any
 */
export function usefulClaims(
  { claims, codec }: Handover,
  serverSubscriptions: boolean,
  channel: string | undefined,
): ConnectionClaims | undefined {
  if (serverSubscriptions || claims?.subscriptions === undefined) return claims;
  const own = claims.subscriptions.filter((one) => one.channel === channel);
  return codec === "one_way" && own.length > 0
    ? { ...claims, subscriptions: own }
    : withoutSubscriptions(claims);
}

/** 256 bits that nobody can guess: whoever has them speaks for the client. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretLength / 2));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Hexadecimal digits in a session's secret. */
export const secretLength = 64;
