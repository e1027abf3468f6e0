import { Checker } from "./checker.ts";
import type {
  ChannelOpened,
  Delivered,
  ConnectionAccepted,
  HistoryEvent,
  OrderEvent,
  OrderMethod,
  Subscribed,
} from "./history-event.ts";
import type { CheckResult } from "./check-result.ts";

type PartialEvent = HistoryEvent extends infer One
  ? One extends HistoryEvent
    ? Omit<One, "time">
    : never
  : never;

/** What orders may say of a client's token. */
type TokenOfClient = Pick<ConnectionAccepted, "token" | "issuedAt">;

/** Builds histories of one channel for tests, with one millisecond between events. */
export class HistoryBuilder {
  readonly happenings: HistoryEvent[] = [];
  readonly channel: string;
  readonly #hasOffsets: boolean;
  #time = 0;
  #top = 0;
  epoch = "e1";

  constructor(recovery: ChannelOpened["recovery"] = "stream", recoverable?: number) {
    this.channel = `${recovery}:a`;
    this.#hasOffsets = recovery !== "none";
    const opened = { type: "info", f: "channel", channel: this.channel, recovery } as const;
    this.add({
      ...opened,
      process: "prove",
      ...(recoverable === undefined ? {} : { recoverable }),
    });
  }

  /** Adds an event of any kind. */
  add(reported: PartialEvent): this {
    this.#time += 1000;
    this.happenings.push({ ...reported, time: this.#time });
    return this;
  }

  pass(seconds: number): this {
    this.#time += seconds * 1_000_000;
    return this;
  }

  invoke(value: string, process = "publisher"): this {
    return this.add({ process, type: "invoke", f: "publish", channel: this.channel, value });
  }

  /** Acknowledges a publish. With history the publication has the next offset, unless another one is given. */
  acknowledge(value: string, process = "publisher", offset = this.#top + 1): this {
    this.#top = Math.max(this.#top, offset);
    const position = this.#hasOffsets ? { offset, epoch: this.epoch } : {};
    const { channel } = this;
    return this.add({ process, type: "ok", f: "publish", channel, value, ...position });
  }

  /** Acknowledges a publish without a position, although the publication has the next offset. */
  acknowledgeUnplaced(value: string, process = "publisher"): this {
    this.#top++;
    return this.add({ process, type: "ok", f: "publish", channel: this.channel, value });
  }

  refuse(value: string): this {
    const { channel } = this;
    return this.add({ process: "publisher", type: "fail", f: "publish", channel, value });
  }

  leaveOpen(value: string): this {
    const { channel } = this;
    return this.add({ process: "publisher", type: "info", f: "publish", channel, value });
  }

  /** Publishes values, one acknowledged before the next is invoked. */
  publish(...values: readonly string[]): this {
    for (const value of values) this.invoke(value).acknowledge(value);
    return this;
  }

  subscribe(process: string, reply: Partial<Subscribed> = {}): this {
    const position = this.#hasOffsets ? { epoch: this.epoch, offset: this.#top } : {};
    return this.add({
      process,
      type: "ok",
      f: "subscribe",
      channel: this.channel,
      client: `id-${process}`,
      recovering: false,
      recovered: false,
      ...position,
      ...reply,
    });
  }

  /** Subscribes with a reply that has no position, or an epoch alone. */
  subscribeUnplaced(process: string, position: { readonly epoch?: string } = {}): this {
    return this.add({
      process,
      type: "ok",
      f: "subscribe",
      channel: this.channel,
      client: `id-${process}`,
      recovering: false,
      recovered: false,
      ...position,
    });
  }

  /** Recovers from an offset. */
  recover(process: string, offset: number, reply: Partial<Subscribed> = {}): this {
    return this.subscribe(process, { recovering: true, recovered: true, offset, ...reply });
  }

  /** Delivers values. With history, the first one has the given offset and the others follow. */
  deliver(process: string, offset: number | undefined, ...values: readonly string[]): this {
    values.forEach((value, index) => {
      const at: Partial<Delivered> = offset === undefined ? {} : { offset: offset + index };
      const { channel } = this;
      this.add({ process, type: "ok", f: "deliver", channel, value, ...at });
    });
    return this;
  }

  detach(process: string, forgets = false): this {
    return this.add({ process, type: "info", f: "detach", channel: this.channel, forgets });
  }

  signal(process: string, code = 2500): this {
    return this.add({ process, type: "info", f: "signal", channel: this.channel, code });
  }

  /** Removes the publications, or loses the stream, which then begins anew with another epoch. */
  forget(what: "publications" | "stream", epoch = this.epoch): this {
    if (what === "stream") this.#top = 0;
    this.epoch = epoch;
    return this.add({ process: "prove", type: "info", f: "forget", channel: this.channel, what });
  }

  /** A client of the user opens a connection, and the server accepts it. */
  connect(process: string, user: string, token: TokenOfClient = {}): this {
    return this.askToConnect(process, user).accept(process, user, token);
  }

  askToConnect(process: string, user: string): this {
    return this.add({ process, type: "invoke", f: "connect", user });
  }

  accept(process: string, user: string, token: TokenOfClient = {}): this {
    const accepted = { process, type: "ok", f: "connect", user } as const;
    return this.add({ ...accepted, client: `id-${process}`, ...token });
  }

  /** A backend gives an order, which is acknowledged at once unless another outcome is given. */
  order(
    user: string,
    method: OrderMethod,
    outcome: "ok" | "fail" | "info" = "ok",
    about: Pick<OrderEvent, "token" | "issuedBefore" | "barredFor"> = {},
  ): this {
    const order = `order-${this.happenings.length}`;
    const names = method === "subscribe" || method === "unsubscribe";
    const channel = names ? { channel: this.channel } : {};
    const what = {
      process: "users",
      f: "order",
      order,
      user,
      method,
      ...channel,
      ...about,
    } as const;
    return this.add({ ...what, type: "invoke" }).add({ ...what, type: outcome });
  }

  crash(): this {
    return this.add({ process: "prove", type: "info", f: "crash", channel: this.channel });
  }

  settle(): this {
    return this.add({ process: "prove", type: "info", f: "settled" });
  }

  presence(...clients: readonly string[]): this {
    const { channel } = this;
    return this.add({ process: "prove", type: "ok", f: "presence", channel, clients });
  }

  fault(kind: string): this {
    return this.add({ process: "prove", type: "invoke", f: "fault", kind, target: "t" }).add({
      process: "prove",
      type: "info",
      f: "fault",
      kind,
      target: "t",
    });
  }

  /** @param overdueMicroseconds as the checker takes it; by default the checker reports nothing as overdue */
  check(overdueMicroseconds?: number): CheckResult {
    return checkHistory(this.happenings, overdueMicroseconds);
  }

  /** The violations, each as kind, process and place. */
  violationLines(overdueMicroseconds?: number): readonly string[] {
    return this.check(overdueMicroseconds).violations.map(
      ({ kind, process, place = "", channel }) => {
        if (channel !== this.channel) throw new Error(`a violation on ${channel}`);
        return `${kind} ${process} ${place}`.trim();
      },
    );
  }
}

/** Checks a whole history. */
export function checkHistory(
  events: readonly HistoryEvent[],
  overdueMicroseconds?: number,
): CheckResult {
  const checker = new Checker(undefined, overdueMicroseconds);
  for (const event of events) checker.take(event);
  return checker.finish();
}
