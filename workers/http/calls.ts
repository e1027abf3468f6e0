import { CollectedAnswers, type CallOutcome } from "../../src/api/answers.ts";
import type { Entry, Refused } from "../../src/api/command.ts";
import { type ChannelCall, planCalls, CallQueue } from "../../src/api/calls.ts";
import type { ChannelCommand } from "../../src/contract/channel-call.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds, parseCallFailure, inTime } from "../platform/object-call.ts";
import type { Env } from "../platform/env.ts";

/** The collected answers to a request's calls, or the reason why no call was made. */
export type Called = { readonly outcome: "called"; readonly collected: CollectedAnswers } | Refused;

/**
 * Makes the calls of a request, with as many in flight as the queue allows (rule B4). Each call has
 * `limits.objectAnswerMs` from its own start, so that waiting for other calls doesn't shorten it. All calls together
 * have `limits.requestAnswerMs`, however many channels don't answer. A call that couldn't begin by then is answered
 * with an error. The time is enough for 1,000 channels that have to be woken, or for 300 of them if the platform allows
 * only 6 calls at a time.
 *
 * @param entries of the whole request
 * @param method of the request, for the log
 */
export async function callChannels(
  channels: Env["CHANNELS"],
  entries: readonly Entry[],
  method: string,
): Promise<Called> {
  const plan = planCalls(entries);
  if (plan.outcome === "refused") return plan;
  const collected = new CollectedAnswers(entries);
  const queue = new CallQueue(plan.calls);
  const endsAtMs = Date.now() + limits.requestAnswerMs;
  // A function of its own, so that the answers of a call can be collected as garbage during the next calls.
  const make = async (call: ChannelCall): Promise<void> => {
    const waitMs = Math.min(limits.objectAnswerMs, endsAtMs - Date.now());
    const outcome =
      waitMs > 0
        ? await callChannel(channels, call.channel, call.commands, method, waitMs)
        : notBegun;
    collected.add(call, outcome);
    queue.ended(call);
  };
  const proceed = async (): Promise<void> => {
    await Promise.all(
      queue.begin().map(async (call) => {
        await make(call);
        await proceed();
      }),
    );
  };
  await proceed();
  return { outcome: "called", collected };
}

/**
 * Calls one channel's object once. An overloaded object must not be called again at once, and after a failure it is
 * unknown whether the commands were carried out.
 *
 * @param method of the request, for the log
 * @param waitMs the time that the object has
 */
export async function callChannel(
  channels: Env["CHANNELS"],
  channel: string,
  commands: readonly ChannelCommand[],
  method: string,
  waitMs: number = limits.objectAnswerMs,
): Promise<CallOutcome> {
  try {
    return await inTime<CallOutcome>(
      channels.getByName(channel).execute(commands),
      waitMs,
      timeout,
    );
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) {
      return { outcome: "overloaded", retryAfterSeconds: overloadedRetrySeconds };
    }
    console.error(`call to a channel failed: method=${method} ${failure.summary}`);
    return { outcome: "failed" };
  }
}

const timeout: CallOutcome = { outcome: "timeout", retryAfterSeconds: overloadedRetrySeconds };
const notBegun: CallOutcome = { outcome: "not-begun", retryAfterSeconds: overloadedRetrySeconds };
