import type {
  CarriedOut,
  HeldKeys,
  HolderOrder,
  NumberedOrder,
  Registered,
  UserInvalidation,
  UserOrder,
} from "../contract/user-order.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import { limits } from "../limits.ts";
import { elapsed, hasPassed } from "../moment.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";
import { Holders, holderTable, type ReportOnline } from "./holders.ts";
import { HolderSweep } from "./holder-sweep.ts";
import { Restrictions, restrictionTables } from "./restrictions.ts";

/**
 * The home of a share of all users: it knows which objects hold connections of a user, and keeps the orders that not
 * all of them have carried out yet (rules U1 to U5). It does the same for tokens, which are in the place of users then
 * (rule U10). A registration is a row, however often it is repeated. An order is a row until it has been carried out; the
 * row of the last order stays, because numbers must never be given twice.
 */
export class Home {
  readonly #sql: Sql;
  readonly #holders: Holders;
  readonly #restrictions: Restrictions;
  readonly #kept = new Map<number, KeptOrder>();
  readonly #inFlight = new Set<OrderDelivery>();
  /** Forgets registrations of users who have no connection left. */
  readonly sweep: HolderSweep;
  #hasTables: boolean;
  #lastOrder = 0;
  /** When registrations that have ended were last looked for, ms since 1970, and the last one that was looked at. */
  #prunedAtMs = Number.NEGATIVE_INFINITY;
  #pruned: readonly [user: string, holder: string] = ["", ""];

  /**
   * Also restores a home: its orders are to be delivered again, to all that hold connections of their users now.
   *
   * @param report called when a user gets the first holder, and has lost the last one (rule E11); absent for nobody
   */
  constructor(sql: Sql, report?: ReportOnline) {
    this.#sql = sql;
    this.#holders = new Holders(sql, report);
    this.#restrictions = new Restrictions(sql);
    this.#hasTables = hasTable(sql, "holder");
    const intervalMs = report === undefined ? limits.sweepIntervalMs : limits.eventsHoldersCheckMs;
    this.sweep = new HolderSweep(sql, this.#hasTables, this.#holders, intervalMs);
    if (!this.#hasTables) return;
    for (const row of sql.rows("SELECT number, user, body, since FROM user_order")) {
      const number = Number(row["number"]);
      this.#lastOrder = Math.max(this.#lastOrder, number);
      if (row["body"] === null) continue;
      const user = columnText(row, "user");
      const order: HolderOrder = JSON.parse(columnText(row, "body"));
      const waiting = new Set(this.#holders.of(user));
      this.#kept.set(number, { user, order, sinceMs: Number(row["since"]), waiting });
    }
    for (const [number, { waiting }] of this.#kept) if (waiting.size === 0) this.#end(number);
  }

  /**
   * Registers a holder of connections of these users: a row for each user that it wasn't registered for. Blocked users
   * and revoked tokens aren't registered.
   *
   * @param holder the object's node
   * @param users  the keys of users and tokens
   * @param ends   when the registrations may be forgotten, in seconds since 1970; 0, or absent, for never
   */
  register(
    holder: string,
    users: readonly string[],
    nowMs: number,
    ends: readonly number[] = [],
  ): Registered {
    this.#createTables();
    this.#prune(nowMs);
    const blocked: string[] = [];
    const invalidations: UserInvalidation[] = [];
    for (const [index, user] of users.entries()) {
      if (this.#restrictions.isBarred(user, nowMs)) {
        blocked.push(user);
        continue;
      }
      invalidations.push(...this.#restrictions.invalidations(user, nowMs));
      this.#holders.register(user, holder, ends[index] ?? 0, nowMs);
      this.sweep.registered(user, holder, nowMs);
      for (const delivery of this.#inFlight) {
        if (delivery.user === user && delivery.holder === holder) delivery.renewed = true;
      }
    }
    if (this.#holders.isFull) this.write(nowMs);
    return {
      lastOrder: this.#lastOrder,
      ...(blocked.length === 0 ? {} : { blocked }),
      ...(invalidations.length === 0 ? {} : { invalidations }),
    };
  }

  /** Whether a user is blocked, or a token revoked. */
  isBarred(key: string, nowMs: number): boolean {
    return this.#hasTables && this.#restrictions.isBarred(key, nowMs);
  }

  /** Whether {@link write} has something to write. */
  get hasUnwritten(): boolean {
    return this.#holders.hasUnwritten;
  }

  /** Writes the registrations that have no row yet, in one commit (rule U42). */
  write(nowMs: number): void {
    for (const [user, holder] of this.#holders.write(nowMs))
      this.sweep.registered(user, holder, nowMs);
  }

  /** The objects that have to be asked whom they hold, because an earlier instance didn't write that (rule U41). */
  get unsure(): readonly string[] {
    return this.#holders.unsure;
  }

  /** Registers the users and tokens that an unsure object holds; it may have registered more since it was asked. */
  resolve(holder: string, { keys, ends }: HeldKeys, nowMs: number): void {
    for (const [index, key] of keys.entries())
      this.#holders.register(key, holder, ends[index] ?? 0, nowMs);
    this.#holders.resolved(holder);
    this.write(nowMs);
  }

  /**
   * Takes orders for one user, and stores them if anybody holds connections of the user.
   *
   * @param user the key of the user, or of a token
   * @returns a delivery to each holder, to be made at once
   */
  order(user: string, orders: readonly UserOrder[], nowMs: number): TakenOrders {
    const holders = this.#hasTables ? this.#holders.of(user) : [];
    const isKept = holders.length > 0;
    if (isKept && this.#kept.size + orders.length > limits.ordersKeptMax)
      return { outcome: "full" };
    const added = orders.filter(({ method }) => method === "invalidate_user_tokens").length;
    if (this.#hasTables && !this.#restrictions.hasRoom(user, added, nowMs))
      return { outcome: "limit-exceeded" };
    const carriedOut = orders.flatMap((order) => this.#stand(user, order, nowMs));
    if (!isKept) return { outcome: "taken", numbers: [], deliveries: [] };
    const numbers = carriedOut.map((order) => this.#keep(user, order, holders, nowMs));
    const deliveries = holders.map((holder) => this.#delivery(user, holder));
    return { outcome: "taken", numbers, deliveries };
  }

  /**
   * Questions to the holders of a user's connections. Each is to be asked at once, and {@link answered}, as a delivery
   * without orders.
   *
   * @param only the one holder that is to be asked, if it is one; absent for all
   */
  questions(user: string, only?: string): readonly OrderDelivery[] {
    if (!this.#hasTables) return [];
    const all = this.#holders.of(user);
    const holders = only === undefined ? all : all.filter((holder) => holder === only);
    return holders.map((holder) => {
      const question = { user, holder, orders: [], renewed: false };
      this.#inFlight.add(question);
      return question;
    });
  }

  /** The objects that are registered for a user or a token, whether they still hold something of it or not. */
  holders(user: string): readonly string[] {
    return this.#hasTables ? this.#holders.of(user) : [];
  }

  /** Deliveries of all orders that aren't carried out yet, to be made once more. */
  deliveries(): readonly OrderDelivery[] {
    const pairs = new Map<string, readonly [string, string]>();
    for (const { user, waiting } of this.#kept.values()) {
      for (const holder of waiting) pairs.set(JSON.stringify([user, holder]), [user, holder]);
    }
    return [...pairs.values()].map(([user, holder]) => this.#delivery(user, holder));
  }

  /** The same delivery, with the orders that are due by now, to be made once more; undefined if there are none. */
  again({ user, holder }: OrderDelivery): OrderDelivery | undefined {
    const waits = [...this.#kept.values()].some(
      (kept) => kept.user === user && kept.waiting.has(holder),
    );
    return waits ? this.#delivery(user, holder) : undefined;
  }

  /**
   * Takes the answer to a delivery. A holder without connections of the user is forgotten, unless it has registered
   * anew since the delivery was made: it may hold a connection again (rule U31).
   *
   * @param answer undefined if there was none: the delivery has to be repeated
   */
  answered(delivery: OrderDelivery, answer: CarriedOut | undefined): void {
    this.#inFlight.delete(delivery);
    if (answer === undefined || answer.failed === true) return;
    const { user, holder, orders } = delivery;
    if (!answer.left && !delivery.renewed) this.#holders.remove(user, holder);
    for (const { number } of orders) {
      const kept = this.#kept.get(number);
      kept?.waiting.delete(holder);
      if (kept?.waiting.size === 0) this.#end(number);
    }
  }

  /** Whether all holders have carried out these orders. */
  isDone(numbers: readonly number[]): boolean {
    return numbers.every((number) => !this.#kept.has(number));
  }

  /**
   * When the orders are to be delivered again that aren't carried out, ms since 1970; Infinity without such orders. The
   * pauses grow with the age of the youngest order.
   */
  ordersDueAtMs(nowMs: number): number {
    const youngestMs = Math.max(...[...this.#kept.values()].map(({ sinceMs }) => sinceMs));
    if (youngestMs === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    const pauseMs = Math.max(nowMs - youngestMs, limits.orderAnswerMs);
    return nowMs + Math.min(pauseMs, limits.orderRetryMsMax);
  }

  /** When the alarm has to ring: for the orders, or for the sweep; ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    return Math.min(this.ordersDueAtMs(nowMs), this.sweep.dueAtMs(nowMs));
  }

  /** Stores what an order changes here, unless it has ended (rule U28). @returns what the holders have to carry out */
  #stand(user: string, order: UserOrder, nowMs: number): readonly HolderOrder[] {
    switch (order.method) {
      case "block_user":
        if (hasPassed(order.expireAtSeconds, nowMs)) return [];
        this.#createTables();
        this.#restrictions.bar(user, order.expireAtSeconds);
        return [{ method: "disconnect", code: disconnectCodes.permissionDenied }];
      case "unblock_user":
        if (this.#hasTables) this.#restrictions.free(user);
        return [];
      case "revoke_token":
        if (hasPassed(order.expireAtSeconds, nowMs)) return [];
        this.#createTables();
        this.#restrictions.bar(user, order.expireAtSeconds);
        return [order];
      case "invalidate_user_tokens": {
        if (hasPassed(order.expireAtSeconds, nowMs)) return [];
        this.#createTables();
        const issuedBeforeSeconds = order.issuedBeforeSeconds || Math.floor(nowMs / 1_000);
        this.#restrictions.invalidate(user, { ...order, issuedBeforeSeconds });
        return [{ ...order, issuedBeforeSeconds }];
      }
      case "disconnect":
      case "unsubscribe":
      case "subscribe":
      case "refresh":
        return [order];
    }
  }

  /** Deletes what has ended: some registrations at a time and, once all were looked at, what stands. */
  #prune(nowMs: number): void {
    const [user] = this.#pruned;
    const pauseMs = user === "" ? limits.homePrunePauseMs : limits.homePruneMs;
    if (!elapsed(this.#prunedAtMs, pauseMs, nowMs)) return;
    this.#prunedAtMs = nowMs;
    const [end] = this.#sql.rows(pruneEnd, ...this.#pruned, limits.homePruneRows - 1);
    if (end === undefined) {
      this.#sql.run(pruneRest, nowMs / 1_000, ...this.#pruned);
      this.#pruned = ["", ""];
      this.#restrictions.prune(nowMs);
    } else {
      const last = [columnText(end, "user"), columnText(end, "holder")] as const;
      this.#sql.run(prune, nowMs / 1_000, ...this.#pruned, ...last);
      this.#pruned = last;
    }
  }

  #keep(user: string, order: HolderOrder, holders: readonly string[], nowMs: number): number {
    const last = this.#lastOrder;
    const number = last + 1;
    const body = JSON.stringify(order);
    this.#sql.run("INSERT INTO user_order VALUES (?, ?, ?, ?)", number, user, body, nowMs);
    this.#lastOrder = number;
    if (last > 0 && !this.#kept.has(last)) this.#delete(last);
    this.#kept.set(number, { user, order, sinceMs: nowMs, waiting: new Set(holders) });
    return number;
  }

  /** An order has been carried out by all. The row of the last one keeps its number. */
  #end(number: number): void {
    this.#kept.delete(number);
    if (number !== this.#lastOrder) this.#delete(number);
    else this.#sql.run("UPDATE user_order SET body = NULL WHERE number = ?", number);
  }

  #delete(number: number): void {
    this.#sql.run("DELETE FROM user_order WHERE number = ?", number);
  }

  /** All orders that a holder hasn't carried out for a user, so that a later one never overtakes an earlier one. */
  #delivery(user: string, holder: string): OrderDelivery {
    const orders: NumberedOrder[] = [];
    for (const [number, kept] of this.#kept) {
      if (orders.length === limits.ordersPerCallMax) break;
      if (kept.user === user && kept.waiting.has(holder))
        orders.push({ number, order: kept.order });
    }
    const delivery = { user, holder, orders, renewed: false };
    this.#inFlight.add(delivery);
    return delivery;
  }

  #createTables(): void {
    if (this.#hasTables) return;
    for (const table of [...tables, ...restrictionTables]) this.#sql.run(table);
    this.#hasTables = true;
  }
}

/** One call to a holder, with the orders that it hasn't carried out. */
export interface OrderDelivery {
  readonly user: string;
  /** The holder's node. */
  readonly holder: string;
  readonly orders: readonly NumberedOrder[];
  /** Whether the holder has registered the user since. */
  renewed: boolean;
}

/** What comes of orders. full: none was taken, as too many are kept. */
export type TakenOrders =
  | {
      readonly outcome: "taken";
      /** Empty if nobody holds connections of the user: then the orders are carried out already. */
      readonly numbers: readonly number[];
      readonly deliveries: readonly OrderDelivery[];
    }
  | { readonly outcome: "full" }
  /** None was taken: `limits.invalidationsPerUserMax`. */
  | { readonly outcome: "limit-exceeded" };

interface KeptOrder {
  readonly user: string;
  readonly order: HolderOrder;
  /** When the order was taken, ms since 1970. */
  readonly sinceMs: number;
  /** The holders that haven't carried it out. */
  readonly waiting: Set<string>;
}

const tables = [
  holderTable,
  // The body of an order that has been carried out is NULL.
  `CREATE TABLE user_order (number INTEGER PRIMARY KEY, user TEXT NOT NULL, body TEXT, since INTEGER NOT NULL)`,
] as const;

const pruneEnd = `SELECT user, holder FROM holder WHERE (user, holder) > (?, ?) ORDER BY user, holder LIMIT 1 OFFSET ?`;
const pruneRest = `DELETE FROM holder WHERE until <> 0 AND until <= ? AND (user, holder) > (?, ?)`;
const prune = `${pruneRest} AND (user, holder) <= (?, ?)`;
