import type { CursorEvent } from "../checker/cursors/cursor-event.ts";
import type { Random } from "../../support/random.ts";
import { BackendLoad } from "./backend-load.ts";
import type { BackendAddress } from "./clients/backend-call.ts";
import { markedUsers, type ProvedCursors } from "./cursor-scenario.ts";
import { microseconds } from "./history/clock.ts";
import type { Recorder } from "./history/recorder.ts";

/**
 * A backend that marks what users have read, asks what is unread and what has arrived, and who the members of audiences are,
 * one call after the other. It repeats none.
 */
export class CursorLoad extends BackendLoad {
  readonly #all: readonly ProvedCursors[];
  /** The newest position of each channel, as the backend was told. */
  readonly #tops = new Map<string, { readonly epoch: string; readonly offset: number }>();
  #count = 0;

  constructor(
    backend: BackendAddress,
    all: readonly ProvedCursors[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#all = all;
  }

  /** Makes the members that are named. To be called when clients are subscribed, and before faults begin. */
  async prepare(): Promise<void> {
    for (const { channel, named } of this.#all) {
      for (const user of named) this.#record({ type: "invoke", f: "member", channel, user });
      if (named.length > 0)
        await this.calls.untilAnswered("add_audience", { channel, users: named });
      await this.#list(channel);
    }
  }

  protected override loops(): readonly Promise<void>[] {
    return this.#all.map(({ channel, users }) =>
      this.steadily(50, 500, () => this.#askOnce(channel, this.random.pick(users))),
    );
  }

  /** Asks once more about everybody, once everything has settled. */
  async read(): Promise<void> {
    for (const { channel, users } of this.#all) {
      await this.#list(channel);
      for (const user of users) {
        await this.#askUnread(channel, user);
        await this.#askDelivered(channel, user);
      }
    }
    this.throwFailures();
  }

  async #askOnce(channel: string, user: string): Promise<void> {
    const roll = this.random.next();
    if (roll < 0.05) await this.#list(channel);
    else if (roll < 0.45) await this.#askDelivered(channel, user);
    else if (roll < 0.75 || !markedUsers.includes(user)) await this.#askUnread(channel, user);
    else await this.#mark(channel, user);
  }

  async #list(channel: string): Promise<void> {
    const called = await this.calls.call("audience", { channel });
    if (called.outcome === "wrong") this.failures.push(`audience of ${channel}: ${called.problem}`);
    if (called.outcome !== "result") return;
    const { users = [] }: { readonly users?: readonly string[] } = called.result;
    this.#record({ type: "ok", f: "audience", channel, users });
  }

  /** Mostly marks some of the newest publications less, so that many marks come late. */
  async #mark(channel: string, user: string): Promise<void> {
    const top = this.#tops.get(channel);
    if (top === undefined) return;
    const offset = Math.max(0, top.offset - this.random.between(0, 8));
    const mark = { f: "mark", channel, user, call: this.#next() } as const;
    const asked = { epoch: top.epoch, offset, own: false } as const;
    this.#record({ ...mark, ...asked, type: "invoke" });
    const { epoch } = top;
    await this.#ask("mark_read", { channel, user, offset, epoch }, mark, (result) => {
      const answer: MarkResult = Object(result);
      this.#record({ ...mark, ...answer, type: "ok" });
    });
  }

  async #askUnread(channel: string, user: string): Promise<void> {
    const count = { f: "unread", channel, user, call: this.#next() } as const;
    this.#record({ ...count, type: "invoke" });
    await this.#ask("unread", { user, channels: [channel] }, count, (result) => {
      const { channels }: UnreadResults = Object(result);
      const answer = channels[channel];
      if (answer === undefined || "error" in answer) {
        this.#record({ ...count, type: "info" });
        return;
      }
      const { epoch, offset } = answer;
      if (epoch !== "") this.#tops.set(channel, { epoch, offset });
      this.#record({ ...count, ...answer, type: "ok" });
    });
  }

  async #askDelivered(channel: string, user: string): Promise<void> {
    const question = { f: "delivered", channel, user, call: this.#next() } as const;
    this.#record({ ...question, type: "invoke" });
    await this.#ask("delivered", { user, channel }, question, (result) => {
      const { offset, since, epoch, by }: DeliveredResult = Object(result);
      const known = { ...(since !== undefined && { since }), ...(by !== undefined && { by }) };
      this.#record({ ...question, epoch, offset, ...known, type: "ok" });
    });
  }

  async #ask(
    method: string,
    command: object,
    asked: AskedCall,
    answered: (result: object) => void,
  ): Promise<void> {
    const called = await this.calls.call(method, command);
    if (called.outcome === "wrong")
      this.failures.push(`${method} of ${asked.user} on ${asked.channel}: ${called.problem}`);
    if (called.outcome === "result") answered(called.result);
    else this.#record({ ...asked, type: called.outcome === "refused" ? "fail" : "info" });
  }

  #next(): string {
    return `backend-${++this.#count}`;
  }

  #record(event: Unmarked<CursorEvent>): void {
    this.recorder.record({ ...event, process: "cursors", time: microseconds() });
  }
}

/** An event of any kind without its process and time. */
type Unmarked<Each> = Each extends CursorEvent ? Omit<Each, "process" | "time"> : never;

/** A call as all its events name it. */
interface AskedCall {
  readonly f: "mark" | "unread" | "delivered";
  readonly channel: string;
  readonly user: string;
  readonly call: string;
}

/** The results of `mark_read`, `unread` and `delivered`. */
interface MarkResult {
  readonly read: number;
  readonly epoch: string;
}

interface UnreadResults {
  readonly channels: Readonly<Record<string, UnreadResult | { readonly error: object }>>;
}

interface UnreadResult extends MarkResult {
  readonly unread: number;
  readonly offset: number;
}

interface DeliveredResult {
  readonly offset: number;
  readonly since?: number;
  readonly epoch: string;
  readonly by?: string;
}
