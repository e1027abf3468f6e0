import { DurableObject } from "cloudflare:workers";
import type { HomeCalls } from "../../src/contract/object-calls.ts";
import type { Ordered, Registered, UserOrder } from "../../src/contract/user-order.ts";
import { homeObject } from "../../src/contract/object-names.ts";
import { isTold } from "../../src/events/event.ts";
import { limits } from "../../src/limits.ts";
import { HoldersCheck } from "../../src/users/holders-check.ts";
import { type Delivery, Home } from "../../src/users/home.ts";
import { AlarmSchedule } from "../platform/alarm-schedule.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { inTime } from "../platform/object-call.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { askHeld, carryOut } from "./calls.ts";
import { EventDelivery } from "./event-delivery.ts";

/**
 * The object of a home, which keeps where a share of all users are connected, and passes orders on to the objects that
 * hold the connections (rules U1 to U5). `Home` decides; this object lends it storage and the alarm, and makes the
 * calls. It holds no socket, and nothing keeps it awake between calls.
 */
export class UsersObject extends DurableObject<Env> implements HomeCalls {
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  /** Calls that registered users since the object woke; tests read it. */
  callsTaken = 0;
  readonly #home: Home;
  readonly #alarms: AlarmSchedule;
  /** Tells a backend which users are online; undefined where no backend wants to know (rule E11). */
  readonly #events: EventDelivery | undefined;
  readonly #check: HoldersCheck | undefined;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.sql = new ObjectSql(context.storage);
    this.#alarms = new AlarmSchedule(context.storage);
    const events = this.#newEvents(context.id.name ?? "");
    this.#events = events;
    // As in the other objects: an event and the alarm for it are in one commit.
    if (events !== undefined) void context.blockConcurrencyWhile(() => this.#alarms.read());
    this.#check = events === undefined ? undefined : new HoldersCheck(this.sql);
    const tell = (user: string, isOnline: boolean): void =>
      events?.outbox.add({ type: isOnline ? "user_online" : "user_offline", user }, Date.now());
    this.#home = events === undefined ? new Home(this.sql) : new Home(this.sql, tell);
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

  /** Sends the events that are due, and sets the alarm for what is due next. */
  readonly #endEvent = async (nowMs: number): Promise<void> => {
    this.#events?.proceed(nowMs);
    await this.#alarms.atMost(
      Math.min(
        this.#home.dueAtMs(nowMs),
        this.#events?.outbox.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY,
        this.#askHoldersAtMs(nowMs),
      ),
    );
  };

  /** When to ask the holders of all users again, ms since 1970; Infinity for never (rule E11). */
  #askHoldersAtMs(nowMs: number): number {
    const check = this.#home.hasHolders ? this.#check : undefined;
    return check?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
  }

  // The calls' contract is in src/contract/object-calls.ts. The output gate lets an answer out only once the rows that
  // it speaks of are durable.
  async register(holder: string, users: readonly string[]): Promise<Registered> {
    this.callsTaken++;
    const nowMs = Date.now();
    const registered = this.#home.register(holder, users, nowMs);
    if (this.#events !== undefined) await this.#endEvent(nowMs);
    return registered;
  }

  async check(holder: string, users: readonly string[]): Promise<void> {
    await this.#ask(holder, users);
    await this.#endEvent(Date.now());
  }

  async eventsAfter(since: number, limit: number): Promise<readonly string[]> {
    return this.#events?.outbox.after(since, limit, Date.now()) ?? [];
  }

  /** Asks a holder which of these users it holds, and forgets it for the others. */
  async #ask(holder: string, users: readonly string[]): Promise<void> {
    const questions = this.#home.questions(holder, users);
    if (questions.length === 0) return;
    const asked = questions.map(({ user }) => user);
    const held = await askHeld(this.env, holder, asked);
    const left = new Set(held);
    for (const question of questions) {
      const answer = held === undefined ? undefined : { left: left.has(question.user) };
      this.#home.answered(question, answer);
    }
  }

  /** Asks all holders of all users: one that has crashed doesn't say that it holds nobody any more. */
  async #askAll(nowMs: number): Promise<void> {
    if (nowMs < this.#askHoldersAtMs(nowMs)) return;
    this.#check?.asked(nowMs);
    const asked = [...this.#home.usersByHolder].map(async ([holder, users]) => {
      for (let first = 0; first < users.length; first += limits.registerUsersMax)
        await this.#ask(holder, users.slice(first, first + limits.registerUsersMax));
    });
    await Promise.all(asked);
  }

  async order(user: string, orders: readonly UserOrder[]): Promise<Ordered> {
    const nowMs = Date.now();
    const ordered = this.#home.order(user, orders, nowMs);
    if (ordered.outcome === "full") return { outcome: "overloaded", retryAfterSeconds };
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

  override async alarm(): Promise<void> {
    this.#alarms.rang();
    await Promise.all(this.#home.deliveries().map((delivery) => this.#deliver(delivery)));
    await this.#askAll(Date.now());
    await this.#endEvent(Date.now());
  }

  /** Makes a delivery, again and again until it succeeds; the alarm goes on after that time. */
  async #insist(first: Delivery, endsAtMs: number): Promise<void> {
    let pauseMs: number = limits.orderRetryMs;
    let delivery: Delivery | undefined = first;
    while (delivery !== undefined) {
      if (!(await this.#deliver(delivery))) {
        if (Date.now() + pauseMs >= endsAtMs) return;
        await pause(pauseMs);
        pauseMs *= 2;
      }
      delivery = this.#home.again(delivery);
    }
  }

  /** Makes a delivery once. @returns whether the holder has carried it out */
  async #deliver(delivery: Delivery): Promise<boolean> {
    const answer = await carryOut(this.env, delivery.holder, delivery.user, delivery.orders);
    this.#home.answered(delivery, answer);
    // The user may be offline now.
    if (this.#events !== undefined) await this.#endEvent(Date.now());
    return answer !== undefined && answer.failed !== true;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** The seconds after which a backend should ask again whether an order has been carried out. */
const retryAfterSeconds = 5;
