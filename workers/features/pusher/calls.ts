import type { Context } from "hono";
import type { ApiAnswer } from "../../../src/api/answers.ts";
import type { Entry } from "../../../src/api/command.ts";
import { memberOf } from "../../../src/features/pusher/presence-member.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { memberText, type JsonText, trustedJsonText } from "../../../src/protocol/json/text.ts";
import { isJsonObject, jsonValue } from "../../../src/protocol/wire-value.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { callObjects, callingOf } from "../../http/api.ts";
import { refuse } from "./signed-request.ts";

/** Makes calls for a request. @returns an answer for each entry, or the response if one of them failed */
export async function answersTo(
  context: Context<AppEnv>,
  entries: readonly Entry[],
): Promise<readonly JsonText[] | Response> {
  const called = await callObjects(callingOf(context), entries, "pusher");
  if (called.outcome === "refused") return refuse(context, 400, called.detail);
  const answers = called.collected.inOrder();
  const failed = answers.find((answer) => "error" in answer);
  if (failed !== undefined) return respondFailed(context, failed);
  return answers.map((answer) => trustedJsonText("result" in answer ? answer.result : "{}"));
}

function respondFailed(context: Context<AppEnv>, answer: ApiAnswer): Response {
  if (!("error" in answer)) return refuse(context, 500, "");
  const { error, detail } = answer;
  const status =
    error.code === errorCodes.tooManyRequests.code
      ? 429
      : error.code === errorCodes.internal.code
        ? 503
        : 400;
  return refuse(context, status, detail ?? error.message);
}

/** How many connections and users a channel has. */
export interface Present {
  readonly connections: number;
  /** The members of a presence channel. */
  readonly users: readonly string[];
}

/** Reads the answer of `presence`. */
export function countsOf(answer: JsonText): Present {
  const present = jsonValue(memberText(answer, "presence") ?? "{}");
  if (!isJsonObject(present)) return { connections: 0, users: [] };
  const users = Object.values(present).flatMap((one) => {
    const info = isJsonObject(one) ? one["chan_info"] : undefined;
    if (info === undefined) return [];
    return memberOf({ chanInfo: trustedJsonText(JSON.stringify(info)) }) ?? [];
  });
  return { connections: Object.keys(present).length, users: [...new Set(users)] };
}
