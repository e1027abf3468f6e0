import type { Context } from "hono";
import { overloadedAnswer } from "../../../src/api/answers.ts";
import { parseEventsRequest } from "../../../src/features/events/events-request.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { callerOf, noteError } from "../../http/api.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { objectOf } from "../../http/emulation.ts";
import { errorModeOf, respondAnswer, respondMalformed } from "../../http/responses.ts";
import { inTime, overloadedRetrySeconds, parseCallFailure } from "../../platform/object-call.ts";

/** `POST /api/events`: the events that an object keeps, after a number (rule E5). */
export async function events(context: Context<AppEnv>): Promise<Response> {
  const { configured, request } = context.var;
  const { channel, events: config } = configured.config;
  const mode = errorModeOf(context);
  const parsed = parseEventsRequest(request, callerOf(context), config);
  switch (parsed.outcome) {
    case "malformed":
      return respondMalformed(parsed.detail);
    case "refused":
      noteError(context, parsed, parsed.channel);
      return respondAnswer(parsed, mode);
    case "events":
      break;
  }
  const { kind, name } = parsed.object;
  const object =
    kind === "home" ? context.env.USERS.getByName(name) : objectOf(name, context.env, channel);
  if (object === undefined) return respondAnswer(noEvents, mode);
  try {
    const call = object.eventsAfter(parsed.since, parsed.limit);
    const found = await inTime<readonly string[] | undefined>(
      call,
      limits.objectAnswerMs,
      undefined,
    );
    if (found === undefined) return respondAnswer(overloadedAnswer, mode, overloadedRetrySeconds);
    return respondAnswer({ result: `{"events":[${found.join(",")}]}` }, mode);
  } catch (error) {
    const failure = parseCallFailure(error, object);
    if (failure.overloaded) return respondAnswer(overloadedAnswer, mode, overloadedRetrySeconds);
    console.error(`call for events failed: ${failure.summary}`);
    return respondAnswer({ error: errorCodes.internal }, mode);
  }
}

/** No object has that name, so none has events. */
const noEvents = { result: '{"events":[]}' };
