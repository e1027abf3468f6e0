import { DurableObject } from "cloudflare:workers";
import type {
  ChannelsQuery,
  CountedChannels,
  GatewayInfos,
  ListedChannels,
} from "../../src/contract/listing.ts";
import type { DirectoryCalls, HomeCalls } from "../../src/contract/object-calls.ts";
import type {
  Ordered,
  Registered,
  SlotAnswer,
  UserConnection,
  UserOrder,
} from "../../src/contract/user-order.ts";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import { homeObject } from "../../src/contract/object-names.ts";
import { isTold } from "../../src/events/event.ts";
import { limits } from "../../src/limits.ts";
import { type OrderDelivery, Home } from "../../src/users/home.ts";
import { AlarmSchedule } from "../platform/alarm-schedule.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { inTime } from "../platform/object-call.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { userKey, userOfKey } from "../../src/contract/identity-key.ts";
import { ConnectionSlots } from "../../src/users/connection-slots.ts";
import type { UserConnections } from "../../src/contract/connection-state.ts";
import { ConnectionList } from "../../src/users/connection-list.ts";
import { Directory } from "../../src/users/directory.ts";
import type { LeftUsers, UserStatusAnswer as AllStatuses } from "../../src/contract/user-status.ts";
import { UserStatuses } from "../../src/users/user-statuses.ts";
import { askConnections, askOnline, carryOut, clientsOf } from "./calls.ts";
import { EventDelivery } from "./event-delivery.ts";
import { ListedObjects } from "./listed-objects.ts";

/**
 * The object of a home, which keeps where a share of all users are connected, and passes orders on to the objects that
 * hold the connections (rules U1 to U5). Objects with other names are the shards of the directory, which lists the
 * objects that hold connections (rule U22). `Home` and `Directory` decide; this object lends them storage and the alarm,
 * and makes the calls. It holds no socket, and nothing keeps it awake between calls.
 */
export class UsersObject extends DurableObject<Env> implements HomeCalls, DirectoryCalls {
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  /** Calls that registered users since the object woke; tests read it. */
  callsTaken = 0;
  readonly #home: Home;
  readonly #slots: ConnectionSlots;
  readonly #alarms: AlarmSchedule;
  readonly #statuses: UserStatuses;
  readonly #directory: Directory;
  readonly #listed: ListedObjects;
  /** Tells a backend which users are online; undefined where no backend wants to know (rule E11). */
  readonly #events: EventDelivery | undefined;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.sql = new ObjectSql(context.storage);
    this.#alarms = new AlarmSchedule(context.storage);
    const events = this.#newEvents(context.id.name ?? "");
    this.#events = events;
    // As in the other objects: an event and the alarm for it are in one commit.
    if (events !== undefined) void context.blockConcurrencyWhile(() => this.#alarms.read());
    const tell = (user: string, isOnline: boolean): void =>
      events?.outbox.add({ type: isOnline ? "user_online" : "user_offline", user }, Date.now());
    this.#home = events === undefined ? new Home(this.sql) : new Home(this.sql, tell);
    this.#slots = new ConnectionSlots(this.sql);
    this.#statuses = new UserStatuses(this.sql);
    this.#directory = new Directory(this.sql);
    this.#listed = new ListedObjects(this.#directory, env);
  }

  #newEvents(home: string): EventDelivery | undefined {
    const configuration = configurationOf(this.env);
    if (configuration.outcome === "unconfigured") return undefined;
    const { events } = configuration.config;
    if (events === undefined || !isTold(events, "user_online")) return undefined;
    return new EventDelivery({
      events,
      sql: this.sql,
      object: homeObject(home),
      env: this.env,
      signer: configuration.hookSigner,
      sessions: () => [],
      namespaceOf: () => "",
      called: () => undefined,
      ended: this.#endEvent,
    });
  }

  /** Sends the events that are due, and sets the alarm for what is due next, of the home or of the events. */
  readonly #endEvent = async (
    nowMs: number,
    homeAtMs = this.#home.dueAtMs(nowMs),
  ): Promise<void> => {
    this.#events?.proceed(nowMs);
    const eventsAtMs = this.#events?.outbox.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    await this.#alarms.atMost(Math.min(homeAtMs, eventsAtMs));
  };

  /** Ends an event in which holders have answered, so that users may be offline now. */
  async #endQuestions(): Promise<void> {
    if (this.#events !== undefined) await this.#endEvent(Date.now());
  }

  // The calls' contract is in src/contract/object-calls.ts. The output gate lets an answer out only once the rows that
  // it speaks of are durable.
  async register(
    holder: string,
    users: readonly string[],
    ends: readonly number[] = [],
  ): Promise<Registered> {
    this.callsTaken++;
    const nowMs = Date.now();
    const registered = this.#home.register(holder, users, nowMs, ends);
    // Without events it writes only if no alarm is set yet: for the sweep of the first registration.
    await this.#endEvent(nowMs);
    return registered;
  }

  async admit(
    holder: string,
    connections: readonly UserConnection[],
    limit: number,
    single = false,
  ): Promise<SlotAnswer> {
    if (single) return this.#admitAlone(holder, connections);
    const waiting = connections.filter((one) => !this.#slots.take(one, holder, limit));
    if (waiting.length === 0) return { refused: [] };
    const silent = await this.#freeEnded(new Set(waiting.map(({ key }) => key)));
    // Nothing comes between these decisions, so connections that come together don't share a slot (rule U12).
    const refused = waiting.filter((one) => !this.#slots.take(one, holder, limit, silent));
    return { refused: refused.map(({ client }) => client) };
  }

  /** Admits connections each of which is to be its user's only one, and has the others closed (rule C10). */
  async #admitAlone(holder: string, connections: readonly UserConnection[]): Promise<SlotAnswer> {
    await this.#freeEnded(new Set(connections.map(({ key }) => key)));
    for (const connection of connections) {
      // Nothing comes in between: of connections that come together, each replaces those before it.
      const others = this.#slots.takeAlone(connection, holder) ?? [];
      const code = disconnectCodes.connectionLimit;
      const orders = others.map((client) => ({ method: "disconnect", code, client }) as const);
      // The connection doesn't wait for that. The orders are kept and repeated until they are carried out.
      if (orders.length > 0) void this.order(connection.key, orders);
    }
    return { refused: [] };
  }

  /**
   * Frees the slots of users' connections that have ended, as the objects say that hold them.
   *
   * @param users the keys of the users
   * @returns the objects that didn't answer in time
   */
  async #freeEnded(users: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const silent = new Set<string>();
    const asked = [...this.#slots.byHolder(users)].map(async ([holder, held]) => {
      const keys = new Set(held.map(({ key }) => key));
      const open = await clientsOf(this.env, holder, [...keys]);
      const stillOpen = new Set(open);
      if (open === undefined) silent.add(holder);
      else this.#slots.free(held.filter(({ client }) => !stillOpen.has(client)));
    });
    await Promise.all(asked);
    return silent;
  }

  async order(user: string, orders: readonly UserOrder[]): Promise<Ordered> {
    const nowMs = Date.now();
    const ordered = this.#home.order(user, orders, nowMs);
    if (ordered.outcome === "full") return { outcome: "overloaded", retryAfterSeconds };
    if (ordered.outcome === "limit-exceeded") return ordered;
    const { numbers, deliveries } = ordered;
    if (deliveries.length > 0) {
      // Also for an instance that ends before it has repeated a delivery.
      await this.#alarms.atMost(this.#home.dueAtMs(nowMs));
      const endsAtMs = nowMs + limits.orderAnswerMs;
      const all = deliveries.map((delivery) => this.#insist(delivery, endsAtMs));
      await inTime<unknown>(Promise.all(all), limits.orderAnswerMs, undefined);
    }
    if (!this.#home.isDone(numbers)) return { outcome: "pending", retryAfterSeconds };
    return { outcome: "done" };
  }

  async connections(key: string): Promise<UserConnections> {
    const questions = this.#home.questions(key);
    const list = new ConnectionList();
    await Promise.all(
      questions.map(async (question, index) => {
        const isAsked = index < limits.holdersAskedMax;
        const answer = isAsked ? await askConnections(this.env, question.holder, key) : undefined;
        this.#home.answered(question, answer);
        list.add(answer?.connections ?? []);
        if (answer === undefined || answer.incomplete === true) list.miss();
      }),
    );
    await this.#endQuestions();
    return list.result;
  }

  async holders(key: string): Promise<readonly string[]> {
    return this.#home.holders(key);
  }

  async ended(users: readonly string[], left?: LeftUsers): Promise<void> {
    if (users.length > 0) this.#statuses.ended(users, nowSeconds());
    if (left === undefined || this.#events === undefined) return;
    const { holder } = left;
    const questions = left.users.flatMap((user) => this.#home.questions(userKey(user), holder));
    await this.#askOnline(holder, questions);
    await this.#endQuestions();
  }

  async eventsAfter(since: number, limit: number): Promise<readonly string[]> {
    return this.#events?.outbox.after(since, limit, Date.now()) ?? [];
  }

  async updateStatus(users: readonly string[], state: string): Promise<void> {
    this.#statuses.update(users, state, nowSeconds());
  }

  async deleteStatus(users: readonly string[]): Promise<void> {
    this.#statuses.remove(users);
  }

  async statuses(users: readonly string[]): Promise<AllStatuses> {
    const questions = users.flatMap((user) => this.#home.questions(userKey(user)));
    const holders = [...Map.groupBy(questions, ({ holder }) => holder)];
    const online = new Set<string>();
    let complete = true;
    await Promise.all(
      holders.map(async ([holder, asked], index) => {
        const here = await this.#askOnline(holder, asked, index < limits.holdersAskedMax);
        complete &&= here !== undefined;
        for (const key of here ?? []) online.add(userOfKey(key));
      }),
    );
    await this.#endQuestions();
    const statuses = this.#statuses.read(users, online, nowSeconds());
    return complete ? { statuses } : { statuses, incomplete: true };
  }

  /**
   * Asks a holder which of these users have connections there, and forgets it for the others.
   *
   * @param isAsked whether the call is made at all
   * @returns their keys; undefined without an answer in time
   */
  async #askOnline(
    holder: string,
    questions: readonly OrderDelivery[],
    isAsked = true,
  ): Promise<ReadonlySet<string> | undefined> {
    if (questions.length === 0) return new Set();
    const keys = questions.map(({ user }) => user);
    const answer = isAsked ? await askOnline(this.env, holder, keys) : undefined;
    const online = new Set(answer?.users);
    for (const question of questions)
      this.#home.answered(question, answer && { left: online.has(question.user) });
    return answer && online;
  }

  async list(node: string): Promise<void> {
    const unsure = this.#directory.list(node);
    // The listed object doesn't wait for that.
    if (unsure.length > 0) void this.#listed.channelCounts(unsure);
  }

  async gateways(after: string, limit: number): Promise<readonly string[]> {
    return this.#directory.gateways(after, limit);
  }

  gatewayInfos(names: readonly string[]): Promise<GatewayInfos> {
    return this.#listed.gatewayInfos(names);
  }

  channels(query: ChannelsQuery): Promise<ListedChannels> {
    return this.#listed.channels(query);
  }

  channelCounts(names: readonly string[]): Promise<CountedChannels> {
    return this.#listed.channelCounts(names);
  }

  override async alarm(): Promise<void> {
    this.#alarms.rang();
    await Promise.all(this.#home.deliveries().map((delivery) => this.#deliver(delivery)));
    const isSwept = await this.#sweep();
    const nowMs = Date.now();
    this.#events?.outbox.deleteExpired(nowMs);
    // A sweep goes on in an event of its own, because the platform bounds the calls of one.
    await this.#endEvent(nowMs, isSwept ? this.#home.dueAtMs(nowMs) : nowMs + limits.sweepPauseMs);
  }

  /** Asks holders whom they still hold, for some slices of the sweep. @returns whether it has ended, or wasn't due */
  async #sweep(): Promise<boolean> {
    const { sweep } = this.#home;
    for (let slices = 0; slices < limits.sweepSlicesPerAlarm; slices++) {
      const questions = sweep.next(Date.now());
      if (questions.length === 0) return true;
      await Promise.all(
        questions.map(async (question) => {
          const { holder, users } = question;
          const answer = await askOnline(this.env, holder, [...users]);
          const forgotten = sweep.answered(question, answer?.users);
          this.#slots.forget(forgotten, holder);
        }),
      );
    }
    return false;
  }

  /** Makes a delivery, again and again until it succeeds; the alarm goes on after that time. */
  async #insist(first: OrderDelivery, endsAtMs: number): Promise<void> {
    let pauseMs: number = limits.orderRetryMs;
    let delivery: OrderDelivery | undefined = first;
    while (delivery !== undefined) {
      const isCarriedOut = await this.#deliver(delivery);
      await this.#endQuestions();
      if (!isCarriedOut) {
        if (Date.now() + pauseMs >= endsAtMs) return;
        await pause(pauseMs);
        pauseMs *= 2;
      }
      delivery = this.#home.again(delivery);
    }
  }

  /** Makes a delivery once. @returns whether the holder has carried it out */
  async #deliver(delivery: OrderDelivery): Promise<boolean> {
    const answer = await carryOut(this.env, delivery.holder, delivery.user, delivery.orders);
    this.#home.answered(delivery, answer);
    return answer !== undefined && answer.failed !== true;
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** The seconds after which a backend should ask again whether an order has been carried out. */
const retryAfterSeconds = 5;
