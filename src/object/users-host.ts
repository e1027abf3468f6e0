import type { Config } from "../config/config.ts";
import type { HeldConnections, UserConnections } from "../contract/connection-state.ts";
import { userKey, userOfKey } from "../contract/identity-key.ts";
import type {
  ChannelsQuery,
  CountedChannels,
  GatewayInfos,
  ListedChannels,
} from "../contract/listing.ts";
import type {
  Ordered,
  Registered,
  SlotAnswer,
  UserConnection,
  UserOrder,
} from "../contract/user-order.ts";
import type {
  LeftUsers,
  OnlineUsers,
  UserStatusAnswer as AllStatuses,
} from "../contract/user-status.ts";
import { homeParts } from "../features/index.ts";
import { limits } from "../limits.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import { ConnectionList } from "../users/connection-list.ts";
import { ConnectionSlots } from "../users/connection-slots.ts";
import { Directory } from "../users/directory.ts";
import { Home, type OrderDelivery } from "../users/home.ts";
import { UserStatuses } from "../users/user-statuses.ts";
import { AlarmSchedule, NextTimer } from "./alarm-schedule.ts";
import { forEachInTurns } from "../users/in-turns.ts";
import { UnsureHolders } from "../users/unsure-holders.ts";
import { ListedObjects } from "./listed-objects.ts";
import { answerOf, type CallRequest } from "./object-call.ts";
import type { HomePart, PartedHome } from "./part.ts";
import type { Platform } from "./platform.ts";

/**
 * The object of a home. A home knows where a share of all users are connected, and passes orders on to the objects that
 * hold the connections (rules U1 to U5). Objects with other names are the shards of the directory, which lists the
 * objects that hold connections (rule U22). `Home` and `Directory` decide. This object gives them storage and the
 * alarm, and makes the calls. It holds no socket, and nothing keeps it awake between calls.
 *
 * Its calls are those of src/contract/object-calls.ts. The platform lets an answer out only once the rows behind it are
 * durable.
 */
export class UsersHost implements PartedHome {
  readonly platform: Platform;
  readonly config: Config;
  readonly #home: Home;
  readonly #slots: ConnectionSlots;
  readonly #alarms: AlarmSchedule;
  readonly #statuses: UserStatuses;
  readonly #directory: Directory;
  readonly #listed: ListedObjects;
  /** Writes what has been registered in a while, in one commit (rule U42). */
  readonly #writeTimer: NextTimer;
  /** What features add. */
  readonly #parts: readonly HomePart[];
  /** Whether one of them has to know which users are online (rule E11). */
  readonly #reportsOnline: boolean;
  readonly endEvent = (nowMs: number): void => this.#endEvent(nowMs);

  constructor(platform: Platform, config: Config) {
    this.platform = platform;
    this.config = config;
    const { sql } = platform;
    this.#alarms = new AlarmSchedule(platform);
    this.#writeTimer = new NextTimer(platform, () => this.writeRegistrations());
    const parts = homeParts(this);
    this.#parts = parts;
    this.#reportsOnline = parts.some((part) => part.noteOnline !== undefined);
    // An order, or an event, and the alarm for it are in one commit (rules U3 and E1).
    platform.readAlarmFirst(this.#alarms.known);
    const report = (user: string, isOnline: boolean): void => {
      for (const part of parts) part.noteOnline?.(user, isOnline);
    };
    this.#home = this.#reportsOnline ? new Home(sql, report) : new Home(sql);
    this.#slots = new ConnectionSlots(sql);
    this.#statuses = new UserStatuses(sql);
    this.#directory = new Directory(sql);
    this.#listed = new ListedObjects(this.#directory, platform);
    new UnsureHolders(this.#home, {
      nowMs: () => platform.nowMs(),
      after: (waitMs, work) => void platform.after(waitMs, work),
      ask: (holder, done) =>
        platform.call("heldOf", holder, [platform.name], limits.holderAnswerMs, (reply) =>
          done(answerOf(reply)),
        ),
      answered: () => this.#endEvent(platform.nowMs()),
    }).askAfter(limits.unsureAskMs);
  }

  /** Ends an event for the parts, and sets the alarm for what is due next, of the home or of the parts. */
  #endEvent(nowMs: number, homeAtMs = this.#home.dueAtMs(nowMs)): void {
    for (const part of this.#parts) part.ended?.(nowMs);
    const dueAtMs = this.#parts.map((part) => part.dueAtMs?.(nowMs) ?? Number.POSITIVE_INFINITY);
    this.#alarms.atMost(Math.min(homeAtMs, ...dueAtMs));
  }

  part<Part extends HomePart>(wanted: abstract new (...made: never[]) => Part): Part | undefined {
    return this.#parts.find((part): part is Part => part instanceof wanted);
  }

  /** Ends an event in which holders have answered, so that users may be offline now. */
  #endQuestions(): void {
    if (this.#reportsOnline) this.#endEvent(this.platform.nowMs());
  }

  /** Writes what is registered, and isn't written yet. */
  writeRegistrations(): void {
    const nowMs = this.platform.nowMs();
    this.#home.write(nowMs);
    // A timer keeps the home awake.
    this.#writeTimer.set(undefined, nowMs);
    this.#endEvent(nowMs);
  }

  register(holder: string, users: readonly string[], ends: readonly number[] = []): Registered {
    const nowMs = this.platform.nowMs();
    const registered = this.#home.register(holder, users, nowMs, ends);
    if (this.#home.hasUnwritten) this.#writeTimer.set(limits.registrationsWriteMs, nowMs);
    // Without parts it writes only if no alarm is set yet: for the sweep of the first registration.
    this.#endEvent(nowMs);
    return registered;
  }

  isBlocked(user: string): boolean {
    return this.#home.isBarred(userKey(user), this.platform.nowMs());
  }

  admit(
    [holder, connections, limit, single]: CallRequest<"admit">,
    done: (answer: SlotAnswer) => void,
  ): void {
    if (single === true) {
      this.#admitAlone(holder, connections, done);
      return;
    }
    const waiting = connections.filter((one) => !this.#slots.occupy(one, holder, limit));
    if (waiting.length === 0) {
      done({ refused: [] });
      return;
    }
    this.#freeEnded(new Set(waiting.map(({ key }) => key)), (silent) => {
      // Nothing comes between these decisions, so connections that come together don't share a slot (rule U12).
      const refused = waiting.filter((one) => !this.#slots.occupy(one, holder, limit, silent));
      done({ refused: refused.map(({ client }) => client) });
    });
  }

  /** Admits connections each of which is to be its user's only one, and has the others closed (rule C10). */
  #admitAlone(
    holder: string,
    connections: readonly UserConnection[],
    done: (answer: SlotAnswer) => void,
  ): void {
    this.#freeEnded(new Set(connections.map(({ key }) => key)), () => {
      for (const connection of connections) {
        // Nothing comes in between: of connections that come together, each replaces those before it.
        const others = this.#slots.takeAlone(connection, holder) ?? [];
        const code = disconnectCodes.connectionLimit;
        const orders = others.map((client) => ({ method: "disconnect", code, client }) as const);
        // The connection doesn't wait for that. The orders are kept and repeated until they are carried out.
        if (orders.length > 0) this.order(connection.key, orders, () => undefined);
      }
      done({ refused: [] });
    });
  }

  /**
   * Frees the slots of users' connections that have ended, as the objects say that hold them.
   *
   * @param users the keys of the users
   * @param done  takes the objects that didn't answer in time
   */
  #freeEnded(users: ReadonlySet<string>, done: (silent: ReadonlySet<string>) => void): void {
    const silent = new Set<string>();
    const holders = [...this.#slots.byHolder(users)];
    const ask = ([holder, held]: (typeof holders)[number], answered: () => void): void => {
      const keys = [...new Set(held.map(({ key }) => key))];
      this.platform.call("clientsOf", holder, [keys], limits.slotAnswerMs, (reply) => {
        const open = answerOf(reply);
        const stillOpen = new Set(open);
        if (open === undefined) silent.add(holder);
        else this.#slots.free(held.filter(({ client }) => !stillOpen.has(client)));
        answered();
      });
    };
    forEachInTurns(holders, holders.length, ask, () => done(silent));
  }

  order(user: string, orders: readonly UserOrder[], done: (ordered: Ordered) => void): void {
    const nowMs = this.platform.nowMs();
    const ordered = this.#home.order(user, orders, nowMs);
    if (ordered.outcome === "full") {
      done({ outcome: "overloaded", retryAfterSeconds });
      return;
    }
    if (ordered.outcome === "limit-exceeded") {
      done(ordered);
      return;
    }
    const { numbers, deliveries } = ordered;
    let isOver = false;
    const answer = (): void => {
      if (isOver) return;
      isOver = true;
      if (this.#home.isDone(numbers)) done({ outcome: "done" });
      else done({ outcome: "pending", retryAfterSeconds });
    };
    if (deliveries.length === 0) {
      answer();
      return;
    }
    // Also for an instance that ends before it has repeated a delivery.
    this.#alarms.atMost(this.#home.dueAtMs(nowMs));
    const late = this.platform.after(limits.orderAnswerMs, answer);
    const endsAtMs = nowMs + limits.orderAnswerMs;
    const insist = (delivery: OrderDelivery, ended: () => void): void =>
      this.#insist(delivery, endsAtMs, limits.orderRetryMs, ended);
    forEachInTurns(deliveries, deliveries.length, insist, () => {
      late.cancel();
      answer();
    });
  }

  connections(key: string, done: (connections: UserConnections) => void): void {
    const list = new ConnectionList();
    const take = (question: OrderDelivery, answer: HeldConnections | undefined): void => {
      this.#home.answered(question, answer);
      list.append(answer?.connections ?? []);
      if (answer === undefined || answer.incomplete === true) list.miss();
    };
    const questions = this.#home.questions(key);
    const asked = questions.slice(0, limits.holdersAskedMax);
    for (const question of questions.slice(limits.holdersAskedMax)) take(question, undefined);
    const ask = (question: OrderDelivery, answered: () => void): void =>
      this.platform.call("connections", question.holder, [key], limits.holderAnswerMs, (reply) => {
        take(question, answerOf(reply));
        answered();
      });
    forEachInTurns(asked, asked.length, ask, () => {
      this.#endQuestions();
      done(list.result);
    });
  }

  holders(key: string): readonly string[] {
    return this.#home.holders(key);
  }

  ended(users: readonly string[], left: LeftUsers | undefined, done: () => void): void {
    if (users.length > 0) this.#statuses.ended(users, this.#nowSeconds());
    if (left === undefined || !this.#reportsOnline) {
      done();
      return;
    }
    const { holder } = left;
    const questions = left.users.flatMap((user) => this.#home.questions(userKey(user), holder));
    this.#askOnline(holder, questions, true, () => {
      this.#endQuestions();
      done();
    });
  }

  eventsAfter(since: number, limit: number): readonly string[] {
    const nowMs = this.platform.nowMs();
    return this.#parts.flatMap((part) => part.eventsAfter?.(since, limit, nowMs) ?? []);
  }

  updateStatus(users: readonly string[], state: string): void {
    this.#statuses.update(users, state, this.#nowSeconds());
  }

  deleteStatus(users: readonly string[]): void {
    this.#statuses.remove(users);
  }

  statuses(users: readonly string[], done: (answer: AllStatuses) => void): void {
    const questions = users.flatMap((user) => this.#home.questions(userKey(user)));
    const holders = [...Map.groupBy(questions, ({ holder }) => holder)].entries();
    const all = [...holders];
    const online = new Set<string>();
    let complete = true;
    const ask = ([index, [holder, asked]]: (typeof all)[number], answered: () => void): void =>
      this.#askOnline(holder, asked, index < limits.holdersAskedMax, (here) => {
        complete &&= here !== undefined;
        for (const key of here ?? []) online.add(userOfKey(key));
        answered();
      });
    forEachInTurns(all, all.length, ask, () => {
      this.#endQuestions();
      const statuses = this.#statuses.read(users, online, this.#nowSeconds());
      done(complete ? { statuses } : { statuses, incomplete: true });
    });
  }

  /**
   * Asks a holder which of these users have connections there, and forgets it for the others.
   *
   * @param isAsked whether the call is made at all
   * @param done    takes their keys; undefined without an answer in time
   */
  #askOnline(
    holder: string,
    questions: readonly OrderDelivery[],
    isAsked: boolean,
    done: (online: ReadonlySet<string> | undefined) => void,
  ): void {
    if (questions.length === 0) {
      done(new Set());
      return;
    }
    const take = (answer: OnlineUsers | undefined): void => {
      const online = new Set(answer?.users);
      for (const question of questions)
        this.#home.answered(question, answer && { left: online.has(question.user) });
      done(answer && online);
    };
    const keys = questions.map(({ user }) => user);
    if (!isAsked) take(undefined);
    else
      this.platform.call("online", holder, [keys], limits.holderAnswerMs, (reply) =>
        take(answerOf(reply)),
      );
  }

  list(node: string): void {
    const unsure = this.#directory.list(node);
    // The listed object doesn't wait for that.
    if (unsure.length > 0) this.#listed.channelCounts(unsure, () => undefined);
  }

  gateways(after: string, limit: number): readonly string[] {
    return this.#directory.gateways(after, limit);
  }

  gatewayInfos(names: readonly string[], done: (infos: GatewayInfos) => void): void {
    this.#listed.gatewayInfos(names, done);
  }

  channels(query: ChannelsQuery, done: (channels: ListedChannels) => void): void {
    this.#listed.channels(query, done);
  }

  channelCounts(names: readonly string[], done: (counted: CountedChannels) => void): void {
    this.#listed.channelCounts(names, done);
  }

  /** Does what is due. The alarm counts as rung once its work has called back. */
  alarm(done: () => void): void {
    this.#alarms.rang();
    const deliveries = this.#home.deliveries();
    const deliver = (delivery: OrderDelivery, answered: () => void): void =>
      this.#deliver(delivery, answered);
    forEachInTurns(deliveries, deliveries.length, deliver, () => {
      this.#sweep(limits.sweepSlicesPerAlarm, (isSwept) => {
        const nowMs = this.platform.nowMs();
        for (const part of this.#parts) part.rang?.(nowMs);
        // A sweep goes on in an event of its own, because the platform bounds the calls of one.
        this.#endEvent(nowMs, isSwept ? this.#home.dueAtMs(nowMs) : nowMs + limits.sweepPauseMs);
        done();
      });
    });
  }

  /**
   * Asks holders whom they still hold, for some slices of the sweep.
   *
   * @param done takes whether it has ended, or wasn't due
   */
  #sweep(slices: number, done: (isSwept: boolean) => void): void {
    const { sweep } = this.#home;
    if (slices === 0) {
      done(false);
      return;
    }
    const questions = sweep.next(this.platform.nowMs());
    if (questions.length === 0) {
      done(true);
      return;
    }
    const ask = (question: (typeof questions)[number], answered: () => void): void => {
      const { holder, users } = question;
      this.platform.call("online", holder, [[...users]], limits.holderAnswerMs, (reply) => {
        const forgotten = sweep.answered(question, answerOf(reply)?.users);
        this.#slots.forget(forgotten, holder);
        answered();
      });
    };
    forEachInTurns(questions, questions.length, ask, () => this.#sweep(slices - 1, done));
  }

  /** Makes a delivery, again and again until it succeeds; the alarm goes on after that time. */
  #insist(delivery: OrderDelivery, endsAtMs: number, pauseMs: number, ended: () => void): void {
    this.#deliver(delivery, (isCarriedOut) => {
      this.#endQuestions();
      const again = (nextPauseMs: number): void => {
        const next = this.#home.again(delivery);
        if (next === undefined) ended();
        else this.#insist(next, endsAtMs, nextPauseMs, ended);
      };
      if (isCarriedOut) again(pauseMs);
      else if (this.platform.nowMs() + pauseMs >= endsAtMs) ended();
      else this.platform.after(pauseMs, () => again(pauseMs * 2));
    });
  }

  /** Makes a delivery once. `done` takes whether the holder has carried it out. */
  #deliver(delivery: OrderDelivery, done: (isCarriedOut: boolean) => void): void {
    const { holder, user, orders } = delivery;
    this.platform.call("carryOut", holder, [user, orders], limits.objectAnswerMs, (reply) => {
      const answer = answerOf(reply);
      this.#home.answered(delivery, answer);
      done(answer !== undefined && answer.failed !== true);
    });
  }

  #nowSeconds(): number {
    return Math.floor(this.platform.nowMs() / 1_000);
  }
}

/** The seconds after which a backend should ask again whether an order has been carried out. */
const retryAfterSeconds = 5;
