import type { SharedPollOptions } from "./config.ts";
import type { HookAnswer } from "../hooks/hooks.ts";
import { ObjectHooks } from "../hooks/approver.ts";
import { parsePollResult, type PollAnswer, pollRequestBody } from "./refresh-hook.ts";
import { pollLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import type { PollDelivery, PollRequest, SharedPoll } from "./shared-poll.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import { answerOrFailure } from "../../object/object-call.ts";

/**
 * Does for a channel what its `SharedPoll` decides: asks the backend, calls gateways, and keeps the object awake
 * by a timer for as long as somebody tracks a key (rules SP3 and SP10). A refresh interval is often shorter than the 10
 * s after which an object hibernates, and the values are in memory only; so a timer costs nothing more, while an alarm
 * for each interval would cost a row.
 */
export class PollDriver implements ObjectPart {
  readonly #poll: SharedPoll;
  readonly #options: SharedPollOptions;
  readonly #object: PartedChannelObject;
  readonly #timer: NextTimer;
  /** Whether the last question failed: then a further failure isn't logged. */
  #failing = false;

  constructor(poll: SharedPoll, options: SharedPollOptions, object: PartedChannelObject) {
    this.#poll = poll;
    this.#options = options;
    this.#object = object;
    const { platform } = object;
    this.#timer = new NextTimer(platform, (nowMs) => object.endEvent(nowMs));
  }

  /** Asks and calls what is due. To be called at the end of each event. */
  settle(nowMs: number): void {
    const poll = this.#poll;
    for (let next = poll.ask(nowMs); next !== undefined; next = poll.ask(nowMs))
      this.#ask(next, nowMs);
    for (const delivery of poll.deliveries(nowMs)) this.#deliver(delivery);
    const dueMs = poll.dueAtMs(nowMs);
    // The platform's timers take no time of more than 24 days, and the alarm rings after a minute anyway.
    const waitMs =
      dueMs === undefined
        ? undefined
        : Math.min(Math.max(0, dueMs - nowMs), pollLimits.pollAlarmMs);
    this.#timer.set(waitMs, nowMs);
  }

  dueAtMs(nowMs: number): number {
    return this.#poll.alarmAtMs(nowMs);
  }

  #ask(request: PollRequest, nowMs: number): void {
    const { channel } = this.#object;
    const body = pollRequestBody(channel.name, request.items);
    const question = {
      hook: "shared_poll_refresh",
      body,
      headers: [],
      asker: "object",
      // A question that isn't asked would have no outcome.
      isWanted: () => true,
    } as const;
    const hooks = this.#object.part(ObjectHooks);
    hooks?.ask(this.#options.refreshHook, question, nowMs, (answer, answeredMs) => {
      this.#poll.answered(request, this.#read(answer), answeredMs);
    });
  }

  #read(answer: HookAnswer): PollAnswer | undefined {
    const read = readAnswer(answer, this.#options);
    const isFailure = typeof read === "string";
    if (isFailure && !this.#failing)
      this.#object.platform.log("warn", `the backend of a shared poll failed: ${read}`);
    this.#failing = isFailure;
    return isFailure ? undefined : read;
  }

  #deliver(delivery: PollDelivery): void {
    const { platform, called, endEvent } = this.#object;
    const { gateway, batch } = delivery;
    called();
    platform.call("polled", gateway, [batch], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      this.#poll.delivered(delivery, answerOrFailure(reply), nowMs);
      endEvent(nowMs);
    });
  }
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
