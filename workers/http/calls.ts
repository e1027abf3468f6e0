import { CollectedAnswers, type CallOutcome } from "../../src/api/answers.ts";
import type { Entry, Refused } from "../../src/api/command.ts";
import { type ChannelCall, planCalls, CallQueue } from "../../src/api/calls.ts";
import type { ChannelCommand } from "../../src/contract/channel-call.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds, parseCallFailure, inTime } from "../platform/object-call.ts";
import type { Env } from "../platform/env.ts";

/** What a request's calls came to, or why none was made. */
export type Called = { readonly outcome: "called"; readonly collected: CollectedAnswers } | Refused;

/**
 * Makes a request's calls, as many at a time as its queue lets through. Each may take `limits.objectAnswerMs` from its
 * own start, so that a call doesn't pay for those it waited for; all of them together `limits.requestAnswerMs`, however
 * many channels are silent. What could not be begun by then is told so (rule B4). That is enough for 1,000 channels that
 * have to be woken; were the platform to let only 6 calls through at a time, for 300 of them.
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
  // A function of its own, so that nobody holds a call's answers while the next ones are waited for.
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
 * Asks one channel's object, once: an overloaded one must not be asked again at once, and after a failure nobody knows
 * whether the commands were carried out.
 *
 * @param method of the request, for the log
 * @param waitMs how long the object may take
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
