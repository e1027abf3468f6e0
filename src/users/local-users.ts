import type {
  CarriedOut,
  NumberedOrder,
  Registered,
  OrderTarget,
  HolderOrder,
} from "../contract/user-order.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";

/**
 * The users of one object's connections: it registers the object with the homes of their users, admits connections once
 * the homes have answered, and carries out orders on them (rules U1 to U5). A user with several connections is
 * registered once. Everything here may be lost: sessions store the last order that they have seen, and registering again
 * costs a call and no row.
 */
export class LocalUsers {
  readonly #call: RegisterCall;
  /** The registered users, with the number of the last order that this object knows of. */
  readonly #known = new Map<string, number>();
  readonly #pending = new Map<string, PendingUser>();
  readonly #homes = new Map<string, HomeCaller>();
  /** The users whose orders are being carried out, with the calls that wait for that. */
  readonly #carryingOut = new Map<string, (() => void)[]>();

  constructor(call: RegisterCall) {
    this.#call = call;
  }

  /**
   * Registers the user of a session, unless that has been done.
   *
   * @returns the number of the last order, after which the session begins; undefined if the home has to answer first:
   *          then the session is held until it is admitted or not
   */
  register(session: UserSession): number | undefined {
    const { user } = session;
    const known = this.#known.get(user);
    if (known !== undefined) return known;
    const pending = this.#pending.get(user);
    if (pending !== undefined) {
      pending.sessions.add(session);
      return undefined;
    }
    this.#pending.set(user, { sessions: new Set([session]), answered: [] });
    const name = homeName(user);
    let home = this.#homes.get(name);
    if (home === undefined) {
      home = { name, waiting: [], inFlight: 0 };
      this.#homes.set(name, home);
    }
    home.waiting.push(user);
    this.#callHome(home);
    return undefined;
  }

  /**
   * Carries out a home's orders on the connections of a user, in order, after the calls before for the same user. A
   * session that has seen an order before isn't concerned by it. Sessions that wait for the home are waited for.
   *
   * @param sessions all sessions of the object
   * @param nowMs    when the call came, ms since 1970
   * @param done     takes the answer; undefined if too many calls wait
   */
  carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    sessions: () => Iterable<UserSession>,
    nowMs: number,
    done: (answer: CarriedOut | undefined) => void,
  ): void {
    const waiting = this.#carryingOut.get(user);
    const work = (): void => {
      this.#carryOut(user, orders, sessions, nowMs, (answer) => {
        const next = this.#carryingOut.get(user)?.shift();
        if (next === undefined) this.#carryingOut.delete(user);
        done(answer);
        next?.();
      });
    };
    if (waiting === undefined) {
      this.#carryingOut.set(user, []);
      work();
    } else if (waiting.length < limits.orderCallsWaitingMax) waiting.push(work);
    else done(undefined);
  }

  /**
   * Finds which of these users have connections here, for their home, which forgets this object for the others (rule U5).
   *
   * @param sessions all sessions of the object
   */
  held(users: readonly string[], sessions: Iterable<UserSession>): readonly string[] {
    const here = new Set<string>();
    for (const one of sessions) if (one.takesOrders) here.add(one.user);
    return users.filter((user) => {
      const isHeld = here.has(user) || this.#pending.has(user);
      // The user's next connection has to register this object anew.
      if (!isHeld) this.#known.delete(user);
      return isHeld;
    });
  }

  #carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    sessions: () => Iterable<UserSession>,
    nowMs: number,
    done: (answer: CarriedOut) => void,
  ): void {
    const pending = this.#pending.get(user);
    if (pending !== undefined) {
      pending.answered.push(() => this.#carryOut(user, orders, sessions, nowMs, done));
      return;
    }
    const concerned = [...sessions()].filter((one) => one.user === user && one.takesOrders);
    let missing = concerned.length + 1;
    let failed = false;
    const ended = (outcome: OrderOutcome): void => {
      failed ||= outcome === "failed";
      missing--;
      if (missing > 0) return;
      const left = concerned.some((one) => one.takesOrders) || this.#pending.has(user);
      this.#noteOrders(user, left, failed ? 0 : (orders.at(-1)?.number ?? 0));
      done(failed ? { left, failed } : { left });
    };
    for (const session of concerned) takeOrders(session, orders, nowMs, ended);
    ended("done");
  }

  /** Notes the last order for a user, or forgets a user without connections. */
  #noteOrders(user: string, left: boolean, last: number): void {
    const known = this.#known.get(user);
    if (!left) this.#known.delete(user);
    else if (known !== undefined && last > known) this.#known.set(user, last);
  }

  /** Calls a home for the users that wait, if few enough calls are in flight. */
  #callHome(home: HomeCaller): void {
    if (home.inFlight >= limits.registerCallsMax || home.waiting.length === 0) return;
    const users = home.waiting.splice(0, limits.registerUsersMax);
    home.inFlight++;
    this.#call(home.name, users, (registered) => {
      home.inFlight--;
      for (const user of users) this.#answered(user, registered);
      this.#callHome(home);
      if (home.inFlight === 0) this.#homes.delete(home.name);
    });
  }

  #answered(user: string, registered: Registered | undefined): void {
    const pending = this.#pending.get(user);
    this.#pending.delete(user);
    if (pending === undefined) return;
    if (registered === undefined) {
      for (const session of pending.sessions) session.notAdmitted();
      for (const proceed of pending.answered) proceed();
      return;
    }
    const { lastOrder, blocked } = registered;
    if (blocked?.includes(user) === true) {
      for (const session of pending.sessions) session.blocked();
      for (const proceed of pending.answered) proceed();
      return;
    }
    if (this.#known.size >= limits.usersRememberedMax) this.#known.clear();
    this.#known.set(user, lastOrder);
    for (const session of pending.sessions) session.admitted(lastOrder);
    for (const proceed of pending.answered) proceed();
  }
}

/**
 * Calls a home to register users, once or twice.
 *
 * @param done called once, with undefined if the home didn't answer in time
 */
export type RegisterCall = (
  home: string,
  users: readonly string[],
  done: (registered: Registered | undefined) => void,
) => void;

/** A session as its user's orders see it. */
export interface UserSession {
  /** The user's ID; "" for an anonymous user. */
  readonly user: string;
  /** The connection's ID. */
  readonly client: string;
  /** The secret of the session, if it has one (docs/protocol.md 4.3). */
  readonly secret: string | undefined;
  /** Whether orders concern the connection: it is open, and its connect was accepted. */
  readonly takesOrders: boolean;
  /** Whether the client gets nothing because the user's home hasn't answered yet. */
  readonly held: boolean;
  /** The number of the last order that the session has seen, or after which it began. */
  readonly lastOrder: number | undefined;
  /** Carries out an order that names the session; `done` is called once, also if the connection ends. */
  carryOut(order: HolderOrder, nowMs: number, done: (outcome: OrderOutcome) => void): void;
  /** Stores the number of the last order that the session has seen. */
  sawOrder(number: number): void;
  /** The home has answered: the client gets what was held back. The session begins after the order with this number. */
  admitted(lastOrder: number): void;
  /** The user is blocked: the connection ends for good (rule U9). */
  blocked(): void;
  /** The home didn't answer in time: the client has to come again (rule U4). */
  notAdmitted(): void;
}

/** Whether an order names a session of its user. */
function names({ client, session, whitelist }: OrderTarget, one: UserSession): boolean {
  if (client !== undefined && client !== one.client) return false;
  // An anonymous client is told a session that ends with the object's node.
  if (session !== undefined && session.split("@")[0] !== one.secret) return false;
  return whitelist?.includes(one.client) !== true;
}

/** Carries out the orders that a session hasn't seen and that name it, one after the other, until one fails. */
function takeOrders(
  session: UserSession,
  orders: readonly NumberedOrder[],
  nowMs: number,
  done: (outcome: OrderOutcome) => void,
): void {
  const seen = session.user === "" ? -1 : (session.lastOrder ?? 0);
  const unseen = orders.filter(({ number }) => number > seen);
  let last = seen;
  const finish = (outcome: OrderOutcome): void => {
    if (session.user !== "" && session.takesOrders && last > seen) session.sawOrder(last);
    done(outcome);
  };
  const proceed = (): void => {
    const next = unseen.shift();
    if (next === undefined || !session.takesOrders) {
      finish("done");
      return;
    }
    const { number, order } = next;
    const ended = (outcome: OrderOutcome): void => {
      if (outcome === "failed") {
        finish("failed");
        return;
      }
      last = number;
      proceed();
    };
    if (names(order, session)) session.carryOut(order, nowMs, ended);
    else ended("done");
  };
  proceed();
}

/** Whether an order has been carried out, or has to be repeated. */
export type OrderOutcome = "done" | "failed";

interface PendingUser {
  readonly sessions: Set<UserSession>;
  /** Calls with orders that came while the home was asked. */
  readonly answered: (() => void)[];
}

interface HomeCaller {
  readonly name: string;
  readonly waiting: string[];
  inFlight: number;
}
