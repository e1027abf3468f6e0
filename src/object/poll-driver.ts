import type { Channel } from "../channel/channel.ts";
import type { SharedPollOptions } from "../config/config.ts";
import type { HookAnswer, Hooks } from "../features/hooks/hooks.ts";
import { parsePollResult, type PollAnswer, pollRequestBody } from "../features/hooks/poll.ts";
import { limits } from "../limits.ts";
import type { PollDelivery, PollRequest, SharedPoll } from "../shared-poll/shared-poll.ts";
import { NextTimer } from "./alarm-schedule.ts";
import { answerOf } from "./object-call.ts";
import type { Platform } from "./platform.ts";

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
    this.#timer = new NextTimer(setup.platform, () => setup.endEvent(setup.platform.nowMs()));
  }

  /** Asks and calls what is due. To be called at the end of each event. */
  settle(nowMs: number): void {
    const { poll } = this.#setup;
    for (let next = poll.ask(nowMs); next !== undefined; next = poll.ask(nowMs))
      this.#ask(next, nowMs);
    for (const delivery of poll.deliveries(nowMs)) this.#deliver(delivery);
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
    if (isFailure && !this.#failing)
      this.#setup.platform.log("warn", `the backend of a shared poll failed: ${read}`);
    this.#failing = isFailure;
    return isFailure ? undefined : read;
  }

  #deliver(delivery: PollDelivery): void {
    const { platform, called, poll, endEvent } = this.#setup;
    const { gateway, batch } = delivery;
    called();
    platform.call("polled", gateway, [batch], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      const isBusy = reply.outcome === "failed" && reply.overloaded;
      const failed = isBusy ? ({ outcome: "busy" } as const) : "failed";
      poll.delivered(delivery, answerOf(reply) ?? failed, nowMs);
      endEvent(nowMs);
    });
  }
}

/** Undefined unless the channel is a shared poll. */
export function pollDriver(
  { name, sharedPoll: poll, options }: Channel,
  hooks: Hooks | undefined,
  object: Pick<PollDriverSetup, "platform" | "called" | "endEvent">,
): PollDriver | undefined {
  if (poll === undefined || options.sharedPoll === undefined || hooks === undefined)
    return undefined;
  return new PollDriver({ ...object, channel: name, poll, options: options.sharedPoll, hooks });
}

interface PollDriverSetup {
  readonly channel: string;
  readonly poll: SharedPoll;
  readonly options: SharedPollOptions;
  readonly hooks: Pick<Hooks, "ask">;
  readonly platform: Pick<Platform, "after" | "nowMs" | "call" | "log">;
  /** Called before each call to another object. */
  readonly called: () => void;
  readonly endEvent: (nowMs: number) => void;
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
