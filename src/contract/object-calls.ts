import type { ChannelAnswers, ChannelCommand } from "./channel-call.ts";
import type { RelayBatch, RelayBatchReply } from "./relay-batch.ts";
import type {
  ChannelPresenceReply,
  GatewayPresence,
  RelayReplies,
  RelayRequest,
} from "./relay-request.ts";
import type { CarriedOut, NumberedOrder, Ordered, Registered, UserOrder } from "./user-order.ts";

/**
 * The calls that the objects offer to the edge and to each other. During a deploy the caller and the called object may
 * be one release apart (rule V1): no call is ever renamed, removed or given a parameter that must be there; calls,
 * optional fields of what they take and fields of what they return are only ever added. A call may fail, and it may
 * take longer than the caller waits: then the caller doesn't know whether the object carried it out.
 */
interface SessionCalls {
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
   * @param user "" for an anonymous connection, whose orders come from the edge
   */
  carryOut(user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut>;
  /** Says, for the users' home, which of these users have connections here (rule E11). */
  held(users: readonly string[]): Promise<readonly string[]>;
  /**
   * Reads the object's events after a number, oldest first, for the edge (rule E5).
   *
   * @returns each as JSON text
   */
  eventsAfter(since: number, limit: number): Promise<readonly string[]>;
}

/** The calls of a channel's object. */
export interface ChannelCalls extends SessionCalls {
  /**
   * Carries out commands of the HTTP API for the edge, in order.
   *
   * @returns one answer for each command, when everything that the commands wrote is durable
   */
  execute(commands: readonly ChannelCommand[]): Promise<ChannelAnswers>;
  /**
   * Carries out requests of a gateway, in order.
   *
   * @param gateway the name of the gateway
   * @returns one reply for each request, when everything that the requests wrote is durable
   */
  ask(gateway: string, requests: readonly RelayRequest[]): Promise<RelayReplies>;
  /**
   * Lists the clients that are present on the channel, on this object's sockets and on those of its gateways (rule G6).
   */
  present(): Promise<ChannelPresenceReply>;
}

/** The calls of a gateway's object. */
export interface GatewayCalls extends SessionCalls {
  /** Takes the next entries of a channel, and passes them on to the channel's subscribers here (rule L1). */
  deliver(batch: RelayBatch): Promise<RelayBatchReply>;
  /** Lists the clients on this gateway's sockets that are present on a channel (rule P1). */
  present(channel: string): Promise<GatewayPresence>;
}

/** The calls of a home, which keeps where a share of all users are connected. */
export interface HomeCalls {
  /**
   * Registers an object as a holder of connections of these users.
   *
   * @param holder the object's node (docs/protocol.md 4.3)
   * @returns when the registrations are durable
   */
  register(holder: string, users: readonly string[]): Promise<Registered>;
  /**
   * Carries out orders for one user's connections, wherever they are.
   *
   * @returns when all holders have carried out all of them, or not in time
   */
  order(user: string, orders: readonly UserOrder[]): Promise<Ordered>;
  /**
   * The last connection of these users on an object has ended: the home asks the object whether that is still so (rule
   * E11).
   *
   * @param holder the object's node
   */
  check(holder: string, users: readonly string[]): Promise<void>;
  /** As for the other objects. */
  eventsAfter(since: number, limit: number): Promise<readonly string[]>;
}
