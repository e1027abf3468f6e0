import { type ConnectionClaims, withoutSubscriptions } from "../access/claims.ts";
import type { AskedAtUpgrade, Handover } from "../contract/handover.ts";
import type { SessionSnapshot } from "../contract/session-snapshot.ts";

/** Makes the session of a socket that is about to be taken, before its connect. */
export function newSession(
  handover: Handover,
  { client, claims, listed, secret }: NewSession,
  nowMs: number,
): SessionSnapshot {
  const { keepalive, codec, dialect, pongs, events, passing } = handover;
  const { headers, traceparent, asked, address } = handover;
  return {
    phase: "new",
    client,
    openedAtMs: nowMs,
    keepalive,
    ...(codec === undefined ? {} : { codec }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(pongs === true ? { awaitingPong: true } : {}),
    ...(secret === undefined ? {} : { secret }),
    ...(events === true ? { events } : {}),
    ...(passing === true ? { passing } : {}),
    ...(handover.onlooker === undefined ? {} : { onlooker: true }),
    ...(listed ? { listed } : {}),
    ...(headers === undefined ? {} : { headers: { http: headers } }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(address === undefined ? {} : { address }),
    ...(claims === undefined ? {} : { claims }),
    ...(asked === undefined ? {} : atUpgrade(asked, claims)),
    subscriptions: [],
  };
}

/** What a new session has beside its handover. */
interface NewSession {
  readonly client: string;
  /** The useful claims of the handover, see {@link usefulClaims}. */
  readonly claims: ConnectionClaims | undefined;
  /** Whether the directory lists the object (rule U22). */
  readonly listed: boolean;
  readonly secret: string | undefined;
}

/** The part of a backend's answer at the upgrade that a session keeps (rule Q10). */
function atUpgrade(
  { data }: AskedAtUpgrade,
  claims: ConnectionClaims | undefined,
): Pick<SessionSnapshot, "atUpgrade" | "byHook"> {
  return {
    atUpgrade: data === undefined ? {} : { data },
    ...(claims === undefined ? {} : { byHook: true }),
  };
}

/**
 * The claims of a handover that have an effect here. Where the server makes no subscriptions, those in the claims have
 * none; the exception is the channel of the address, which a unidirectional client asks for by connecting there.
 *
 * @param channel the one that sockets here are opened for; undefined on a gateway for all channels
 */
export function usefulClaims(
  { codec, onlooker, claims = onlooker }: Handover,
  serverSubscriptions: boolean,
  channel: string | undefined,
): ConnectionClaims | undefined {
  if (serverSubscriptions || claims?.subscriptions === undefined) return claims;
  const own = claims.subscriptions.filter((one) => one.channel === channel);
  return codec === "one_way" && own.length > 0
    ? { ...claims, subscriptions: own }
    : withoutSubscriptions(claims);
}
