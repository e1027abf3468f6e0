import { Records } from "../../support/records.ts";
import type {
  ConnectionAccepted,
  ConnectionAsked,
  Delivered,
  OrderEvent,
  OrderMethod,
} from "./history-event.ts";
import type { Violations } from "./violations.ts";

/** An order of a backend for all connections of a user. */
interface OrderRecord {
  readonly name: string;
  readonly method: OrderMethod;
  readonly channel: string | undefined;
  readonly token: string | undefined;
  readonly issuedBefore: number;
  /** Until when a revoked token isn't valid, µs. */
  readonly barredUntil: number;
  readonly invokedTime: number;
  /** When the backend was told that it has been carried out, µs; undefined if it never was. */
  acknowledgedTime: number | undefined;
  /** When the backend was told anything at all, µs. */
  endedTime: number | undefined;
}

/** The connection of one process, of which it has one at a time. */
interface ConnectionRecord {
  readonly user: string;
  readonly askedTime: number;
  /** Of its token; undefined and infinite before the connect was answered, and for tokens that orders don't concern. */
  token: string | undefined;
  issuedAt: number;
  /** How many of the user's orders were given before the connect was answered; undefined before that. */
  ordersBefore: number | undefined;
  /** The orders that were reported for this connection. */
  readonly reported: Set<OrderRecord>;
}

/**
 * Checks a history of orders for users (rules U1, U2 and U9 to U11). Frames may be on their way for long after they were sent,
 * so what a client receives after an acknowledgement is judged by when it was published: a publication that began after
 * it was sent after it, too. A connect is judged by when the client asked.
 */
export class UserOrders {
  readonly #violations: Violations;
  readonly #connections = new Map<string, ConnectionRecord>();
  /** The orders of each user, in the order in which they were given. */
  readonly #orders = new Records((): OrderRecord[] => []);
  readonly #open = new Map<string, OrderRecord>();
  /** How many orders were acknowledged. */
  acknowledged = 0;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  order(event: OrderEvent): void {
    const { order: name, user, method, time } = event;
    if (event.type === "invoke") {
      const { channel, token, issuedBefore = 0, barredFor = 0 } = event;
      const barredUntil = time + barredFor * 1_000_000;
      const times = { invokedTime: time, acknowledgedTime: undefined, endedTime: undefined };
      const record = { name, method, channel, token, issuedBefore, barredUntil, ...times };
      this.#open.set(name, record);
      this.#orders.of(user).push(record);
      return;
    }
    const record = this.#open.get(name);
    this.#open.delete(name);
    if (record === undefined) return;
    record.endedTime = time;
    if (event.type !== "ok") return;
    record.acknowledgedTime = time;
    this.acknowledged++;
  }

  connection(event: ConnectionAsked | ConnectionAccepted): void {
    const { process, time } = event;
    if (event.type === "invoke") {
      const { user } = event;
      const reported = new Set<OrderRecord>();
      const token = { token: undefined, issuedAt: Infinity };
      const connection = { user, askedTime: time, ordersBefore: undefined, reported, ...token };
      this.#connections.set(process, connection);
      return;
    }
    const connection = this.#connections.get(process);
    if (connection === undefined) return;
    connection.token = event.token;
    connection.issuedAt = event.issuedAt ?? Infinity;
    const orders = this.#orders.of(connection.user);
    connection.ordersBefore = orders.length;
    const block = orders.find((each, index) =>
      this.#bars(each, orders.slice(index + 1), connection, time),
    );
    if (block === undefined) return;
    const text = `${process} was let in as ${connection.user}, whom ${block.name} (${block.method}) had barred before it asked`;
    this.#violations.add({ kind: "admitted", channel: "", process, time, text });
  }

  /**
   * @param publishedTime   when the publication's publish began, µs; undefined if nobody published it
   * @param subscribedTime when the subscription began, µs
   */
  deliver(
    { process, channel, value, time }: Delivered,
    publishedTime: number | undefined,
    subscribedTime: number,
  ): void {
    const connection = this.#connections.get(process);
    if (connection?.ordersBefore === undefined || publishedTime === undefined) return;
    const orders = this.#orders.of(connection.user);
    for (let index = connection.ordersBefore; index < orders.length; index++) {
      const order = orders[index];
      if (order?.acknowledgedTime === undefined || order.acknowledgedTime >= publishedTime)
        continue;
      if (!ends(order, connection, channel, subscribedTime) || connection.reported.has(order))
        continue;
      connection.reported.add(order);
      const text = `${process} received ${value}, which was published after ${order.name} (${order.method}) had been acknowledged`;
      this.#violations.add({ kind: "unheeded", channel, process, time, text });
    }
  }

  /**
   * Whether a block was acknowledged before the connection was asked for, and no unblock may have followed it; or whether
   * the connection's token had been taken back by then.
   */
  #bars(
    order: OrderRecord,
    later: readonly OrderRecord[],
    connection: ConnectionRecord,
    time: number,
  ): boolean {
    const { method, acknowledgedTime, invokedTime, barredUntil } = order;
    const { user, askedTime } = connection;
    if (acknowledgedTime === undefined || acknowledgedTime >= askedTime) return false;
    if (method === "revoke_token" && time >= barredUntil) return false;
    if (method !== "block_user") return takesBack(order, connection);
    if (later.some((each) => each.method === "unblock_user")) return false;
    // An unblock of unknown outcome may still have been on its way when the block was given.
    return !this.#orders
      .of(user)
      .some(
        (each) =>
          each.method === "unblock_user" &&
          each.acknowledgedTime === undefined &&
          (each.endedTime ?? Infinity) > invokedTime - onItsWayMicroseconds,
      );
  }
}

/** Whether an order makes the connection's token invalid. */
function takesBack(order: OrderRecord, { token, issuedAt }: ConnectionRecord): boolean {
  switch (order.method) {
    case "revoke_token":
      return token !== undefined && token === order.token;
    case "invalidate_user_tokens":
      return issuedAt < order.issuedBefore;
    case "disconnect":
    case "block_user":
    case "unblock_user":
    case "subscribe":
    case "unsubscribe":
      return false;
  }
}

/** Whether an order ends that subscription, if it names the connection. */
function ends(
  order: OrderRecord,
  connection: ConnectionRecord,
  channel: string,
  subscribedTime: number,
): boolean {
  switch (order.method) {
    case "disconnect":
    case "block_user":
      return true;
    case "unsubscribe":
      return order.channel === channel && subscribedTime < order.invokedTime;
    case "revoke_token": {
      // One that reached the server only after its end has ended nothing.
      const { acknowledgedTime = Infinity, barredUntil } = order;
      return acknowledgedTime < barredUntil && takesBack(order, connection);
    }
    case "invalidate_user_tokens":
      return takesBack(order, connection);
    case "subscribe":
    case "unblock_user":
      return false;
  }
}

/** How long a request that its sender gave up may still take to arrive. */
const onItsWayMicroseconds = 15_000_000;
