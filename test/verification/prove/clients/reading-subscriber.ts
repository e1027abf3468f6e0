import { State } from "centrifuge";
import type { WebSocket } from "ws";
import type { Random } from "../../../support/random.ts";
import { microseconds } from "../history/clock.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import { userOf } from "./endpoint.ts";
import { FollowedReceipts } from "./followed-receipts.ts";
import type { ClientsPlan, ReadingPlan, SubscriberPlan } from "./plan.ts";
import { parseError, type SdkSubscription, SdkSubscriber, socketClass } from "./sdk-subscriber.ts";

/**
 * An official client on channels that keep what their users have got and read. It marks what its program has got, asks what is
 * unread, may follow the receipts of its channels, and may leave for a while or for good. Of a client on a channel's own
 * address the pongs are recorded.
 */
export class ReadingSubscriber extends SdkSubscriber {
  readonly #reads: ReadingPlan;
  readonly #random: Random;
  readonly #user: string;
  readonly #receipts: readonly FollowedReceipts[];
  /** How far each channel is marked, as the client was told. */
  readonly #marked = new Map<string, number>();
  #calls = 0;
  #underWay = 0;
  #dueMs = 0;
  #leavesAtMs = Infinity;
  #isAway = false;
  #isSettling = false;

  constructor(
    plan: ClientsPlan,
    traits: SubscriberPlan,
    reads: ReadingPlan,
    random: Random,
    recorder: ClientRecorder,
  ) {
    super(plan, traits, random, recorder, pongSocketClass(plan, traits, recorder));
    this.#reads = reads;
    this.#random = random;
    this.#user = userOf(traits);
    const { follows = [] } = traits;
    this.#receipts = follows.map(
      (one) => new FollowedReceipts(this.client, one, this.process, recorder),
    );
  }

  override get subscribed(): number {
    return super.subscribed + this.#receipts.filter(({ isAttached }) => isAttached).length;
  }

  override get wanted(): number {
    return this.#isAway ? 0 : super.wanted + this.#receipts.length;
  }

  override get isPublishing(): boolean {
    return super.isPublishing || this.#underWay > 0;
  }

  override start(): void {
    for (const { subscription } of this.#receipts) subscription.subscribe();
    super.start();
  }

  override tick(nowMs: number): void {
    super.tick(nowMs);
    this.#leaveInTime(nowMs);
    const { everyMs } = this.#reads;
    const isConnected = this.client.state === State.Connected;
    if (everyMs === undefined || this.#underWay > 0 || !isConnected || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + this.#random.next() * 2 * everyMs;
    const attached = [...this.subscriptions.values()].filter(({ isAttached }) => isAttached);
    if (this.#isSettling) this.#markRest(attached);
    else if (attached.length > 0) this.#askOnce(this.#random.pick(attached));
  }

  override settle(): void {
    super.settle();
    this.#isSettling = true;
    this.#leavesAtMs = Infinity;
    if (!this.#isAway || this.#reads.leaves === "for good") return;
    this.#isAway = false;
    this.client.connect();
  }

  /** Some time after it is subscribed everywhere, the client may go. */
  #leaveInTime(nowMs: number): void {
    const { leaves } = this.#reads;
    if (leaves === undefined || this.#isAway || this.#isSettling) return;
    if (this.subscribed === this.wanted && this.#leavesAtMs === Infinity)
      this.#leavesAtMs = nowMs + staysMs;
    if (nowMs < this.#leavesAtMs) return;
    this.#isAway = true;
    this.client.disconnect();
    if (leaves === "for a while") return;
    for (const channel of this.subscriptions.keys()) {
      const left = { time: microseconds(), process: this.process, channel, forgets: true } as const;
      this.recorder.record({ ...left, type: "info", f: "detach" });
    }
    for (const receipts of this.#receipts) receipts.leave();
  }

  #askOnce(subscription: SdkSubscription): void {
    if (this.#random.chance(0.3)) {
      void this.#countUnread(subscription.subscription.channel);
      return;
    }
    // Some marks come late.
    const back = this.#random.chance(0.3) ? this.#random.between(1, 6) : 0;
    this.#mark(subscription, Math.max(0, subscription.position.offset - back));
  }

  /** In the end all is read that has arrived. */
  #markRest(attached: readonly SdkSubscription[]): void {
    const behind = attached.find(
      ({ subscription: { channel }, position }) =>
        (this.#marked.get(channel) ?? 0) < position.offset,
    );
    if (behind !== undefined) this.#mark(behind, behind.position.offset);
  }

  #mark({ subscription: { channel }, position: { epoch } }: SdkSubscription, offset: number): void {
    const mark = { f: "mark", channel, ...this.#who("mark") } as const;
    const asked = { epoch, offset, own: true } as const;
    this.recorder.record({ ...mark, ...asked, type: "invoke", time: microseconds() });
    void this.#call(mark, "dormouse.read", { channel, offset, epoch }, (data) => {
      const answer: MarkAnswer = Object(data);
      this.#marked.set(channel, answer.read);
      this.recorder.record({ ...mark, ...answer, type: "ok", time: microseconds() });
    });
  }

  async #countUnread(channel: string): Promise<void> {
    const count = { f: "unread", channel, ...this.#who("unread") } as const;
    this.recorder.record({ ...count, type: "invoke", time: microseconds() });
    await this.#call(count, "dormouse.unread", { channels: [channel] }, (data) => {
      const { channels }: UnreadAnswers = Object(data);
      const answer = channels[channel];
      if (answer === undefined) this.fail(`got no count of ${channel}`);
      else if ("error" in answer) this.#end(count, answer.error.code);
      else this.recorder.record({ ...count, ...answer, type: "ok", time: microseconds() });
    });
  }

  async #call(
    asked: AskedCall,
    method: string,
    data: object,
    answered: (data: unknown) => void,
  ): Promise<void> {
    this.#underWay++;
    try {
      const reply = await this.client.rpc(method, data);
      answered(reply.data);
    } catch (error) {
      this.#end(asked, parseError(error).code);
    }
    this.#underWay--;
  }

  /** A call has no result. Codes below 100 are the SDK's own; after 100 it may still be carried out. */
  #end(asked: AskedCall, code: number): void {
    const isRefused = refusals.has(code);
    if (code > 100 && !isRefused) this.fail(`couldn't ${asked.f} on ${asked.channel}: ${code}`);
    const type = isRefused ? "fail" : "info";
    this.recorder.record({ ...asked, type, time: microseconds() });
  }

  #who(what: string): Pick<AskedCall, "process" | "user" | "call"> {
    const { process } = this;
    return { process, user: this.#user, call: `${process}-${what}-${++this.#calls}` };
  }
}

/** The class of sockets which record that a client on a channel's own address answers a ping. */
function pongSocketClass(
  { hostHeader }: ClientsPlan,
  { process, endpoint, channels: [channel = ""] }: SubscriberPlan,
  recorder: ClientRecorder,
) {
  return class extends socketClass(hostHeader) {
    override send(data: Parameters<WebSocket["send"]>[0]): void {
      const answers = endpoint === "channel" && data === pong;
      if (answers)
        recorder.record({ time: microseconds(), process, type: "ok", f: "pong", channel });
      super.send(data);
    }
  };
}

/** The SDK's answer to a ping. */
const pong = "{}";

/** A call as all its events name it. */
interface AskedCall {
  readonly f: "mark" | "unread";
  readonly process: string;
  readonly channel: string;
  readonly user: string;
  readonly call: string;
}

/** The answers of `dormouse.read` and of `dormouse.unread`. */
interface MarkAnswer {
  readonly read: number;
  readonly epoch: string;
}

interface UnreadAnswers {
  readonly channels: Readonly<
    Record<string, UnreadAnswer | { readonly error: { readonly code: number } }>
  >;
}

interface UnreadAnswer extends MarkAnswer {
  readonly unread: number;
  readonly offset: number;
  readonly capped?: boolean;
  readonly reset?: boolean;
}

/** The client isn't subscribed any more and has marked nothing yet (rule CU7), or too much is asked at once. */
const refusals: ReadonlySet<number> = new Set([103, 111]);
/** How long a client stays that will leave. */
const staysMs = 6_000;
