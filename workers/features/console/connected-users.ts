import type { Context } from "hono";
import { pageOfUsers, usersAsked } from "../../../src/features/console/connected-users.ts";
import { objectOf, parseShape, refusedUser, textField } from "../../../src/api/shape.ts";
import { compareNames } from "../../../src/contract/listing.ts";
import { shardName } from "../../../src/contract/object-names.ts";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { limits } from "../../../src/limits.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { respondMalformed, respondPoll } from "../../http/responses.ts";
import type { Env } from "../../platform/env.ts";
import { answerInTime } from "../../platform/object-call.ts";

/**
 * `POST /console/api/users`: the first users who have connections on gateways, after the `cursor` of the page before
 * (rule N20).
 */
export async function consoleUsers(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseShape(requestShape, context.var.request);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const after = parsed.value.cursor ?? "";
  const refused = refusedUser(after);
  if (refused !== undefined) return respondMalformed("cursor must be one that an answer gave");
  const { GATEWAYS, USERS } = context.env;
  const named = await namesOfGateways(USERS);
  const asked = named.names.slice(0, consoleLimits.consoleUserGatewaysMax);
  const query = { after, limit: usersAsked };
  const answers = await Promise.all(
    asked.map((name) =>
      answerInTime("question of the console", limits.listedAnswerMs, () =>
        GATEWAYS.getByName(name).connectedUsers(query),
      ),
    ),
  );
  const isShort = named.incomplete || asked.length < named.names.length;
  return respondPoll(JSON.stringify(pageOfUsers(answers, isShort)), "no-store");
}

/** The first gateways of the directory, one more than are asked. */
async function namesOfGateways(
  shards: Env["USERS"],
): Promise<{ readonly names: readonly string[]; readonly incomplete: boolean }> {
  const limit = consoleLimits.consoleUserGatewaysMax + 1;
  const numbers = Array.from({ length: limits.directoryShards }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map((number) =>
      answerInTime("question of the console", limits.shardAnswerMs, () =>
        shards.getByName(shardName(number)).gateways("", limit),
      ),
    ),
  );
  const names = answers.flatMap((answer) => answer ?? []).sort(compareNames);
  return { names, incomplete: answers.includes(undefined) };
}

/** Built with each request, which are few, and not when an isolate starts. */
const requestShape = () => objectOf({ cursor: textField() });
