import type { CheckResult, ViolationKind } from "../check-result.ts";
import type { ChannelRecord } from "../channel-record.ts";
import type {
  ConnectionAccepted,
  Delivered,
  EventTaken,
  PublishInvoked,
  Subscribed,
} from "../history-event.ts";
import type { Violations } from "../violations.ts";
import { CursorChannel } from "./cursor-channel.ts";
import { checkCounts } from "./counts.ts";
import type {
  AudienceListed,
  CursorEvent,
  DeliveredAnswered,
  MarkAnswered,
  MarkAsked,
  UnreadAnswered,
} from "./cursor-event.ts";
import { Receipts } from "./receipts.ts";
import { checkUnseen } from "./unseen.ts";
import type { UserCursor } from "./user-cursor.ts";

type CursorCounts = Pick<
  CheckResult["counts"],
  "marks" | "unreadCounts" | "arrivals" | "receipts" | "receiptStates"
>;

type CursorCallEvent = Extract<CursorEvent, { readonly call: string }>;

/**
 * Checks what is said of users' marks, of what is unread, of what has arrived and of what wasn't seen, and what receipts show
 * (the rules CU), against what clients have received and what was marked and published.
 */
export class Cursors {
  readonly #violations: Violations;
  readonly #receipts: Receipts;
  readonly #channels = new Map<string, CursorChannel>();
  /** The users of clients. */
  readonly #users = new Map<string, string>();
  /** When marks were asked for and questions asked that aren't answered, µs. */
  readonly #askedTimes = new Map<string, number>();
  #isSettled = false;
  /** Answers that were compared. */
  readonly #answers = { marks: 0, unreadCounts: 0, arrivals: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
    this.#receipts = new Receipts(violations);
  }

  /** What was compared. */
  get counts(): CursorCounts {
    return { ...this.#answers, ...this.#receipts.counts };
  }

  take(event: CursorEvent): void {
    if (event.f === "cursors") {
      this.#channels.set(event.channel, new CursorChannel(event));
      return;
    }
    const channel = this.#channels.get(event.channel);
    if (channel === undefined) {
      const { process, time, f } = event;
      this.#add("invented", event.channel, { process, time }, `${f} of a channel without cursors`);
      return;
    }
    switch (event.f) {
      case "member":
        channel.mayBeMembers.add(event.user);
        break;
      case "audience":
        this.#list(channel, event);
        break;
      case "pong":
        channel.subscriptions.get(event.process)?.pongs.push(event.time);
        break;
      case "mark":
      case "unread":
      case "delivered":
        this.#takeCall(channel, event);
        break;
      case "receipts":
      case "receipt":
      case "receipts-end":
      case "marks":
      case "forget-user":
        this.#receipts.take(channel, event);
        break;
    }
  }

  #takeCall(channel: CursorChannel, event: CursorCallEvent): void {
    if (event.type === "invoke") {
      this.#askedTimes.set(event.call, event.time);
      if (event.f === "mark") this.#ask(channel, event);
      return;
    }
    if (event.type === "ok")
      this.#answer(channel, event, this.#askedTimes.get(event.call) ?? event.time);
    this.#askedTimes.delete(event.call);
  }

  /** A client was let in. */
  connect({ process, user }: ConnectionAccepted): void {
    this.#users.set(process, user);
  }

  publish({ channel, process, value }: PublishInvoked): void {
    const user = this.#users.get(process);
    if (user !== undefined) this.#channels.get(channel)?.publishers.set(value, user);
  }

  subscribe({ channel: name, process }: Subscribed): void {
    const channel = this.#channels.get(name);
    if (channel === undefined) return;
    channel.begin(process, this.#users.get(process) ?? "");
  }

  /** A client has received a publication of an epoch. */
  deliver({ channel: name, process, time, offset = 0 }: Delivered, epoch: string): void {
    const channel = this.#channels.get(name);
    const subscription = channel?.subscriptions.get(process);
    if (channel === undefined || subscription === undefined) return;
    channel.user(subscription.user, epoch).arrivals.add(offset, { time, subscription });
  }

  /** A client's subscription has ended. */
  detach(channel: string, process: string): void {
    this.#channels.get(channel)?.subscriptions.delete(process);
  }

  /** A backend is told that a user hasn't seen publications, or has seen those of before. */
  told(event: EventTaken): void {
    const { channel: name = "", user = "", epoch = "", from = 0, to = 0 } = event;
    const channel = this.#channels.get(name);
    if (channel === undefined) {
      this.#add("mistold", name, event, `${event.event} of a channel without cursors`);
      return;
    }
    const cursor = channel.user(user, epoch);
    if (event.event === "seen") {
      this.#see(channel, cursor, event);
      return;
    }
    const before = cursor.unseen.find((one) => from <= (one.to ?? 0) && (one.from ?? 0) <= to);
    if (before !== undefined) {
      const twice = `${user} was said not to have seen ${from} to ${to}, and ${before.from} to ${before.to} before`;
      this.#add("mistold", name, event, twice);
    }
    cursor.unseen.push(event);
    cursor.outstanding = { from: cursor.outstanding?.from ?? from, to };
  }

  /** All faults are over, and nothing is published any more. */
  settle(): void {
    this.#isSettled = true;
  }

  /**
   * Ends the check.
   *
   * @param mayMiss whether a backend may not have been told of everything
   */
  finish(channels: ReadonlyMap<string, ChannelRecord>, mayMiss: boolean, time: number): void {
    for (const channel of this.#channels.values()) {
      this.#receipts.finish(channel);
      const record = channels.get(channel.name);
      if (record === undefined) continue;
      checkCounts(channel, record, this.#violations);
      checkUnseen({ channel, record, mayMiss, time }, this.#violations);
    }
  }

  /** Who is a member stays one, and in the end everybody is who subscribes (rules CU20 and CU22). */
  #list(channel: CursorChannel, event: AudienceListed): void {
    const { name, members, mayBeMembers, opened, subscriptions } = channel;
    const listed = new Set(event.users);
    for (const user of listed) {
      if (!members.has(user)) members.set(user, event.time);
      if (!mayBeMembers.has(user))
        this.#add("invented", name, event, `${user} is a member, and nobody has made the user one`);
    }
    for (const user of members.keys())
      if (!listed.has(user)) this.#add("forgotten", name, event, `${user} is no member any more`);
    if (!this.#isSettled || opened.audience === "named") return;
    for (const { user } of subscriptions.values())
      if (!listed.has(user))
        this.#add("absent", name, event, `${user} subscribes, and is no member`);
  }

  #ask(channel: CursorChannel, { user, epoch, offset, own, time }: MarkAsked): void {
    const cursor = channel.user(user, epoch);
    cursor.asked.reach(offset, time);
    if (own) cursor.claimed.reach(offset, time);
  }

  #answer(
    channel: CursorChannel,
    event: MarkAnswered | UnreadAnswered | DeliveredAnswered,
    askedTime: number,
  ): void {
    const cursor = channel.user(event.user, event.epoch);
    switch (event.f) {
      case "mark":
        this.#answers.marks++;
        this.#compareMark(channel, cursor, event, askedTime);
        cursor.marked.reach(event.read, event.time);
        break;
      case "unread":
        this.#answers.unreadCounts++;
        this.#compareMark(channel, cursor, event, askedTime);
        channel.counts.push({ answer: event, isSettled: this.#isSettled });
        break;
      case "delivered":
        this.#answers.arrivals++;
        this.#compareArrivals(channel, cursor, event, askedTime);
        break;
    }
  }

  /** No answer is before a mark of which somebody was told before the question, or beyond what was asked for. */
  #compareMark(
    { name }: CursorChannel,
    { user, marked, asked }: UserCursor,
    event: MarkAnswered | UnreadAnswered,
    askedTime: number,
  ): void {
    const { read } = event;
    const known = marked.before(askedTime);
    if (read < known)
      this.#add("regressed", name, event, `${user} is marked at ${read}, after ${known}`);
    else if (event.f === "unread" && event.reset === true && known > 0)
      this.#add("regressed", name, event, `${user} is said to have marked nothing, after ${known}`);
    // Without a mark, a count begins where the user became a member (rule CU8).
    const isMark = event.f === "mark" || known > 0;
    if (isMark && read > asked.offset)
      this.#add(
        "invented",
        name,
        event,
        `${user} is marked at ${read}, of ${asked.offset} asked for`,
      );
  }

  /** Everything that is said to have arrived has been received, or a client of the user has said so. */
  #compareArrivals(
    { name }: CursorChannel,
    cursor: UserCursor,
    event: DeliveredAnswered,
    askedTime: number,
  ): void {
    const { user, deliveredTo, claimed, arrivals } = cursor;
    const { since = 0, offset, by = "" } = event;
    const known = deliveredTo.before(askedTime);
    if (offset < known)
      this.#add("regressed", name, event, `${user} is said to have got ${offset}, after ${known}`);
    const missing = arrivals.firstMissing(Math.max(since, claimed.offset), offset);
    if (missing !== undefined) {
      const text = `${user} is said to have got ${since} to ${offset} by ${by}, and no client has received ${missing}`;
      this.#add("unproven", name, event, text);
    }
    deliveredTo.reach(offset, event.time);
    cursor.delivered.push(event);
  }

  /** What is said to be seen is all that was said to be unseen, and it has been received or read. */
  #see({ name }: CursorChannel, cursor: UserCursor, event: EventTaken): void {
    const { user, outstanding, arrivals, asked } = cursor;
    const { from = 0, to = 0 } = event;
    cursor.outstanding = undefined;
    if (outstanding?.from !== from || outstanding.to !== to) {
      const was =
        outstanding === undefined ? "nothing" : `${outstanding.from} to ${outstanding.to}`;
      const text = `${user} is said to have seen ${from} to ${to}, and ${was} was unseen`;
      this.#add("mistold", name, event, text);
    }
    const missing = arrivals.firstMissing(Math.max(from - 1, asked.offset), to);
    if (missing === undefined) return;
    const text = `${user} is said to have seen ${from} to ${to}, and has neither got nor read ${missing}`;
    this.#add("mistold", name, event, text);
  }

  #add(
    kind: ViolationKind,
    channel: string,
    { process, time }: { readonly process: string; readonly time: number },
    text: string,
  ): void {
    this.#violations.add({ kind, channel, process, time, text });
  }
}
