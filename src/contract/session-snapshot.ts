import type { ConnectionClaims } from "../access/claims.ts";
import type { CodecName } from "../protocol/codec.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { StreamPosition } from "../protocol/publication.ts";

/**
 * A client's identity, and the phase of its connection. The names of the fields are stored in attachments (rule V1).
 */
export interface SessionIdentity {
  /**
   * new: before connect. refused: connect was answered with an error, and no further command is answered (rule C4).
   * closed: the server closed the socket, which the platform may still list, and nothing may be sent to it (rule S4).
   */
  readonly phase: "new" | "connected" | "refused" | "closed";
  /** The connection's ID, a UUID. */
  readonly client: string;
  readonly openedAtMs: number;
  /** Which side sends pings (rules K1 and K3). */
  readonly keepalive: "client" | "server";
  /** The codec of the client's frames; absent for JSON. "one_way" stands for a unidirectional client. */
  readonly codec?: Exclude<CodecName, "json">;
  /** The client speaks another protocol, and this is its kind among the clients that do. Absent: it speaks the server's own. */
  readonly dialect?: string;
  /**
   * The secret that posted commands carry (rule T4, docs/protocol.md 4.3); absent for a client on its own WebSocket.
   */
  readonly secret?: string;
  /** The client reads server-sent events (rule U20). Absent: it doesn't. */
  readonly events?: true;
  /** The directory lists the object for as long as the connection is open (rule U22). Absent: it may not. */
  readonly listed?: true;
  /** The application's name and version, as the client's connect gave them; absent if it gave none. */
  readonly appName?: string;
  readonly appVersion?: string;
  /** The client is transient: it polls, so it isn't present, and its joins and leaves aren't announced (rule T9). */
  readonly passing?: boolean;
  /** The client looks on in the name of the claims' user, and leaves no trace (rule N26). Absent: it is the user's own. */
  readonly onlooker?: true;
  /**
   * Until connect: the claims of a token that the edge verified, or those that a backend gave it (rule Q14). Then: the
   * connection's claims without subscriptions.
   */
  readonly claims?: ConnectionClaims;
  /**
   * When the server last sent a ping, or when a client-driven client last sent one that the platform didn't answer;
   * absent before the first.
   */
  readonly pingedAtMs?: number;
  /** The client wasn't asked to answer pings (rule K6). Absent: it was, or it is unidirectional or sends pings. */
  readonly noPongs?: true;
  /**
   * The number of the last order of the user's home that this session has seen, or after which it began (rule U38).
   * Absent: the session isn't registered with a home, because it is anonymous or of a release without homes. 0 for an
   * anonymous one whose token is registered (rule U10).
   */
  readonly lastOrder?: number;
  /** The user's home knows of invalid tokens of the user (rule U30): a new token isn't taken without asking it. */
  readonly invalidated?: true;
  /**
   * A backend gave the credentials (rule Q2) and no token did, so what makes tokens invalid doesn't concern the connection
   * (rules U10 and U11). Absent or false: a token gave them, or nobody did.
   */
  readonly byHook?: boolean;
  /**
   * Until connect: the edge has asked a backend about it (rule Q10), which gave the claims, if there are any, and this
   * `data` for the connect reply. Absent: the edge hasn't.
   */
  readonly atUpgrade?: { readonly data?: JsonText };
  /**
   * The address of the client or its network, for which the channels count that it names (rule B8). Absent: the edge saw a
   * token or doesn't know it, or a user was named.
   */
  readonly address?: string;
  /** The headers that hooks get; absent: none. */
  readonly headers?: KeptHeaders;
  /** The trace that the handshake belongs to (rule X1); absent: none. */
  readonly traceparent?: string;
  /**
   * A backend is asked for a command, whose reply would be lost with the object's memory: restored with this, the
   * connection ends (rule Q4). Absent: none is asked.
   */
  readonly asking?: true;
  /**
   * Whether the last ping is unanswered, unless the platform has answered the client since (rule K2). On a stream: whether
   * the edge checks pongs (rule K7).
   */
  readonly awaitingPong?: boolean;
}

/** A header's name in lower case, and its value. */
export type HookHeader = readonly [name: string, value: string];

/** The headers of a connection that are kept for hooks, of which it gets those that the configuration names. */
export interface KeptHeaders {
  /** Of the handshake. */
  readonly http?: readonly HookHeader[];
  /** Of the connect command, which the client chooses. */
  readonly emulated?: readonly HookHeader[];
}

/** The state of a session that survives hibernation (rule S1). `attachment.ts` writes it and reads it. */
export interface SessionSnapshot extends SessionIdentity {
  /** In the order in which they were made. */
  readonly subscriptions: readonly SubscriptionSnapshot[];
  /** The cursors that this session stores for its gateway, by channel (rule L7). Stored as `kept`. */
  readonly cursors?: ReadonlyMap<string, Cursor>;
  /** The notes of the subscriptions, by channel. Stored as `noted`. */
  readonly notes?: ReadonlyMap<string, DeliveryNote>;
}

/**
 * A subscription as it was granted: the namespace's options with the token's overrides. The names of the fields are
 * stored in attachments (rule V1).
 */
export interface SubscriptionSnapshot {
  readonly channel: string;
  readonly chanInfo?: JsonText;
  /** When the subscription expires, seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The `iat` of the subscription token, in seconds since 1970; 0 if it has none. Absent without a token. */
  readonly issuedAtSeconds?: number;
  /** The `jti` of the subscription token (rule U10); absent if it has none. */
  readonly uid?: string;
  /** Listed in presence. */
  readonly present: boolean;
  /** No presence map shows it: it is transient, or its token keeps it out of presence. Absent: they do (rule Z35). */
  readonly hidden?: true;
  /** Its join and leave are announced. */
  readonly announced: boolean;
  /** It gets join and leave pushes. */
  readonly hearsJoinLeave: boolean;
  /** The server made the subscription, so the connection ends with it. */
  readonly serverSide?: boolean;
  /** The subscribe reply said that the client can recover, and so is positioned, too. Absent: it didn't. */
  readonly recoverable?: true;
  /** The subscribe reply said that the client is positioned, and not that it can recover. Absent: it didn't. */
  readonly positioned?: true;
  /** A backend ordered the subscription (rule U7), so the token that a refresh brings doesn't name it. */
  readonly ordered?: true;
  /** Exclusive: the user's other connections on this channel are closed for this one (rule C10). */
  readonly sole?: boolean;
  /** The client gets deltas where they are shorter (rule D2). Never together with one of the filters. */
  readonly delta?: boolean;
  /**
   * With `delta`: the last publication that the client was sent is the one at the top of the history. Stored only for a
   * session's only subscription, because a gateway couldn't tell which publication that is.
   */
  readonly hasNewest?: boolean;
  /** Only a capability of the connection's token allows it: it ends with the capability (rule A34). */
  readonly byCapability?: boolean;
  /** When it expires, the server asks a backend to extend it (rule Q9). Absent: the client renews it, if it can. */
  readonly serverRefresh?: boolean;
  /**
   * Of a subscription to a shared poll: the epoch of the versions with which it began, "" for none (rule SP8). Absent:
   * it is to another kind of channel.
   */
  readonly pollEpoch?: string;
  /** Of a subscription to a shared poll: it tracks keys (rule SP8). */
  readonly tracks?: true;
  /** The tags filter that the client asked for. */
  readonly filter?: FilterNode;
  /** The tags filter that the server set. The client gets the publications that pass both (rule A17). */
  readonly serverFilter?: FilterNode;
  /** The users who become members of the channel's audience when it begins (rule CU29). Never stored. */
  readonly members?: readonly string[];
}

/**
 * How far a gateway is with a channel: its subscribers have everything up to here. `attachment.ts` stores it as a
 * tuple.
 */
export interface Cursor {
  /** The channel's instance, and the number of the last entry taken from it. */
  readonly instance: number;
  readonly sequence: number;
  /** Absent on a channel without history. */
  readonly position?: StreamPosition;
}

/**
 * What is known to have arrived at the client of a subscription, where a feature wants to know that. `attachment.ts` stores
 * it as a tuple.
 */
export interface DeliveryNote {
  /** The epoch of the offsets; "" while it isn't known where the client is. */
  readonly epoch: string;
  /** The client is sent everything after this offset, as far as it passes the filters. */
  readonly since: number;
  /** Everything after `since` and up to this offset has arrived. */
  readonly offset: number;
  /** When that was known at the latest, ms since 1970. */
  readonly atMs: number;
  /** Everything up to this offset was sent before the last ping; not more than `offset` if that says nothing new. */
  readonly sent: number;
  /** The client itself has said that it goes on from `since`. */
  readonly recovered: boolean;
}

/** The text of a session's secret. */
export const secretPattern = /^[\da-f]{64}$/;
