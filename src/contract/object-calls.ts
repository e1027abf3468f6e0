import type { ChannelAnswers, ChannelOperation } from "./channel-call.ts";
import type { RelayBatch, RelayBatchReply } from "./relay-batch.ts";
import type {
  ChannelPresenceReply,
  GatewayPresence,
  PresenceKind,
  RelayReplies,
  RelayRequest,
} from "./relay-request.ts";
import type {
  CarriedOut,
  HeldKeys,
  NumberedOrder,
  Ordered,
  Registered,
  SlotAnswer,
  UserConnection,
  UserOrder,
} from "./user-order.ts";
import type {
  ChannelsQuery,
  CountedChannels,
  GatewayChannels,
  GatewayInfo,
  GatewayInfos,
  ListedChannels,
  OwnSubscribers,
} from "./listing.ts";
import type { HeldConnections, UserConnections } from "./connection-state.ts";
import type { LeftUsers, OnlineUsers, UserStatusAnswer } from "./user-status.ts";

/**
 * The calls that the objects offer to the edge and to each other. During a deploy the caller and the called object may
 * be one release apart (rule V1): no call is ever renamed, removed or given a parameter that must be there; calls,
 * optional fields of what they take and fields of what they return are only ever added. A call may fail, and it may
 * take longer than the caller waits: then the caller doesn't know whether the object carried it out.
 */
export interface SessionCalls extends AddedSessionCalls {
  /**
   * Takes a frame that a client posted (docs/protocol.md 4.3): the edge holds the socket of its session.
   *
   * @param session the secret of the session; for a secret that no session here has, nothing happens (rule T4)
   */
  post(session: string, frame: string | Uint8Array): Promise<void>;
  /**
   * Carries out orders of a user's home on the user's connections here, in order. Repeating a call does nothing more
   * (rule U3).
   *
   * @param user the key of a user or a token (`identity-key.ts`); "" for an anonymous connection, whose orders come from
   *             the edge
   */
  carryOut(user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut>;
  /**
   * Lists the IDs of users' open connections here, those that wait for the user's home included (rule U37).
   *
   * @param users the keys of the users
   */
  clientsOf(users: readonly string[]): Promise<readonly string[]>;
  /**
   * Lists the connections of a user here, for the user's home (rule U20).
   *
   * @param key the user's
   */
  connections(key: string): Promise<HeldConnections>;
  /**
   * Says which of these users have connections here, for their home (rules U15, U25).
   *
   * @param users the keys of users and tokens; a token is among the answer if something was made with it
   */
  online(users: readonly string[]): Promise<OnlineUsers>;
  /**
   * Lists of which users and tokens of a home the object holds something, or is about to (rule U41).
   *
   * @param home the name of the home
   */
  heldOf(home: string): Promise<HeldKeys>;
  /**
   * Reads the object's events after a number, oldest first, for the edge (rule E5).
   *
   * @returns each as JSON text
   */
  eventsAfter(since: number, limit: number): Promise<readonly string[]>;
  /**
   * Closes the object's oldest silent connection, for the edge of a server of one's own (rule B31).
   *
   * @returns whether there was one
   */
  closeOldestSilent(): Promise<boolean>;
}

/** The calls of a channel's object. */
export interface ChannelCalls extends SessionCalls, AddedChannelCalls {
  /**
   * Carries out commands of the HTTP API for the edge, in order.
   *
   * @param carries whether the caller reports what the object has counted together with its own (rule J7); absent: no
   * @returns one answer for each command, when everything that the commands wrote is durable
   */
  execute(commands: readonly ChannelOperation[], carries?: boolean): Promise<ChannelAnswers>;
  /**
   * Carries out requests of a gateway, in order.
   *
   * @param gateway the name of the gateway
   * @param carries as for {@link execute}
   * @returns one reply for each request, when everything that the requests wrote is durable
   */
  ask(gateway: string, requests: readonly RelayRequest[], carries?: boolean): Promise<RelayReplies>;
  /**
   * Lists the clients that are present on the channel, on this object's sockets and on those of its gateways (rule G6).
   *
   * @param shown those that a presence map of this kind shows, for its object; the users have "" for the client. Absent:
   *              those that presence lists
   */
  present(shown?: PresenceKind): Promise<ChannelPresenceReply>;
  /** Counts the subscribers on this object's own sockets, for the directory (rule U24). */
  ownSubscribers(): Promise<OwnSubscribers>;
}

/** The calls of a gateway's object. */
export interface GatewayCalls extends SessionCalls, AddedGatewayCalls {
  /** Takes the next entries of a channel, and passes them on to the channel's subscribers here (rule L1). */
  deliver(batch: RelayBatch): Promise<RelayBatchReply>;
  /**
   * Lists the clients on this gateway's sockets that are present on a channel (rule P1).
   *
   * @param shown whether those are meant that a presence map shows; absent: those that presence lists
   */
  present(channel: string, shown?: boolean): Promise<GatewayPresence>;
  /** Says how much the gateway holds, for the directory (rule U23). */
  info(): Promise<GatewayInfo>;
  /** Lists the channels that have subscribers here, for the directory (rule U24). */
  channels(query: ChannelsQuery): Promise<GatewayChannels>;
}

/** The calls of both kinds of objects that features add, each in its folder; rule V1 holds for them, too. @public */
export interface AddedSessionCalls {}

/** Those of a channel's object. @public */
export interface AddedChannelCalls {}

/** Those of a gateway's object. @public */
export interface AddedGatewayCalls {}

/** Those of a home. @public */
export interface AddedHomeCalls {}

/** Those that objects make to objects of a feature's own. @public */
export interface AddedObjectCalls {}

/** The calls of a home, which keeps where a share of all users are connected. */
export interface HomeCalls extends AddedHomeCalls {
  /**
   * Registers an object as a holder of connections of these users, or of what was made with these tokens.
   *
   * @param holder the object's node (docs/protocol.md 4.3)
   * @param users  the keys of users and tokens (`identity-key.ts`)
   * @param ends   for each of them when the registration may be forgotten, in seconds since 1970. 0 or absent: never
   * @returns when the registrations are durable
   */
  register(holder: string, users: readonly string[], ends?: readonly number[]): Promise<Registered>;
  /** Whether a user is blocked (rule U9), for the edge. Nothing is registered and nobody counts as online (rule N26). */
  isBlocked(user: string): Promise<boolean>;
  /**
   * Gives connections slots, of which each user has as many as `client.user_connection_limit` (rule U12).
   *
   * @param holder the node of the object that holds the connections
   * @param limit  0 for none
   * @param single whether each connection replaces the others of its user (rule C10). Absent: no
   * @returns when the slots are durable
   */
  admit(
    holder: string,
    connections: readonly UserConnection[],
    limit: number,
    single?: boolean,
  ): Promise<SlotAnswer>;
  /**
   * Carries out orders for one user's connections, or for what was made with one token, wherever they are.
   *
   * @param user the key of the user or the token
   * @returns when all holders have carried out all of them, or not in time
   */
  order(user: string, orders: readonly UserOrder[]): Promise<Ordered>;
  /**
   * Lists one user's connections, wherever they are (rule U20).
   *
   * @param key the user's
   */
  connections(key: string): Promise<UserConnections>;
  /**
   * Names the objects that are registered for a user or a token, whether they still hold something of it or not (rule
   * Y7). None of them is asked, and none is forgotten.
   */
  holders(key: string): Promise<readonly string[]>;
  /**
   * The last connections of these users on an object have ended: notes that they were online until now (rule U26).
   *
   * @param left the users whom the home has to ask the object about, where a backend gets events of who is online (rule E17);
   *             absent where it isn't
   */
  ended(users: readonly string[], left?: LeftUsers): Promise<void>;
  /** As for the other objects. */
  eventsAfter(since: number, limit: number): Promise<readonly string[]>;
  /** Notes that these users are active, and what their state is (rule U25). */
  updateStatus(users: readonly string[], state: string): Promise<void>;
  /** Reports when these users were active and online. */
  statuses(users: readonly string[]): Promise<UserStatusAnswer>;
  /** Forgets when these users were active and online. */
  deleteStatus(users: readonly string[]): Promise<void>;
}

/** The calls of a shard of the directory, which lists a share of all objects that hold connections. */
export interface DirectoryCalls extends PlacementCalls {
  /**
   * Lists an object. Repeating a call does nothing more.
   *
   * @param node the object's (docs/protocol.md 4.3)
   * @returns when the row is durable
   */
  list(node: string): Promise<void>;
  /** The names of the first gateways after a name, whether they hold connections or not (rule U23). */
  gateways(after: string, limit: number): Promise<readonly string[]>;
  /** Asks gateways how much they hold. */
  gatewayInfos(names: readonly string[]): Promise<GatewayInfos>;
  /** Asks all listed gateways for their channels, and names the listed channels (rule U24). */
  channels(query: ChannelsQuery): Promise<ListedChannels>;
  /** Asks channels' own objects for their subscribers. */
  channelCounts(names: readonly string[]): Promise<CountedChannels>;
}

/** The call of the one object that remembers jurisdictions; its name is {@link placementRecord}. */
interface PlacementCalls {
  /** Compares the jurisdictions of a configuration with those on record, and records them if none differs (rule PL4). */
  recordPlacement(claim: PlacementClaim): Promise<PlacementAnswer>;
}

/** The jurisdictions that a configuration names. */
export interface PlacementClaim {
  /** The name of each scope that is placed, with its jurisdiction or "none". */
  readonly scopes: readonly (readonly [scope: string, jurisdiction: string])[];
  /** The jurisdiction of before, as the operator says: one, "none", or "new" for a new server (rule PL5). */
  readonly before?: string;
}

/** Empty if the configuration and the record agree now. */
export interface PlacementAnswer {
  readonly conflicts: readonly PlacementConflict[];
}

/** A scope that would lose what it keeps. */
export interface PlacementConflict {
  readonly scope: string;
  /** The jurisdiction on record or "none"; "unknown" if nothing is on record. */
  readonly recorded: string;
  /** The one of the configuration, or "none". */
  readonly jurisdiction: string;
}

/** The name of the object that has the record; it is in no jurisdiction, and its class is that of the homes. */
export const placementRecord = "placement";
