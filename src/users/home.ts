import type {
  CarriedOut,
  HolderOrder,
  NumberedOrder,
  Registered,
  UserOrder,
} from "../contract/user-order.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import { limits } from "../limits.ts";
import { columnText, type Sql } from "../sql.ts";

/**
 * The home of a share of all users: it knows which objects hold connections of a user, and keeps the orders that not
 * all of them have carried out yet (rules U1 to U5). A registration is a row, however often it is repeated. An order is a
 * row until it has been carried out; the row of the last order stays, because numbers must never be given twice.
 */
export class Home {
  readonly #sql: Sql;
  readonly #tell: TellOfUser | undefined;
  readonly #kept = new Map<number, KeptOrder>();
  readonly #inFlight = new Set<Delivery>();
  #hasTables: boolean;
  #lastOrder = 0;

  /**
   * Also restores a home: its orders are to be delivered again, to all that hold connections of their users now.
   *
   * @param tell called when a user gets the first holder, and has lost the last one (rule E11); absent for nobody
   */
  constructor(sql: Sql, tell?: TellOfUser) {
    this.#sql = sql;
    this.#tell = tell;
    this.#hasTables = sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'holder'").length > 0;
    if (!this.#hasTables) return;
    for (const row of sql.rows("SELECT number, user, body, since FROM user_order")) {
      const number = Number(row["number"]);
      this.#lastOrder = Math.max(this.#lastOrder, number);
      if (row["body"] === null) continue;
      const user = columnText(row, "user");
      const order: HolderOrder = JSON.parse(columnText(row, "body"));
      const waiting = new Set(this.#holders(user));
      this.#kept.set(number, { user, order, sinceMs: Number(row["since"]), waiting });
    }
    for (const [number, { waiting }] of this.#kept) if (waiting.size === 0) this.#end(number);
  }

  /**
   * Registers a holder of connections of these users: a row for each user that it wasn't registered for. Blocked users
   * aren't registered.
   *
   * @param holder the object's node
   */
  register(holder: string, users: readonly string[], nowMs: number): Registered {
    this.#createTables();
    const blocked: string[] = [];
    for (const user of users) {
      if (this.#isBlocked(user, nowMs)) {
        blocked.push(user);
        continue;
      }
      const isFirst = this.#tell !== undefined && this.#holders(user).length === 0;
      this.#sql.run("INSERT INTO holder VALUES (?, ?) ON CONFLICT DO NOTHING", user, holder);
      if (isFirst) this.#tell?.(user, true);
      for (const delivery of this.#inFlight) {
        if (delivery.user === user && delivery.holder === holder) delivery.renewed = true;
      }
    }
    return { lastOrder: this.#lastOrder, ...(blocked.length === 0 ? {} : { blocked }) };
  }

  /**
   * Takes orders for one user, and stores them if anybody holds connections of the user.
   *
   * @returns a delivery to each holder, to be made at once
   */
  order(user: string, orders: readonly UserOrder[], nowMs: number): TakenOrders {
    const holders = this.#hasTables ? this.#holders(user) : [];
    const isKept = holders.length > 0;
    if (isKept && this.#kept.size + orders.length > limits.ordersKeptMax)
      return { outcome: "full" };
    const carriedOut = orders.flatMap((order) => this.#stand(user, order));
    if (!isKept) return { outcome: "taken", numbers: [], deliveries: [] };
    const numbers = carriedOut.map((order) => this.#keep(user, order, holders, nowMs));
    const deliveries = holders.map((holder) => this.#delivery(user, holder));
    return { outcome: "taken", numbers, deliveries };
  }

  /**
   * Questions to one holder whether it still holds connections of these users: to be asked together, and each
   * {@link answered} as a delivery without orders. Users of whom it isn't a holder are left out.
   */
  questions(holder: string, users: readonly string[]): readonly Delivery[] {
    if (!this.#hasTables) return [];
    return users
      .filter((user) => this.#holders(user).includes(holder))
      .map((user) => {
        const question = { user, holder, orders: [], renewed: false };
        this.#inFlight.add(question);
        return question;
      });
  }

  /** The users of each holder. */
  get usersByHolder(): ReadonlyMap<string, readonly string[]> {
    const users = new Map<string, string[]>();
    if (!this.#hasTables) return users;
    for (const row of this.#sql.rows("SELECT user, holder FROM holder")) {
      const holder = columnText(row, "holder");
      const held = users.get(holder);
      if (held === undefined) users.set(holder, [columnText(row, "user")]);
      else held.push(columnText(row, "user"));
    }
    return users;
  }

  /** Whether any object holds connections of a user of this home. */
  get hasHolders(): boolean {
    return this.#hasTables && this.#sql.rows("SELECT 1 FROM holder LIMIT 1").length > 0;
  }

  /** Deliveries of all orders that aren't carried out yet, to be made once more. */
  deliveries(): readonly Delivery[] {
    const pairs = new Map<string, readonly [string, string]>();
    for (const { user, waiting } of this.#kept.values()) {
      for (const holder of waiting) pairs.set(JSON.stringify([user, holder]), [user, holder]);
    }
    return [...pairs.values()].map(([user, holder]) => this.#delivery(user, holder));
  }

  /** The same delivery, with the orders that are due by now, to be made once more; undefined if there are none. */
  again({ user, holder }: Delivery): Delivery | undefined {
    const waits = [...this.#kept.values()].some(
      (kept) => kept.user === user && kept.waiting.has(holder),
    );
    return waits ? this.#delivery(user, holder) : undefined;
  }

  /**
   * Takes the answer to a delivery. A holder without connections of the user is forgotten, unless it has registered
   * anew since the delivery was made: it may hold a connection again (rule U5).
   *
   * @param answer undefined if there was none: the delivery has to be repeated
   */
  answered(delivery: Delivery, answer: CarriedOut | undefined): void {
    this.#inFlight.delete(delivery);
    if (answer === undefined || answer.failed === true) return;
    const { user, holder, orders } = delivery;
    if (!answer.left && !delivery.renewed) this.#forget(user, holder);
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
  dueAtMs(nowMs: number): number {
    const youngestMs = Math.max(...[...this.#kept.values()].map(({ sinceMs }) => sinceMs));
    if (youngestMs === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    const pauseMs = Math.max(nowMs - youngestMs, limits.orderAnswerMs);
    return nowMs + Math.min(pauseMs, limits.orderRetryMsMax);
  }

  /** Stores what an order changes here. @returns what the holders have to carry out */
  #stand(user: string, order: UserOrder): readonly HolderOrder[] {
    switch (order.method) {
      case "block_user":
        this.#createTables();
        this.#sql.run(block, user, order.expireAtSeconds);
        return [{ method: "disconnect", code: disconnectCodes.permissionDenied }];
      case "unblock_user":
        if (this.#hasTables) this.#sql.run("DELETE FROM blocked WHERE user = ?", user);
        return [];
      case "disconnect":
      case "unsubscribe":
      case "subscribe":
      case "refresh":
        return [order];
    }
  }

  /** A holder has no connection of a user any more. */
  #forget(user: string, holder: string): void {
    const before = this.#tell === undefined ? 0 : this.#holders(user).length;
    this.#sql.run("DELETE FROM holder WHERE user = ? AND holder = ?", user, holder);
    if (before > 0 && this.#holders(user).length === 0) this.#tell?.(user, false);
  }

  #isBlocked(user: string, nowMs: number): boolean {
    const [row] = this.#sql.rows("SELECT until FROM blocked WHERE user = ?", user);
    if (row === undefined) return false;
    const untilMs = Number(row["until"]) * 1_000;
    if (untilMs === 0 || untilMs > nowMs) return true;
    this.#sql.run("DELETE FROM blocked WHERE user = ?", user);
    return false;
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
  #delivery(user: string, holder: string): Delivery {
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

  #holders(user: string): readonly string[] {
    const rows = this.#sql.rows("SELECT holder FROM holder WHERE user = ?", user);
    return rows.map((row) => columnText(row, "holder"));
  }

  #createTables(): void {
    if (this.#hasTables) return;
    for (const table of tables) this.#sql.run(table);
    this.#hasTables = true;
  }
}

/** Takes that a user is online from now on, or isn't any more. */
type TellOfUser = (user: string, isOnline: boolean) => void;

/** One call to a holder, with the orders that it hasn't carried out. */
export interface Delivery {
  readonly user: string;
  /** The holder's node. */
  readonly holder: string;
  readonly orders: readonly NumberedOrder[];
  /** Whether the holder has registered the user since. */
  renewed: boolean;
}

/** What comes of orders. full: none was taken. */
export type TakenOrders =
  | {
      readonly outcome: "taken";
      /** Empty if nobody holds connections of the user: then the orders are carried out already. */
      readonly numbers: readonly number[];
      readonly deliveries: readonly Delivery[];
    }
  | { readonly outcome: "full" };

interface KeptOrder {
  readonly user: string;
  readonly order: HolderOrder;
  /** When the order was taken, ms since 1970. */
  readonly sinceMs: number;
  /** The holders that haven't carried it out. */
  readonly waiting: Set<string>;
}

/** Without a rowid, the primary key is the table's only index, and a row costs one row written. */
const tables = [
  `CREATE TABLE holder (user TEXT, holder TEXT, PRIMARY KEY (user, holder)) WITHOUT ROWID`,
  // The body of an order that has been carried out is NULL.
  `CREATE TABLE user_order (number INTEGER PRIMARY KEY, user TEXT NOT NULL, body TEXT, since INTEGER NOT NULL)`,
  // Until when a user is blocked, in seconds since 1970; 0 for ever.
  `CREATE TABLE blocked (user TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID`,
] as const;

const block = `INSERT INTO blocked VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET until = excluded.until`;
