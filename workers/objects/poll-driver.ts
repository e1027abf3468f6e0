import type { SharedPollOptions } from "../../src/config/config.ts";
import type { PollBatchReply } from "../../src/contract/poll-batch.ts";
import type { HookAnswer, Hooks } from "../../src/hooks/hooks.ts";
import { parsePollResult, type PollAnswer, pollRequestBody } from "../../src/hooks/poll.ts";
import { limits } from "../../src/limits.ts";
import type { PollDelivery, PollRequest, SharedPoll } from "../../src/shared-poll/shared-poll.ts";
import { NextTimer } from "../platform/alarm-schedule.ts";

/**
 * Does for a channel what its {@link SharedPoll} decides: asks the backend, calls gateways, and keeps the object awake
 * by a timer for as long as somebody tracks a key (rules SP3 and SP10). A refresh interval is often shorter than the 10
 * s after which an object hibernates, and the values are in memory only; so a timer costs nothing more, while an alarm
 * for each interval would cost a row.
 */
export class PollDriver {
  readonly #setup: PollDriverSetup;
  readonly #timer: NextTimer;
  /** Whether the last question failed: then a further failure isn't logged. */
  #failing = false;

  constructor(setup: PollDriverSetup) {
    this.#setup = setup;
    this.#timer = new NextTimer(() => void setup.endEvent(Date.now()));
  }

  /** Asks and calls what is due. To be called at the end of each event. */
  settle(nowMs: number): void {
    const { poll } = this.#setup;
    for (let next = poll.ask(nowMs); next !== undefined; next = poll.ask(nowMs))
      this.#ask(next, nowMs);
    for (const delivery of poll.deliveries(nowMs)) void this.#deliver(delivery);
    const dueMs = poll.dueAtMs(nowMs);
    // The platform's timers take no time of more than 24 days, and the alarm rings after a minute anyway.
    const waitMs =
      dueMs === undefined ? undefined : Math.min(Math.max(0, dueMs - nowMs), limits.pollAlarmMs);
    this.#timer.set(waitMs, nowMs);
  }

  #ask(request: PollRequest, nowMs: number): void {
    const { channel, hooks, poll, options } = this.#setup;
    const body = pollRequestBody(channel, request.items);
    const question = {
      hook: "shared_poll_refresh",
      body,
      headers: [],
      asker: "object",
      // A question that isn't asked would have no outcome.
      isWanted: () => true,
    } as const;
    hooks.ask(options.refreshHook, question, nowMs, (answer, answeredMs) => {
      poll.answered(request, this.#read(answer), answeredMs);
    });
  }

  #read(answer: HookAnswer): PollAnswer | undefined {
    const read = readAnswer(answer, this.#setup.options);
    const isFailure = typeof read === "string";
    if (isFailure && !this.#failing) this.#setup.failed(read);
    this.#failing = isFailure;
    return isFailure ? undefined : read;
  }

  async #deliver(delivery: PollDelivery): Promise<void> {
    const { deliver, poll, endEvent } = this.#setup;
    const reply = await deliver(delivery);
    const nowMs = Date.now();
    poll.delivered(delivery, reply, nowMs);
    await endEvent(nowMs);
  }
}

interface PollDriverSetup {
  readonly channel: string;
  readonly poll: SharedPoll;
  readonly options: SharedPollOptions;
  readonly hooks: Pick<Hooks, "ask">;
  /** Calls a gateway, once. Never rejects. */
  readonly deliver: (delivery: PollDelivery) => Promise<PollBatchReply | "failed">;
  readonly endEvent: (nowMs: number) => Promise<void>;
  /** Takes the reason for which the backend can't be polled any more; it quotes nothing of what the backend wrote. */
  readonly failed: (reason: string) => void;
}

/** The answer, or the reason why there is none that can be used. */
function readAnswer(answer: HookAnswer, options: SharedPollOptions): PollAnswer | string {
  switch (answer.outcome) {
    case "result": {
      const read = parsePollResult(answer.result, options.mode === "versioned");
      return read.outcome === "invalid" ? `the result can't be used: ${read.reason}` : read.answer;
    }
    case "failed":
      return answer.reason;
    case "error":
    case "disconnect":
      return `the backend answered with ${answer.outcome === "error" ? "an error" : "a disconnect"}`;
  }
}
