import { shownPlacements } from "../../src/config/placement.ts";
import { encodeConnections } from "../../src/api/connections.ts";
import type { CallOutcome } from "../../src/api/answers.ts";
import type { Page, Question } from "../../src/api/command.ts";
import {
  type AskedShards,
  encodeChannels,
  encodeInfo,
  namesForPage,
  pageOfChannels,
  pageOfGateways,
} from "../../src/api/directory-pages.ts";
import { encodeStatuses, usersByHome } from "../../src/api/status-methods.ts";
import type { Config } from "../../src/config/config.ts";
import { userKey } from "../../src/contract/identity-key.ts";
import { homeName, shardName } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import type { Env } from "../platform/env.ts";
import { answerInTime } from "../platform/object-call.ts";
import { askFeature } from "../features/questions.ts";

/**
 * Asks the objects that know the answer to a backend's question.
 *
 * @throws if a user's home can't be reached
 */
export async function askQuestion(
  env: Env,
  config: Config,
  question: Question,
): Promise<CallOutcome> {
  const { USERS } = env;
  switch (question.method) {
    case "connections": {
      const key = userKey(question.user);
      return answered(encodeConnections(await USERS.getByName(homeName(key)).connections(key)));
    }
    case "get_user_status": {
      const { users } = question;
      const answers = await askHomes(USERS, users, (home, own) => home.statuses(own));
      return answered(encodeStatuses(users, answers));
    }
    case "update_user_status": {
      const { users, state } = question;
      await callHomes(USERS, users, (home, own) => home.updateStatus(own, state));
      return done;
    }
    case "delete_user_status":
      await callHomes(USERS, question.users, (home, own) => home.deleteStatus(own));
      return done;
    case "info":
      return answered(await info(USERS, question.page, config));
    case "channels":
      return answered(await channels(USERS, question.pattern, question.page));
    case "why":
    case "inspect":
    case "unread":
    case "forget_user":
      return askFeature(env, config, question);
  }
}

function answered(result: JsonText): CallOutcome {
  return { outcome: "answers", answers: [{ result }] };
}

const done: CallOutcome = { outcome: "done" };

type HomeReference = ReturnType<Env["USERS"]["getByName"]>;

/** Calls the homes of users. @throws if one of them can't be reached */
async function callHomes<Answer>(
  homes: Env["USERS"],
  users: readonly string[],
  call: (home: HomeReference, users: readonly string[]) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const byHome = [...usersByHome(users)];
  return Promise.all(byHome.map(([home, own]) => call(homes.getByName(home), own)));
}

/** Asks the homes of users; undefined for each that doesn't answer in time. */
function askHomes<Answer>(
  homes: Env["USERS"],
  users: readonly string[],
  ask: (home: HomeReference, users: readonly string[]) => Promise<Answer>,
): Promise<readonly (Answer | undefined)[]> {
  return callHomes(homes, users, (home, own) =>
    answerInTime("question", limits.shardAnswerMs, () => ask(home, own)),
  );
}

async function info(shards: Env["USERS"], page: Page, config: Config): Promise<JsonText> {
  const names = await askShards(allShards(), (shard) =>
    shards.getByName(shard).gateways(page.after, namesForPage(page)),
  );
  const gateways = pageOfGateways(names, page);
  const infos = await askAgain(gateways.asked, (shard, asked) =>
    shards.getByName(shard).gatewayInfos(asked),
  );
  const placement = config.placement.isPlaced ? shownPlacements(config) : undefined;
  return encodeInfo(gateways, infos, page.after === "", placement);
}

async function channels(shards: Env["USERS"], pattern: string, page: Page): Promise<JsonText> {
  const query = { pattern, after: page.after, limit: namesForPage(page) };
  const listed = await askShards(allShards(), (shard) => shards.getByName(shard).channels(query));
  const found = pageOfChannels(listed, page);
  const counted = await askAgain(found.asked, (shard, asked) =>
    shards.getByName(shard).channelCounts(asked),
  );
  return encodeChannels(found, counted);
}

/** Asks shards of the directory at once; undefined for each that doesn't answer in time. */
function askShards<Answer>(
  numbers: Iterable<number>,
  ask: (shard: string, number: number) => Promise<Answer>,
): Promise<readonly (Answer | undefined)[]> {
  return Promise.all(
    Array.from(numbers, (number) =>
      answerInTime("question", limits.shardAnswerMs, () => ask(shardName(number), number)),
    ),
  );
}

function askAgain<Answer>(
  asked: AskedShards,
  ask: (shard: string, names: readonly string[]) => Promise<Answer>,
): Promise<readonly (Answer | undefined)[]> {
  return askShards(asked.keys(), (shard, number) => ask(shard, asked.get(number) ?? []));
}

function allShards(): readonly number[] {
  return Array.from({ length: limits.directoryShards }, (_, index) => index);
}
