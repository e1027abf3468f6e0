import type {
  ChannelCount,
  ChannelsQuery,
  CountedChannels,
  GatewayInfo,
  GatewayInfos,
  ListedAnswer,
  ListedChannels,
} from "../../src/contract/listing.ts";
import { channelNode, gatewayNode } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import { firstChannels } from "../../src/users/channel-counts.ts";
import type { Directory } from "../../src/users/directory.ts";
import type { Env } from "../platform/env.ts";
import { answerInTime, forEachInTurns } from "../platform/object-call.ts";

/**
 * Asks the objects that a shard of the directory lists, at most `limits.callsInFlightMax` at a time, each once. One that
 * holds no connection any more is forgotten (rule U40).
 */
export class ListedObjects {
  readonly #directory: Directory;
  readonly #env: Pick<Env, "CHANNELS" | "GATEWAYS">;

  constructor(directory: Directory, env: Pick<Env, "CHANNELS" | "GATEWAYS">) {
    this.#directory = directory;
    this.#env = env;
  }

  /** How much these gateways hold, as far as they hold connections. */
  async gatewayInfos(names: readonly string[]): Promise<GatewayInfos> {
    const gateways: GatewayInfo[] = [];
    const complete = await this.#ask(names, gatewayNode, {
      call: (name) => this.#env.GATEWAYS.getByName(name).info(),
      take: (_, info) => gateways.push(info),
    });
    return { gateways, ...incompleteUnless(complete) };
  }

  /** The first channels on all gateways, and the names of the first channels that are listed themselves. */
  async channels(query: ChannelsQuery): Promise<ListedChannels> {
    const gateways = this.#directory.gateways();
    const own = this.#directory.channels(query);
    let channels: readonly ChannelCount[] = [];
    const complete = await this.#ask(gateways, gatewayNode, {
      call: (name) => this.#env.GATEWAYS.getByName(name).channels(query),
      take: (_, answer) => {
        channels = firstChannels([...channels, ...answer.channels], query.limit);
      },
    });
    const isAll = gateways.length < limits.gatewaysListedMax && own.complete;
    return { channels, own: own.names, ...incompleteUnless(complete && isAll) };
  }

  /** The subscribers on the own objects of these channels, as far as they have any. */
  async channelCounts(names: readonly string[]): Promise<CountedChannels> {
    const channels: ChannelCount[] = [];
    const complete = await this.#ask(names, channelNode, {
      call: (name) => this.#env.CHANNELS.getByName(name).ownSubscribers(),
      take: (name, { subscribers }) => {
        if (subscribers > 0) channels.push({ name, subscribers });
      },
    });
    return { channels, ...incompleteUnless(complete) };
  }

  /** @returns whether all have answered in time */
  async #ask<Answer extends ListedAnswer>(
    names: readonly string[],
    nodeOf: (name: string) => string,
    { call, take }: ListedQuestion<Answer>,
  ): Promise<boolean> {
    const endsAtMs = Date.now() + limits.listedAnswerMs;
    let complete = true;
    await forEachInTurns(names, limits.callsInFlightMax, async (name) => {
      const asked = this.#directory.ask(nodeOf(name));
      const waitMs = endsAtMs - Date.now();
      const answer = await answerInTime("question to a listed object", waitMs, () => call(name));
      this.#directory.answered(asked, answer?.left);
      if (answer === undefined) complete = false;
      else if (answer.left) take(name, answer);
    });
    return complete;
  }
}

interface ListedQuestion<Answer> {
  readonly call: (name: string) => Promise<Answer>;
  readonly take: (name: string, answer: Answer) => void;
}

function incompleteUnless(complete: boolean): { readonly incomplete?: true } {
  return complete ? {} : { incomplete: true };
}
