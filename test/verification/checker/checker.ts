import { Records } from "../../support/records.ts";
import { Approvals } from "./approvals.ts";
import { Banks } from "./bank/banks.ts";
import { Changes } from "./changes/changes.ts";
import { ChannelRecord } from "./channel-record.ts";
import { checkOverdue } from "./overdue.ts";
import { checkAbsence, checkChannel, checkEnd, checkUnplaced } from "./final-checks.ts";
import type {
  ChannelOpened,
  Delivered,
  Detached,
  HistoryEvent,
  StreamForgotten,
  Subscribed,
} from "./history-event.ts";
import { Cursors } from "./cursors/cursors.ts";
import { Growth } from "./growth/growth.ts";
import { Maps } from "./maps/maps.ts";
import { takePositioned } from "./deliveries/positioned-deliveries.ts";
import { comparePresence } from "./presence.ts";
import { acknowledge, decide, invoke, leaveOpen, refuse } from "./publishes.ts";
import { begin, end, type CheckContext } from "./subscribe-replies.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { takeUnpositioned } from "./deliveries/unpositioned-deliveries.ts";
import type { CheckResult } from "./check-result.ts";
import { ToldEvents } from "./told-events.ts";
import { UserOrders } from "./user-orders.ts";
import { Violations } from "./violations.ts";

type PublishEvent = Extract<HistoryEvent, { readonly f: "publish" }>;

/** Checks a history, event by event, for losses, duplicates, wrong order, forgotten state and invented publications. */
export class Checker {
  readonly #promptMicroseconds: number;
  readonly #overdueMicroseconds: number;
  readonly #violations = new Violations();
  readonly #userOrders = new UserOrders(this.#violations);
  readonly #approvals = new Approvals(this.#violations);
  readonly #cursors = new Cursors(this.#violations);
  readonly #told = new ToldEvents(this.#violations, this.#cursors);
  readonly #maps = new Maps(this.#violations);
  readonly #growth = new Growth(this.#violations);
  readonly #banks = new Banks(this.#violations);
  readonly #changes = new Changes(this.#violations);
  readonly #channels = new Records((name) => new ChannelRecord(name));
  /** Processes with an event about a subscription. Replies to their publishes carry no position. */
  readonly #clients = new Set<string>();
  readonly #faults = new Map<string, number>();
  readonly #recoveryTimes: number[] = [];
  readonly #counts = {
    deliveries: 0,
    published: 0,
    recoveries: 0,
    failedRecoveries: 0,
    signals: 0,
    presenceChecks: 0,
  };
  #number = 0;
  #time = 0;
  #isSettled = false;

  /**
   * @param promptMicroseconds how late an effect may come after its request or its cause: an answer, a removal, the
   *   catching up of a gateway, the aftermath of a crash (rules B4 and L4)
   * @param overdueMicroseconds how long a known publication may stay undelivered to a subscriber that was subscribed
   *   all the time
   */
  constructor(promptMicroseconds = 10_000_000, overdueMicroseconds = Infinity) {
    this.#promptMicroseconds = promptMicroseconds;
    this.#overdueMicroseconds = overdueMicroseconds;
  }

  /** Takes the next event. Events come in the order of their times. */
  take(event: HistoryEvent): void {
    this.#number++;
    this.#time = event.time;
    if (event.f === "deliver") this.#deliver(event);
    else this.#takeOther(event);
  }

  /** Ends the check and gives its result. No event may follow. */
  finish(): CheckResult {
    for (const channel of this.#channels.values()) {
      for (const subscription of channel.subscriptions.values()) {
        if (this.#isSettled) {
          checkAbsence(channel, subscription, this.#time, this.#violations);
        }
        this.#end(channel, subscription, this.#time);
      }
      checkUnplaced(channel, this.#clients, this.#isSettled, this.#time, this.#violations);
      checkChannel(channel, this.#time, this.#promptMicroseconds, this.#violations);
    }
    this.#told.finish(this.#channels, this.#time);
    this.#maps.finish(this.#isSettled, this.#time);
    this.#cursors.finish(this.#channels, this.#told.mayMiss, this.#time);
    this.#growth.finish(this.#isSettled, this.#time);
    this.#banks.finish(this.#time);
    const maps = this.#maps.counts;
    return {
      violations: this.#violations.list,
      violationCounts: this.#violations.counts,
      lossCounts: this.#violations.lossCounts,
      counts: {
        ...this.#counts,
        ...this.#countPublishes(),
        deliveries: this.#counts.deliveries + maps.deliveries,
        mapStates: maps.states,
        mapChanges: maps.changes,
        growth: this.#growth.counts,
        banks: this.#banks.counts,
        changes: this.#changes.counts,
        channels: this.#channels.size,
        ...this.#cursors.counts,
        orders: this.#userOrders.acknowledged,
        calls: this.#approvals.calls,
        repeatedEvents: this.#told.repeated,
      },
      hookAnswers: this.#approvals.answers,
      events: this.#told.types,
      faults: this.#faults,
      recoveryTimes: this.#recoveryTimes,
    };
  }

  #deliver(delivered: Delivered): void {
    this.#counts.deliveries++;
    const channel = this.#channels.of(delivered.channel);
    const subscription = channel.subscriptions.of(delivered.process);
    const published = channel.publications.get(delivered.value);
    this.#userOrders.deliver(delivered, published?.invokedTime, subscription.sinceTime);
    if (!subscription.isAttached) {
      const { process, time, value, offset } = delivered;
      const at = offset === undefined ? "" : ` at ${offset}`;
      const text = `${process} received ${value}${at} without being subscribed`;
      this.#violations.add({ kind: "stray", channel: channel.name, process, time, text });
    } else if (subscription.stream === undefined) {
      takeUnpositioned(
        channel,
        subscription,
        delivered,
        this.#promptMicroseconds,
        this.#violations,
      );
    } else {
      this.#cursors.deliver(delivered, subscription.stream.epoch);
      takePositioned(channel, subscription, subscription.stream, delivered, this.#violations);
    }
  }

  #takeOther(event: Exclude<HistoryEvent, Delivered>): void {
    switch (event.f) {
      case "channel":
        this.#open(event);
        break;
      case "publish":
        this.#publish(event);
        break;
      case "subscribe":
        this.#subscribe(event);
        break;
      case "signal":
        this.#counts.signals++;
        this.#detach({ ...event, f: "detach" });
        break;
      case "detach":
        this.#detach(event);
        break;
      case "forget":
        this.#forget(event);
        break;
      case "crash":
        this.#channels.of(event.channel).crashes.push(event.time);
        break;
      case "settled":
        this.#isSettled = true;
        this.#cursors.settle();
        break;
      case "presence":
        this.#counts.presenceChecks++;
        this.#told.present(event);
        comparePresence(this.#channels.of(event.channel), event, this.#violations);
        break;
      case "order":
        this.#userOrders.order(event);
        break;
      case "connect":
        this.#userOrders.connection(event);
        if (event.type === "invoke") break;
        this.#approvals.connect(event);
        this.#told.connect(event);
        this.#cursors.connect(event);
        break;
      case "hook":
        this.#approvals.answer(event);
        if (event.hook === "publish")
          decide(this.#channels.of(event.channel ?? ""), event, this.#violations);
        break;
      case "disconnect":
        this.#told.disconnect(event);
        break;
      case "events":
        this.#told.want(event);
        break;
      case "event":
        this.#told.take(event);
        break;
      case "told":
        this.#told.settle(event);
        break;
      case "map":
      case "map-change":
      case "map-subscribe":
      case "map-deliver":
      case "map-end":
      case "map-forget":
      case "map-read":
        this.#maps.take(event);
        break;
      case "cursors":
      case "member":
      case "audience":
      case "pong":
      case "mark":
      case "unread":
      case "delivered":
      case "receipts":
      case "receipt":
      case "receipts-end":
      case "marks":
      case "forget-user":
        this.#cursors.take(event);
        break;
      case "append":
      case "text-remove":
      case "text-follow":
      case "text-show":
      case "text-leave":
      case "text-unusable":
      case "text-read":
        this.#growth.take(event);
        break;
      case "bank":
      case "transfer":
      case "promise":
      case "statement":
        this.#banks.take(event);
        break;
      case "change":
      case "change-follow":
      case "change-show":
      case "change-leave":
      case "change-read":
        this.#changes.take(event);
        break;
      case "call":
        this.#approvals.call(event);
        break;
      case "fault":
        if (event.type === "info") {
          this.#faults.set(event.kind, (this.#faults.get(event.kind) ?? 0) + 1);
        }
        break;
    }
  }

  #open({ channel, recovery, recoverable }: ChannelOpened): void {
    const record = this.#channels.of(channel);
    record.recovery = recovery;
    record.recoverable = recoverable;
  }

  #publish(event: PublishEvent): void {
    const channel = this.#channels.of(event.channel);
    switch (event.type) {
      case "invoke":
        if (invoke(channel, event, this.#number)) this.#counts.published++;
        this.#cursors.publish(event);
        break;
      case "ok":
        acknowledge(channel, event, this.#judging());
        break;
      case "fail":
        refuse(channel, event, this.#violations);
        break;
      case "info":
        leaveOpen(channel, event);
        break;
    }
  }

  #subscribe(reply: Subscribed): void {
    this.#clients.add(reply.process);
    const channel = this.#channels.of(reply.channel);
    const subscription = channel.subscriptions.of(reply.process);
    const { detachedTime } = subscription;
    this.#approvals.subscribe(reply);
    this.#told.subscribe(reply);
    this.#cursors.subscribe(reply);
    if (reply.recovered) this.#counts.recoveries++;
    else if (reply.recovering) this.#counts.failedRecoveries++;
    if (reply.recovered && reply.recovering && detachedTime !== undefined) {
      this.#recoveryTimes.push(reply.time - detachedTime);
    }
    begin(channel, subscription, reply, this.#judging());
  }

  #detach({ channel: name, process, time, forgets = false }: Omit<Detached, "type">): void {
    this.#clients.add(process);
    this.#cursors.detach(name, process);
    const channel = this.#channels.of(name);
    const subscription = channel.subscriptions.get(process);
    if (subscription === undefined) return;
    this.#end(channel, subscription, time);
    if (!forgets) return;
    subscription.hasLeft = true;
    subscription.stream = undefined;
  }

  #end(channel: ChannelRecord, subscription: SubscriptionRecord, time: number): void {
    if (this.#isSettled) checkEnd(channel, subscription, time, this.#violations);
    else checkOverdue(channel, subscription, time, this.#overdueMicroseconds, this.#violations);
    end(channel, subscription, time, this.#violations);
  }

  #forget({ channel: name, time, what }: StreamForgotten): void {
    const channel = this.#channels.of(name);
    const { stream } = channel;
    channel.forgottenTime = time;
    if (what === "stream") {
      channel.streamForgottenTime = time;
      channel.newEpochsDue++;
    } else if (stream !== undefined) {
      channel.removals.push({ time, stream, upTo: stream.top });
    }
  }

  #judging(): CheckContext {
    return {
      number: this.#number,
      promptMicroseconds: this.#promptMicroseconds,
      overdueMicroseconds: this.#overdueMicroseconds,
      violations: this.#violations,
    };
  }

  #countPublishes(): {
    readonly acknowledged: number;
    readonly refused: number;
    readonly unknown: number;
    readonly unknownReceived: number;
    readonly subscribers: number;
  } {
    const counts = { acknowledged: 0, refused: 0, unknown: 0, unknownReceived: 0, subscribers: 0 };
    for (const channel of this.#channels.values()) {
      counts.subscribers += channel.subscriptions.size;
      for (const { outcome, receivedBy } of channel.publications.values()) {
        if (outcome === "acknowledged") counts.acknowledged++;
        else if (outcome === "refused") counts.refused++;
        else {
          counts.unknown++;
          if (receivedBy !== undefined) counts.unknownReceived++;
        }
      }
    }
    return counts;
  }
}
