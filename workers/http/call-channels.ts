import { AnswerSheet, type CallOutcome } from "../../src/api/answer-sheet.ts";
import type { Entry } from "../../src/api/api-command.ts";
import { type ChannelCall, planWaves } from "../../src/api/call-plan.ts";
import type { ChannelCommand } from "../../src/api/channel-command.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds, parseCallFailure } from "../platform/call-failure.ts";
import type { Env } from "../platform/env.ts";

/**
 * Makes a request's calls, those to different channels at the same time as far as memory allows.
 *
 * @param entries of the whole request
 * @param calls the plan made of them
 * @param method of the request, for the log
 */
export async function callChannels(
  channels: Env["CHANNELS"],
  entries: readonly Entry[],
  calls: readonly ChannelCall[],
  method: string,
): Promise<AnswerSheet> {
  const sheet = new AnswerSheet(entries);
  for (const wave of planWaves(calls)) {
    const called = wave.map(async (call) => ({
      call,
      outcome: await callChannel(channels, call.channel, call.commands, method),
    }));
    for (const { call, outcome } of await Promise.all(called)) sheet.enter(call, outcome);
  }
  return sheet;
}

/**
 * Asks one channel's object, once: an overloaded one must not be asked again at once, and after a failure nobody knows
 * whether the commands were carried out. Waits `limits.objectAnswerMs` at most.
 *
 * @param method of the request, for the log
 */
export async function callChannel(
  channels: Env["CHANNELS"],
  channel: string,
  commands: readonly ChannelCommand[],
  method: string,
): Promise<CallOutcome> {
  const late = Promise.withResolvers<CallOutcome>();
  const timer = setTimeout(() => late.resolve({ outcome: "timeout" }), limits.objectAnswerMs);
  try {
    return await Promise.race([channels.getByName(channel).execute(commands), late.promise]);
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) {
      return { outcome: "overloaded", retryAfterSeconds: overloadedRetrySeconds };
    }
    console.error(`call to a channel failed: method=${method} ${failure.summary}`);
    return { outcome: "failed" };
  } finally {
    clearTimeout(timer);
  }
}
