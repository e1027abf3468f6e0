import { hasPassed } from "../moment.ts";
import { tokenKey, uidOfKey, userKey, userOfKey } from "../contract/identity-key.ts";
import { homeName } from "../contract/object-names.ts";
import type {
  CarriedOut,
  HeldKeys,
  Invalidation,
  NumberedOrder,
  HolderOrder,
  SlotAnswer,
  UserConnection,
} from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { LocalTokens } from "./local-tokens.ts";
import { type RegisterCall, type Registration, Registrations } from "./registrations.ts";
import {
  type OrderedSession,
  type OrderOutcome,
  SessionOrders,
  takesOrders,
} from "./session-orders.ts";
import { SharedCalls } from "./shared-calls.ts";
import { covers } from "./restrictions.ts";

/**
 * The users of one object's connections: it registers the object with the homes of their users, admits connections once
 * the homes have answered, and carries out orders on them (rules U1 to U5). A user with several connections is
 * registered once. Everything here may be lost: sessions store the last order that they have seen, and registering again
 * costs a call and no row.
 */
export class LocalUsers {
  /** The tokens with which the connections and their subscriptions were made (rule U10). */
  readonly tokens: LocalTokens;
  readonly orders: SessionOrders;
  readonly #registrations: Registrations;
  readonly #slots: SharedCalls<UserConnection, SlotAnswer>;
  /** The registered users, with what this object knows of them. */
  readonly #known = new Map<string, KnownUser>();
  readonly #pending = new Map<string, PendingUser>();
  /** The users whose orders are being carried out, with the calls that wait for that. */
  readonly #carryingOut = new Map<string, (() => void)[]>();

  /** @param admit is needed only where the connections of a user are limited */
  constructor(call: RegisterCall, admit: AdmitCall = noAdmission) {
    this.#registrations = new Registrations(call);
    this.#slots = new SharedCalls(admit, limits.slotCallsMax);
    this.tokens = new LocalTokens(this.#registrations);
    this.orders = new SessionOrders(this.tokens);
  }

  /**
   * Registers a user, unless that has been done.
   *
   * @param done takes the home's answer, at once if the user is registered
   */
  register(user: string, done: (answer: UserAnswer) => void): void {
    const known = this.#known.get(user);
    if (known !== undefined) {
      done({ outcome: "registered", ...known });
      return;
    }
    const pending = this.#pending.get(user);
    if (pending !== undefined) {
      (pending.isAsked ? pending.later : pending.waiting).push(done);
      return;
    }
    const asked: PendingUser = { waiting: [done], later: [], isAsked: false, answered: [] };
    this.#pending.set(user, asked);
    this.#registrations.register(
      userKey(user),
      0,
      (answer) => this.#answered(user, answer),
      () => {
        asked.isAsked = true;
      },
    );
  }

  /**
   * Asks a user's home for a slot for one more connection (rule U12). That is asked for each connection.
   *
   * @param done takes the answer, later. unknown: the home didn't answer in time
   */
  admit(
    user: string,
    client: string,
    done: (answer: "admitted" | "full" | "unknown") => void,
  ): void {
    this.#slots.ask({ key: userKey(user), client }, (answer) => {
      if (answer === undefined) done("unknown");
      else done(answer.refused.includes(client) ? "full" : "admitted");
    });
  }

  /** What makes tokens of a user invalid (rule U11); undefined if the user's home has to be asked first. */
  invalidations(user: string): readonly Invalidation[] | undefined {
    return this.#known.get(user)?.invalidations;
  }

  /**
   * Carries out a home's orders on the connections of a user, in order, after the calls before for the same user. An
   * order has no effect on a session that has seen it before. The orders wait for sessions that wait for the home.
   *
   * @param key      of the user, or of a token
   * @param sessions all sessions of the object
   * @param nowMs    when the call came, ms since 1970
   * @param done     takes the answer; undefined if too many calls wait
   */
  carryOut(
    key: string,
    orders: readonly NumberedOrder[],
    sessions: () => Iterable<OrderedSession>,
    nowMs: number,
    done: (answer: CarriedOut | undefined) => void,
  ): void {
    const uid = uidOfKey(key);
    if (uid !== undefined) {
      done(this.tokens.carryOut(uid, orders, sessions(), nowMs));
      return;
    }
    const user = userOfKey(key);
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
   * Finds the sessions of a user for the user's home, which forgets this object if none is left (rule U31).
   *
   * @param all sessions of the object
   * @returns the sessions, those included that are held; and whether there are any, or any that wait for the home
   */
  sessionsOf<One extends OrderedSession>(user: string, all: Iterable<One>): FoundSessions<One> {
    const sessions: One[] = [];
    for (const one of all) if (one.user === user && takesOrders(one)) sessions.push(one);
    const left = sessions.length > 0 || this.#pending.has(user);
    // The home is about to forget this object, so the user's next connection has to register it anew.
    if (!left) this.#known.delete(user);
    return { sessions, left };
  }

  /**
   * Finds the users and tokens of which this object holds something. Their home forgets this object for the other ones
   * (rules U31, U15), and their next connection is registered again.
   *
   * @param keys of users and tokens
   * @param all  sessions of the object
   */
  present(keys: readonly string[], all: Iterable<OrderedSession>): readonly string[] {
    const sessions = [...all];
    const users = this.#usersOf(sessions);
    return keys.filter((key) => {
      const uid = uidOfKey(key);
      if (uid !== undefined) return this.tokens.isHeld(uid, sessions);
      const user = userOfKey(key);
      const isPresent = users.has(user);
      if (!isPresent) this.#known.delete(user);
      return isPresent;
    });
  }

  /**
   * Lists the users and tokens of a home of which this object holds something, or is about to (rule U41). Users that it
   * only remembers are forgotten: the home doesn't know them any more, so the next connection has to register them
   * anew.
   *
   * @param all sessions of the object
   */
  heldOf(home: string, all: Iterable<OrderedSession>): HeldKeys {
    const sessions = [...all];
    const users = this.#usersOf(sessions);
    users.delete(""); // Nobody registers those who are anonymous.
    for (const user of this.#known.keys())
      if (!users.has(user) && homeName(userKey(user)) === home) this.#known.delete(user);
    const ends = new Map<string, number>([...users].map((user) => [userKey(user), 0]));
    for (const [uid, endSeconds] of this.tokens.held(sessions)) ends.set(tokenKey(uid), endSeconds);
    const held = [...ends].filter(([key]) => homeName(key) === home);
    return { keys: held.map(([key]) => key), ends: held.map(([, endSeconds]) => endSeconds) };
  }

  /** The users who have a connection here, or whose home is being asked. */
  #usersOf(sessions: readonly OrderedSession[]): Set<string> {
    const users = new Set(this.#pending.keys());
    for (const one of sessions) if (takesOrders(one)) users.add(one.user);
    return users;
  }

  #carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    sessions: () => Iterable<OrderedSession>,
    nowMs: number,
    done: (answer: CarriedOut) => void,
  ): void {
    const pending = this.#pending.get(user);
    if (pending !== undefined) {
      pending.answered.push(() => this.#carryOut(user, orders, sessions, nowMs, done));
      return;
    }
    for (const { order } of orders) this.#noteInvalidation(user, order, nowMs);
    const last = orders.at(-1)?.number ?? 0;
    const here = (): readonly OrderedSession[] =>
      [...sessions()].filter((one) => one.user === user && takesOrders(one));
    const concerned = new Set<OrderedSession>();
    let failed = false;
    const takeAll = (those: readonly OrderedSession[]): void => {
      let missing = those.length + 1;
      let isLater = false;
      const ended = (outcome: OrderOutcome): void => {
        failed ||= outcome === "failed";
        missing--;
        if (missing > 0) return;
        // An order may take long, and connections may begin meanwhile that it names as well.
        const now = isLater ? here() : [...concerned].filter(takesOrders);
        const others = now.filter((one) => !concerned.has(one));
        if (others.length > 0) {
          takeAll(others);
          return;
        }
        const left = now.length > 0 || this.#pending.has(user);
        this.#noteOrders(user, left, failed ? 0 : last);
        done(failed ? { left, failed } : { left });
      };
      for (const session of those) {
        concerned.add(session);
        this.orders.carryOut(session, orders, nowMs, ended);
      }
      ended("done");
      isLater = true;
    };
    takeAll(here());
  }

  /** Notes the last order for a user, or forgets a user without connections. */
  #noteOrders(user: string, left: boolean, last: number): void {
    const known = this.#known.get(user);
    if (!left) this.#known.delete(user);
    else if (known !== undefined && last > known.lastOrder)
      this.#known.set(user, { ...known, lastOrder: last });
  }

  /** Notes which tokens an order makes invalid, for commands that are under way with them, and for later ones. */
  #noteInvalidation(user: string, order: HolderOrder, nowMs: number): void {
    const known = this.#known.get(user);
    if (order.method !== "invalidate_user_tokens" || known === undefined) return;
    const { channel, issuedBeforeSeconds, expireAtSeconds } = order;
    const invalidation = { channel, issuedBeforeSeconds, expireAtSeconds };
    // As the home keeps them, which bounds them.
    const others = known.invalidations.filter(
      (one) => !covers(invalidation, one) && !hasPassed(one.expireAtSeconds, nowMs),
    );
    const isCovered = others.some((one) => covers(one, invalidation));
    const invalidations = isCovered ? others : [...others, invalidation];
    this.#known.set(user, { ...known, invalidations });
  }

  #answered(user: string, registration: Registration | undefined): void {
    const pending = this.#pending.get(user);
    this.#pending.delete(user);
    if (pending === undefined) return;
    const { waiting, later, answered } = pending;
    const answer = answerOf(registration);
    if (answer.outcome === "registered") {
      const { lastOrder, invalidations } = answer;
      if (this.#known.size >= limits.usersRememberedMax) this.#known.clear();
      this.#known.set(user, { lastOrder, invalidations });
    }
    for (const done of waiting) done(answer);
    // The block may have ended before these came.
    for (const done of later)
      if (answer.outcome === "blocked") this.register(user, done);
      else done(answer);
    for (const proceed of answered) proceed();
  }
}

/**
 * Calls a home to ask for slots, once or twice.
 *
 * @param done called once, with undefined if the home didn't answer in time
 */
export type AdmitCall = (
  home: string,
  connections: readonly UserConnection[],
  done: (answer: SlotAnswer | undefined) => void,
) => void;

const noAdmission: AdmitCall = (_home, _connections, done) => done({ refused: [] });

/** What a user's home answers to a registration. unknown: it didn't answer in time. */
export type UserAnswer =
  | ({ readonly outcome: "registered" } & KnownUser)
  | { readonly outcome: "blocked" | "unknown" };

/** What an object knows of a registered user. */
interface KnownUser {
  /** The number of the last order for the user. A session that registers now begins after it. */
  readonly lastOrder: number;
  /** What makes tokens of the user invalid. */
  readonly invalidations: readonly Invalidation[];
}

function answerOf(registration: Registration | undefined): UserAnswer {
  if (registration === undefined) return { outcome: "unknown" };
  const { barred, lastOrder, invalidations } = registration;
  return barred ? { outcome: "blocked" } : { outcome: "registered", lastOrder, invalidations };
}

/** The sessions of one user. */
export interface FoundSessions<One> {
  readonly sessions: readonly One[];
  /** Whether the object holds connections of the user. */
  readonly left: boolean;
}

interface PendingUser {
  readonly waiting: ((answer: UserAnswer) => void)[];
  /** Those who came after the call to the home. */
  readonly later: ((answer: UserAnswer) => void)[];
  /** Whether the call to the home has been made. */
  isAsked: boolean;
  /** Calls with orders that came while the home was asked. */
  readonly answered: (() => void)[];
}
