import type { Context } from "hono";
import type { Entry } from "../../../src/api/command.ts";
import { channelOf, kindOf } from "../../../src/features/pusher/channel-names.ts";
import { memberOf } from "../../../src/features/pusher/presence-member.ts";
import { limits } from "../../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../../src/protocol/codes.ts";
import { memberText, type JsonText, trustedJsonText } from "../../../src/protocol/json/text.ts";
import { isJsonObject, jsonValue } from "../../../src/protocol/wire-value.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { callObjects, callingOf } from "../../http/api.ts";
import { refuse, signedRequest } from "./signed-request.ts";

/** Makes calls for a request. @returns an answer for each entry, or the response if one of them failed */
export async function answersTo(
  context: Context<AppEnv>,
  entries: readonly Entry[],
): Promise<readonly JsonText[] | Response> {
  const called = await callObjects(callingOf(context), entries, "pusher");
  if (called.outcome === "refused") return refuse(context, 400, called.detail);
  const answers = called.collected.inOrder();
  for (const answer of answers) {
    if ("error" in answer)
      return refuse(context, statusOf(answer.error), answer.detail ?? answer.error.message);
  }
  return answers.map((answer) => trustedJsonText("result" in answer ? answer.result : "{}"));
}

/** The status by which a caller knows whether it may try again. */
function statusOf({ code }: ErrorCode): number {
  switch (code) {
    case errorCodes.tooManyRequests.code:
      return 429;
    case errorCodes.internal.code:
      return 503;
    default:
      return 400;
  }
}

/** The channel of a name in the application that has signed the request. */
export function channelIn(context: Context<AppEnv>, name: string): string {
  return channelOf(name, signedRequest(context).app, context.get("configured").config.channel);
}

/** Counts the connections and users of channels. @returns in the order of their names, or the response if that failed */
export async function countsFor(
  context: Context<AppEnv>,
  names: readonly string[],
): Promise<readonly Present[] | Response> {
  const counts: Present[] = [];
  // One request of a backend may make so many calls at a time.
  for (let from = 0; from < names.length; from += limits.requestChannelsMax) {
    const some = names.slice(from, from + limits.requestChannelsMax);
    const entries = some.map((name): Entry => ({
      outcome: "call",
      channel: channelIn(context, name),
      command: { method: "presence" },
    }));
    const answers = await answersTo(context, entries);
    if (answers instanceof Response) return answers;
    counts.push(...answers.map(countsOf));
  }
  return counts;
}

/** The counts that `info` asks for. */
export function shownCounts(
  info: string,
  name: string,
  { connections, users }: Present = nobody,
): object {
  const asked = new Set(info.split(","));
  const isPresence = kindOf(name)?.access === "presence";
  return {
    ...(asked.has("user_count") && isPresence && { user_count: users.length }),
    ...(asked.has("subscription_count") && { subscription_count: connections }),
  };
}

const nobody: Present = { connections: 0, users: [] };

/** The connections and users of a channel. */
export interface Present {
  /** How many there are. */
  readonly connections: number;
  /** The members of a presence channel. */
  readonly users: readonly string[];
}

/** Reads the answer of `presence`. */
function countsOf(answer: JsonText): Present {
  const present = jsonValue(memberText(answer, "presence") ?? "{}");
  if (!isJsonObject(present)) return nobody;
  const users = Object.values(present).flatMap((one) => {
    const info = isJsonObject(one) ? one["chan_info"] : undefined;
    if (info === undefined) return [];
    return memberOf({ chanInfo: trustedJsonText(JSON.stringify(info)) }) ?? [];
  });
  return { connections: Object.keys(present).length, users: [...new Set(users)] };
}
