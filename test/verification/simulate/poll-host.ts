import type { Channel } from "../../../src/channel/channel.ts";
import type { Config } from "../../../src/config/config.ts";
import type { PollBatch, PollBatchReply } from "../../../src/contract/poll-batch.ts";
import { parsePollResult, pollRequestBody } from "../../../src/hooks/poll.ts";
import { limits } from "../../../src/limits.ts";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import { type OwnTracking, ownTracking } from "../../../src/features/shared-polls/own-tracking.ts";
import type { PollDelivery, SharedPoll } from "../../../src/shared-poll/shared-poll.ts";
import { type Incarnation, NextTimer, TurnTimer } from "./incarnation.ts";
import { pollModeOf } from "./poll-kinds.ts";
import type { WorldContext } from "./world-context.ts";

/** The object of a shared poll. */
export interface PolledObject {
  readonly name: string;
  readonly nowMs: number;
  acted(): void;
}

/** Does for a simulated channel object what its `SharedPoll` decides, as the real object's `PollDriver` does. */
export class PollHost {
  readonly tracking: OwnTracking;
  readonly #poll: SharedPoll;
  readonly #object: PolledObject;
  readonly #context: WorldContext;
  readonly #incarnation: Incarnation;
  readonly #timer: NextTimer;
  readonly #sendTimer: TurnTimer;

  constructor(
    poll: SharedPoll,
    tracking: OwnTracking,
    object: PolledObject,
    context: WorldContext,
    incarnation: Incarnation,
  ) {
    this.#poll = poll;
    this.tracking = tracking;
    this.#object = object;
    this.#context = context;
    this.#incarnation = incarnation;
    this.#timer = new NextTimer(incarnation, () => object.acted());
    this.#sendTimer = new TurnTimer(incarnation, context.turns(object.name), () => {
      tracking.sendSlice();
      object.acted();
    });
  }

  /** Asks and calls what is due. */
  settle(): void {
    const { nowMs } = this.#object;
    for (let next = this.#poll.ask(nowMs); next !== undefined; next = this.#poll.ask(nowMs)) {
      const request = next;
      const body = pollRequestBody(this.#object.name, request.items);
      this.#context.polls.ask(this.#object.name, body, this.#incarnation, (result) => {
        this.#poll.answered(request, this.#read(result), this.#object.nowMs);
        this.#object.acted();
      });
    }
    for (const delivery of this.#poll.deliveries(nowMs)) this.#deliver(delivery);
    const dueMs = this.#poll.dueAtMs(nowMs);
    this.#timer.set(
      dueMs === undefined ? undefined : Math.min(Math.max(0, dueMs - nowMs), limits.pollAlarmMs),
    );
    this.tracking.settle(nowMs);
    if (this.tracking.sending) this.#sendTimer.set();
  }

  /** When the alarm has to ring, ms since 1970; Infinity for never. */
  alarmAtMs(): number {
    return this.#poll.alarmAtMs(this.#object.nowMs);
  }

  #read(result: string | undefined) {
    const text = result === undefined ? undefined : parseJsonText(result);
    if (text === undefined) return undefined;
    const read = parsePollResult(text, pollModeOf(this.#object.name) === "versioned");
    if (read.outcome === "invalid") throw new Error(`an answer can't be read: ${read.reason}`);
    return read.answer;
  }

  #deliver(delivery: PollDelivery): void {
    this.#context.network.call<PollBatch, PollBatchReply>({
      kind: "polled",
      from: this.#object.name,
      to: delivery.gateway,
      request: delivery.batch,
      incarnation: this.#incarnation,
      waitMs: limits.objectAnswerMs,
      carryOut: (batch, answer) => this.#context.gateway(delivery.gateway).polled(batch, answer),
      answered: (reply) => {
        this.#poll.delivered(delivery, reply ?? "failed", this.#object.nowMs);
        this.#object.acted();
      },
    });
  }
}

/** Undefined unless the channel is a shared poll. */
export function pollHost(
  channel: Channel,
  config: Config,
  object: PolledObject,
  context: WorldContext,
  incarnation: Incarnation,
): PollHost | undefined {
  const tracking = ownTracking(channel, config);
  return channel.sharedPoll === undefined || tracking === undefined
    ? undefined
    : new PollHost(channel.sharedPoll, tracking, object, context, incarnation);
}
