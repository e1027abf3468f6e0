import type { ConnectionClaims } from "../access/claims.ts";
import type { JsonText } from "../protocol/json-text.ts";

/**
 * What must be known of a session after its object slept: kept in the socket's attachment (rule S1).
 * During a deploy the next release reads what this one wrote and the other way round: fields are only added, and absent
 * ones have a meaning (rule V1).
 */
export interface SessionSnapshot {
  readonly v: 1;
  /**
   * new: no connect yet. refused: connect was answered with an error, nothing else is.
   * closed: we closed the socket; it may still be listed, and must not be sent to.
   */
  readonly phase: "new" | "connected" | "refused" | "closed";
  /** The connection's ID, a UUID. */
  readonly client: string;
  readonly openedAtMs: number;
  /** Who sends the pings that show that the other side is there. */
  readonly keepalive: "client" | "server";
  /** Until connect: the claims of a token verified at the edge. Then: the connection's own. */
  readonly claims?: ConnectionClaims;
  /** When the last ping was sent; absent before the first. */
  readonly pingedAtMs?: number;
  readonly awaitingPong?: boolean;
  readonly subscription?: SubscriptionSnapshot;
}

/** A subscription as it was granted: namespace options and the token's override are already weighed in. */
export interface SubscriptionSnapshot {
  readonly channel: string;
  readonly chanInfo?: JsonText;
  /** Seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  readonly present: boolean;
  readonly announced: boolean;
  readonly hearsJoinLeave: boolean;
}

/**
 * Reads an attachment.
 *
 * @returns undefined for one that no release of ours wrote, or one too new to be understood
 */
export function parseSnapshot(attachment: unknown): SessionSnapshot | undefined {
  const isObject = typeof attachment === "object" && attachment !== null;
  return isObject && isSnapshot(attachment) ? attachment : undefined;
}

/** The version vouches for the rest: only we write attachments. */
function isSnapshot(attachment: object): attachment is SessionSnapshot {
  return "v" in attachment && attachment.v === 1;
}
