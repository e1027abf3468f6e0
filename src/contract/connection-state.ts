import type { StreamPosition } from "../protocol/publication.ts";

/**
 * A connection as backends are shown it (rule U20). The objects that hold connections of a user report them to the user's home,
 * and the home reports them to the edge. During a deploy the sides may be one release apart (rule V1): fields are only added, and
 * the absence of an added field has a meaning. Neither a token nor `info` is among them.
 */
export interface ConnectionState {
  readonly client: string;
  readonly user: string;
  /** The node of the object that holds the connection (docs/protocol.md 4.3). */
  readonly node: string;
  /** The name and the version that the client's connect gave; absent if it gave none. */
  readonly appName?: string;
  readonly appVersion?: string;
  /** Such as "websocket", as Centrifugo names transports. */
  readonly transport: string;
  /** "json", "protobuf" or "messagepack". */
  readonly protocol: string;
  /** When the socket was opened, ms since 1970. */
  readonly connectedAtMs: number;
  /** When the connection's token ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The name and the age of the connection's token; absent if the token has neither, or there is none. */
  readonly token?: ShownToken;
  readonly subscriptions: readonly SubscriptionState[];
}

/** A subscription as backends are shown it. */
export interface SubscriptionState {
  readonly channel: string;
  /** The origin of the subscription, as Centrifugo PRO numbers it. */
  readonly source: number;
  /** When the subscription ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The same of the token with which the subscription was made; absent as above. */
  readonly token?: ShownToken;
  /** The newest position that the object has passed on; absent without history, and while it isn't known. */
  readonly position?: StreamPosition;
  /** The names of what is switched on, such as "presence". */
  readonly options: readonly string[];
}

/** The name and the age of a token. Nothing here helps to make the token. */
export interface ShownToken {
  /** The claim `jti`. */
  readonly uid?: string;
  /** The claim `iat`. */
  readonly issuedAtSeconds?: number;
}

/** The connections of a user, in whatever objects. */
export interface UserConnections {
  readonly connections: readonly ConnectionState[];
  /** Connections may be missing: there are too many of them, or an object didn't answer in time. Absent: none is. */
  readonly incomplete?: true;
}

/** The connections of a user on one object. */
export interface HeldConnections extends UserConnections {
  /** Whether the object holds connections of the user, also ones that aren't listed yet. If not, the home forgets it. */
  readonly left: boolean;
}

/** The characters that a connection takes in an answer, estimated. */
export function connectionCharacters({ user, client, subscriptions }: ConnectionState): number {
  return subscriptions.reduce(
    (sum, { channel }) => sum + channel.length + subscriptionCharacters,
    user.length + client.length + connectionCharactersRest,
  );
}

const connectionCharactersRest = 512;
const subscriptionCharacters = 192;
