import type { ConnectionClaims } from "../access/claims.ts";
import type { CodecName } from "../protocol/codec.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { StreamPosition } from "../protocol/publication.ts";

/** Who a client is and where its connection stands. */
export interface SessionIdentity {
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
  /** What its frames are; absent for JSON. */
  readonly codec?: Exclude<CodecName, "json">;
  /** The secret by which what it posts is known to be its own (docs/protocol.md 4.3); absent on a WebSocket of its own. */
  readonly secret?: string;
  /** It stays for one answer, and comes again: it isn't present, and nobody hears of its coming and going. */
  readonly passing?: boolean;
  /** Until connect: the claims of a token verified at the edge. Then: the connection's own, without the subscriptions. */
  readonly claims?: ConnectionClaims;
  /** When the last ping was sent; absent before the first. */
  readonly pingedAtMs?: number;
  readonly awaitingPong?: boolean;
}

/** What must be known of a session after its object slept (rule S1). How it is written down: `attachment.ts`. */
export interface SessionSnapshot extends SessionIdentity {
  /** In the order in which they were made. */
  readonly subscriptions: readonly SubscriptionSnapshot[];
  /** On a gateway: how far it is with those channels for which this session has to remember it (rule L7). */
  readonly cursors?: ReadonlyMap<string, Cursor>;
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
  /** The server made it: when it can't go on, the connection can't. */
  readonly serverSide?: boolean;
  /** The user's other connections on this channel give way to this one. */
  readonly sole?: boolean;
  /** The client gets patches where they are shorter. Never together with a filter. */
  readonly delta?: boolean;
  /**
   * With `delta`: the client was sent the publication at the top of the stream, and nothing else after it. Only remembered of a
   * session's only subscription: a gateway couldn't say which publication that is.
   */
  readonly hasNewest?: boolean;
  /** Which publications the client wants, by their tags. */
  readonly filter?: FilterNode;
}

/** How far a gateway is with a channel: its subscribers have everything up to here. How it is stored: `attachment.ts`. */
export interface Cursor {
  /** The channel's instance, and the number of the last entry taken from it. */
  readonly instance: number;
  readonly sequence: number;
  /** Absent on a channel without history. */
  readonly position?: StreamPosition;
}
