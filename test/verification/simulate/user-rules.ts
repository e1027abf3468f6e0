import { Records } from "../../support/records.ts";
import {
  isHolderOrder,
  type NumberedOrder,
  type UserOrder,
} from "../../../src/contract/user-order.ts";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { Socket } from "./socket.ts";
import type { Timeline } from "./timeline.ts";

/** One order as the backend gave it, and what became of it. */
export interface GivenOrder {
  readonly user: string;
  readonly order: UserOrder;
  /** When it became durable in the user's home, ms since 1970; undefined if that isn't known. */
  takenAtMs: number | undefined;
  /** When the backend was told that it has been carried out, ms since 1970. */
  doneAtMs: number | undefined;
  /** When an object first said that it has carried it out, ms since 1970, by the object's name. */
  readonly carriedOutAtMs: Map<string, number>;
}

/** A token by which a client connects. */
export interface ClientToken {
  readonly uid: string;
  readonly issuedAtSeconds: number;
}

/** A connection of a user, as its client knows it. */
export interface UserConnection {
  readonly user: string;
  /** The client's name. */
  readonly who: string;
  /** The name of the object that holds the socket. */
  readonly place: string;
  /** The only channel at the client's address; absent where there are all. */
  readonly only?: string;
  /** What the client's token says of itself. */
  readonly token?: ClientToken;
  readonly socket: Pick<Socket, "client" | "begunAtMs" | "isOpen" | "onBegun" | "afterSent">;
  /** Whether the client is subscribed, or waits for the reply to a subscribe or an unsubscribe. */
  readonly isSubscribed: (channel: string) => boolean;
}

/**
 * What a world promises about orders for users (rules U1 to U4, U7 and U9). It knows the orders that the backend gave,
 * the connections, and what clients were told, and complains of what contradicts the rules. It knows nothing of numbers,
 * registrations or homes.
 */
export class UserRules {
  readonly #timeline: Timeline;
  readonly #complain: (what: string) => void;
  /** The orders of each user that were taken, in that order. */
  readonly #taken = new Records((): GivenOrder[] => []);
  readonly #connections = new Set<WatchedConnection>();

  constructor(timeline: Timeline, complain: (what: string) => void) {
    this.#timeline = timeline;
    this.#complain = complain;
  }

  /** The backend gives an order. */
  give(user: string, order: UserOrder): GivenOrder {
    const times = { takenAtMs: undefined, doneAtMs: undefined, carriedOutAtMs: new Map() };
    return { user, order, ...times };
  }

  /** The user's home has taken the order. */
  take(given: GivenOrder): void {
    given.takenAtMs = this.#timeline.nowMs;
    this.#taken.of(given.user).push(given);
  }

  /** The backend was told that the order has been carried out. */
  acknowledge(given: GivenOrder): void {
    given.doneAtMs = this.#timeline.nowMs;
    if (given.takenAtMs === undefined)
      this.#complain(`${given.order.method} was done and never taken`);
    this.#check(given, "when it was acknowledged");
  }

  /** An object has answered a home that it has carried out these orders. */
  carriedOut(place: string, user: string, orders: readonly NumberedOrder[]): void {
    for (const { order } of orders) {
      // The code of each disconnect is its own; other orders don't need to be told apart.
      if (order.method !== "disconnect") continue;
      const given = this.#taken.of(user).find((one) => codeOf(one.order) === order.code.code);
      if (given?.carriedOutAtMs.has(place) === false)
        given.carriedOutAtMs.set(place, this.#timeline.nowMs);
    }
  }

  /** Checks all orders that were taken, acknowledged or not: homes have had the time to repeat them (rule U3). */
  checkAll(): void {
    for (const orders of this.#taken.values())
      for (const given of orders) this.#check(given, "at rest");
  }

  /** A client opens a connection. */
  open(connection: UserConnection): WatchedConnection {
    const rules = {
      nowMs: () => this.#timeline.nowMs,
      taken: this.#taken.of(connection.user),
      tokenTaken: this.#taken.of(tokenKey(connection.token?.uid ?? "")),
      complain: (what: string) => this.#complain(`${connection.who} ${what}`),
      left: (one: WatchedConnection) => this.#connections.delete(one),
    };
    const watched = new WatchedConnection(connection, rules);
    this.#connections.add(watched);
    return watched;
  }

  #check(given: GivenOrder, when: string): void {
    for (const connection of this.#connections) {
      const isConcerned = connection.user === given.user || connection.tokenKey === given.user;
      if (isConcerned) connection.check(given, when);
    }
  }
}

/** The rules as a connection needs them. */
interface ConnectionRules {
  readonly nowMs: () => number;
  /** The orders of the user that were taken, in that order. */
  readonly taken: readonly GivenOrder[];
  /** The same for the connection's token. */
  readonly tokenTaken: readonly GivenOrder[];
  readonly complain: (what: string) => void;
  readonly left: (connection: WatchedConnection) => void;
}

/** A connection, with what its client was told of orders. */
export class WatchedConnection {
  readonly user: string;
  readonly #connection: UserConnection;
  readonly #rules: ConnectionRules;
  readonly #openedAtMs: number;
  /** When the client was last told anything of a channel's subscription, ms since 1970, by the channel. */
  readonly #toldAtMs = new Map<string, number>();
  /** The same for an unsubscribe push of an order. */
  readonly #unsubscribedAtMs = new Map<string, number>();
  /** How many of the taken orders precede the next one that the client may be told of, by the channel. */
  readonly #passed = new Map<string, number>();

  constructor(connection: UserConnection, rules: ConnectionRules) {
    this.user = connection.user;
    this.#connection = connection;
    this.#rules = rules;
    this.#openedAtMs = rules.nowMs();
    connection.socket.onBegun = () => this.#begun();
  }

  /** The key of the connection's token. */
  get tokenKey(): string {
    return tokenKey(this.#connection.token?.uid ?? "");
  }

  /** The client's connection has ended, with this code if the server closed it. */
  closed(code?: number): void {
    this.#rules.left(this);
    if (code === undefined || !isOrdered(code)) return;
    const { taken, tokenTaken } = this.#rules;
    const orders = [...taken, ...tokenTaken].filter((given) => codeOf(given.order) === code);
    if (!orders.some((given) => this.#explains(given)))
      this.#rules.complain(`was closed with ${code}, which no order says`);
  }

  /** The client was told something about its subscription to the channel. */
  told(channel: string): void {
    this.#toldAtMs.set(channel, this.#rules.nowMs());
  }

  /** The client was unsubscribed by an order. */
  unsubscribed(channel: string): void {
    this.told(channel);
    this.#unsubscribedAtMs.set(channel, this.#rules.nowMs());
    const orders = this.#nextOrders(channel, "unsubscribe");
    if (orders.length === 0)
      this.#rules.complain(`was unsubscribed from ${channel}, which no order says`);
  }

  /**
   * The client was subscribed by an order.
   *
   * @param position of the subscribe push
   * @returns the position from which the order recovers; undefined for none
   */
  subscribed(channel: string, position: StreamPosition): StreamPosition | undefined {
    this.told(channel);
    const orders = this.#nextOrders(channel, "subscribe");
    if (orders.length === 0)
      this.#rules.complain(`was subscribed to ${channel}, which no order says`);
    const since = orders.map((order) =>
      order.method === "subscribe" ? order.recoverSince : undefined,
    );
    // An order to whose channel the client was subscribed already said nothing, so the push may be of a later one.
    const reached = since.find(
      (one) => one?.epoch === position.epoch && one.offset === position.offset,
    );
    if (reached !== undefined) return reached;
    return since.every((one) => one !== undefined) ? since[0] : undefined;
  }

  /** Checks that an order has been carried out on this connection, unless that doesn't concern it. */
  check(given: GivenOrder, when: string): void {
    const { order, takenAtMs } = given;
    const { socket, only } = this.#connection;
    const { begunAtMs } = socket;
    if (this.#isAgainstToken(given)) {
      // Nobody begins with the token after the order either.
      if (begunAtMs !== undefined && socket.isOpen)
        this.#rules.complain(`is still connected after ${order.method}, ${when}`);
      return;
    }
    if (order.method === "block_user" && begunAtMs !== undefined && socket.isOpen) {
      // Nobody begins after the block either, until it is lifted.
      const index = this.#rules.taken.indexOf(given);
      const nowMs = this.#rules.nowMs();
      const isLifted = this.#isLifted(given, index, nowMs, (later) => later.takenAtMs);
      if (!isLifted) this.#rules.complain(`is still connected after ${order.method}, ${when}`);
      return;
    }
    if (takenAtMs === undefined || begunAtMs === undefined || begunAtMs >= takenAtMs) return;
    if (!this.#isNamedIn(order) || !socket.isOpen) return;
    switch (order.method) {
      case "disconnect":
        this.#rules.complain(`is still connected after ${order.method}, ${when}`);
        return;
      case "refresh":
        if (order.expired)
          this.#rules.complain(`is still connected after ${order.method}, ${when}`);
        return;
      case "unsubscribe": {
        const { channel } = order;
        this.#afterSent(() => {
          if ((this.#unsubscribedAtMs.get(channel) ?? 0) < takenAtMs)
            this.#rules.complain(`wasn't unsubscribed from ${channel}, ${when}`);
        });
        return;
      }
      case "subscribe": {
        const { channel } = order.subscription;
        if (only !== undefined && only !== channel) return;
        this.#afterSent(() => {
          const isTold = (this.#toldAtMs.get(channel) ?? 0) >= takenAtMs;
          if (!isTold && !this.#connection.isSubscribed(channel))
            this.#rules.complain(`wasn't subscribed to ${channel}, ${when}`);
        });
        return;
      }
      case "block_user":
      case "unblock_user":
      // They concern other tokens.
      case "revoke_token":
      case "invalidate_user_tokens":
    }
  }

  /** Whether an order makes the connection's token invalid (rules U10, U11). None of them ends. */
  #isAgainstToken({ user, order }: GivenOrder): boolean {
    const { token } = this.#connection;
    if (token === undefined) return false;
    if (order.method === "revoke_token") return user === this.tokenKey;
    return (
      order.method === "invalidate_user_tokens" && token.issuedAtSeconds < order.issuedBeforeSeconds
    );
  }

  /** Does work when the client has received all that was sent by now, if it is still connected then. */
  #afterSent(work: () => void): void {
    this.#connection.socket.afterSent(work);
  }

  /** The connect reply is sent: nobody whose block was acknowledged gets that far (rule U9). */
  #begun(): void {
    const nowMs = this.#rules.nowMs();
    for (const given of [...this.#rules.taken, ...this.#rules.tokenTaken]) {
      if (this.#isAgainstToken(given) && (given.doneAtMs ?? Infinity) < nowMs)
        this.#rules.complain(`was let in with a token that ${given.order.method} names`);
    }
    for (const [index, given] of this.#rules.taken.entries()) {
      const isBlocked =
        given.order.method === "block_user" &&
        given.doneAtMs !== undefined &&
        given.doneAtMs < nowMs &&
        !this.#isLifted(given, index, nowMs, (lifting) => lifting.takenAtMs);
      if (isBlocked) this.#rules.complain("was let in although it is blocked");
    }
  }

  /** Whether a block has ended by that time, by itself or by a later order, whose time the function gives. */
  #isLifted(
    { order }: GivenOrder,
    index: number,
    atMs: number,
    timeOf: (lifting: GivenOrder) => number | undefined,
  ): boolean {
    if (order.method !== "block_user") return false;
    if (order.expireAtSeconds > 0 && order.expireAtSeconds * 1_000 <= atMs) return true;
    return this.#rules.taken
      .slice(index + 1)
      .some((later) => endsBlocks(later) && (timeOf(later) ?? Infinity) <= atMs);
  }

  /** Whether an order may have closed this connection: it names the connection, and wasn't over when that was opened. */
  #explains(given: GivenOrder): boolean {
    const { order, doneAtMs = Infinity, carriedOutAtMs } = given;
    if (order.method === "revoke_token" || order.method === "invalidate_user_tokens")
      return this.#isAgainstToken(given);
    if (!this.#isNamedIn(order)) return false;
    if (order.method === "block_user") {
      const index = this.#rules.taken.indexOf(given);
      const isLifted = this.#isLifted(given, index, this.#openedAtMs, (later) => later.doneAtMs);
      return !(isLifted && doneAtMs <= this.#openedAtMs);
    }
    const carriedOutHereAtMs = carriedOutAtMs.get(this.#connection.place) ?? Infinity;
    return Math.min(doneAtMs, carriedOutHereAtMs) > this.#openedAtMs;
  }

  /**
   * The orders for a channel that may be what the client was told of now, in their order. Orders are carried out in their
   * order and once each, so each push belongs to a later order than the one before.
   */
  #nextOrders(channel: string, method: "unsubscribe" | "subscribe"): readonly UserOrder[] {
    const { taken } = this.#rules;
    const orders: UserOrder[] = [];
    for (let index = this.#passed.get(channel) ?? 0; index < taken.length; index++) {
      const given = taken[index];
      if (given === undefined || channelOf(given.order) !== channel) continue;
      if (!this.#isNamedIn(given.order) || (given.doneAtMs ?? Infinity) <= this.#openedAtMs)
        continue;
      if (given.order.method !== method) continue;
      if (orders.length === 0) this.#passed.set(channel, index + 1);
      orders.push(given.order);
    }
    return orders;
  }

  #isNamedIn(order: UserOrder): boolean {
    if (!isHolderOrder(order)) return true;
    const { client, whitelist } = order;
    const { client: mine } = this.#connection.socket;
    return (client === undefined || client === mine) && whitelist?.includes(mine) !== true;
  }
}

/** The code with which an order closes connections; undefined for one that closes none. */
function codeOf(order: UserOrder): number | undefined {
  switch (order.method) {
    case "disconnect":
      return order.code.code;
    case "block_user":
      return blockedCode;
    case "refresh":
      return order.expired ? expiredCode : undefined;
    case "unsubscribe":
    case "subscribe":
    case "unblock_user":
      return undefined;
    case "revoke_token":
    case "invalidate_user_tokens":
      return invalidTokenCode;
  }
}

function channelOf(order: UserOrder): string | undefined {
  if (order.method === "unsubscribe") return order.channel;
  return order.method === "subscribe" ? order.subscription.channel : undefined;
}

/** Whether an order ends the blocks of its user, or sets their end anew: one that has ended does nothing (rule U28). */
function endsBlocks({ order, takenAtMs = Infinity }: GivenOrder): boolean {
  if (order.method !== "block_user") return order.method === "unblock_user";
  return order.expireAtSeconds === 0 || order.expireAtSeconds * 1_000 > takenAtMs;
}

/** Whether only an order closes a connection with this code. */
function isOrdered(code: number): boolean {
  return [blockedCode, expiredCode, invalidTokenCode].includes(code) || code >= 4_000;
}

/** The codes of docs/protocol.md 1.8 for a blocked user and for a connection that has expired. */
const blockedCode = 3_507;
const invalidTokenCode = 3_500;
const expiredCode = 3_005;
