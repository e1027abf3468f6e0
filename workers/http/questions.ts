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
import { homeName, shardName } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import type { Env } from "../platform/env.ts";
import { inTime, parseCallFailure } from "../platform/object-call.ts";

/**
 * Asks the objects that know the answer to a backend's question.
 *
 * @throws if a user's home can't be reached
 */
export async function askQuestion({ USERS }: Env, question: Question): Promise<CallOutcome> {
  switch (question.method) {
    case "connections": {
      const { user } = question;
      return answered(encodeConnections(await USERS.getByName(homeName(user)).connections(user)));
    }
    case "info":
      return answered(await info(USERS, question.page));
    case "channels":
      return answered(await channels(USERS, question.pattern, question.page));
  }
}

function answered(result: JsonText): CallOutcome {
  return { outcome: "answers", answers: [{ result }] };
}

async function info(shards: Env["USERS"], page: Page): Promise<JsonText> {
  const names = await askShards(allShards(), (shard) =>
    shards.getByName(shard).gateways(page.after, namesForPage(page)),
  );
  const gateways = pageOfGateways(names, page);
  const infos = await askAgain(gateways.asked, (shard, asked) =>
    shards.getByName(shard).gatewayInfos(asked),
  );
  return encodeInfo(gateways, infos);
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
    Array.from(numbers, async (number) => {
      try {
        const answer = ask(shardName(number), number);
        return await inTime<Answer | undefined>(answer, limits.shardAnswerMs, undefined);
      } catch (error) {
        console.warn(`call to the directory failed: ${parseCallFailure(error).summary}`);
        return undefined;
      }
    }),
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
