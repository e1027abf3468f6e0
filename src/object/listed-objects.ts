import {
  type ChannelCount,
  type ChannelsQuery,
  type CountedChannels,
  type GatewayChannels,
  type GatewayInfo,
  type GatewayInfos,
  type ListedAnswer,
  type ListedChannels,
  type OwnSubscribers,
  firstChannels,
} from "../contract/listing.ts";
import { channelNode, gatewayNode } from "../contract/object-names.ts";
import { limits } from "../limits.ts";
import type { Directory } from "../users/directory.ts";
import { forEachInTurns } from "../users/in-turns.ts";
import { answerOf, type CallAnswer, type CallRequest } from "./object-call.ts";
import type { Platform } from "./platform.ts";

/**
 * Asks the objects that a shard of the directory lists, at most `limits.callsInFlightMax` at a time, each once. One that
 * holds no connection any more is forgotten (rule U40).
 */
export class ListedObjects {
  readonly #directory: Directory;
  readonly #platform: Pick<Platform, "nowMs" | "call">;

  constructor(directory: Directory, platform: Pick<Platform, "nowMs" | "call">) {
    this.#directory = directory;
    this.#platform = platform;
  }

  /** How much these gateways hold, as far as they hold connections. */
  gatewayInfos(names: readonly string[], done: (infos: GatewayInfos) => void): void {
    const gateways: GatewayInfo[] = [];
    this.#askAll(
      names,
      gatewayNode,
      "info",
      [],
      (_, info) => gateways.push(info),
      (complete) => done({ gateways, ...incompleteUnless(complete) }),
    );
  }

  /** The first channels on all gateways, and the names of the first channels that are listed themselves. */
  channels(query: ChannelsQuery, done: (listed: ListedChannels) => void): void {
    const gateways = this.#directory.gateways();
    const own = this.#directory.channels(query);
    let channels: readonly ChannelCount[] = [];
    const take = (_: string, answer: GatewayChannels): void => {
      channels = firstChannels([...channels, ...answer.channels], query.limit);
    };
    this.#askAll(gateways, gatewayNode, "channels", [query], take, (complete) => {
      const isAll = gateways.length < limits.gatewaysListedMax && own.complete;
      done({ channels, own: own.names, ...incompleteUnless(complete && isAll) });
    });
  }

  /** The subscribers on the own objects of these channels, as far as they have any. */
  channelCounts(names: readonly string[], done: (counted: CountedChannels) => void): void {
    const channels: ChannelCount[] = [];
    const take = (name: string, { subscribers }: OwnSubscribers): void => {
      if (subscribers > 0) channels.push({ name, subscribers });
    };
    this.#askAll(names, channelNode, "ownSubscribers", [], take, (complete) =>
      done({ channels, ...incompleteUnless(complete) }),
    );
  }

  /**
   * @param take takes the answers of those that hold connections
   * @param done takes whether all have answered in time
   */
  #askAll<Name extends "info" | "channels" | "ownSubscribers">(
    names: readonly string[],
    nodeOf: (name: string) => string,
    call: Name,
    request: CallRequest<Name>,
    take: (name: string, answer: CallAnswer<Name>) => void,
    done: (complete: boolean) => void,
  ): void {
    const endsAtMs = this.#platform.nowMs() + limits.listedAnswerMs;
    let complete = true;
    const ask = (name: string, answered: () => void): void => {
      const asked = this.#directory.ask(nodeOf(name));
      this.#platform.call(call, name, request, endsAtMs - this.#platform.nowMs(), (reply) => {
        const answer: (CallAnswer<Name> & ListedAnswer) | undefined = answerOf(reply);
        this.#directory.answered(asked, answer?.left);
        if (answer === undefined) complete = false;
        else if (answer.left) take(name, answer);
        answered();
      });
    };
    forEachInTurns(names, limits.callsInFlightMax, ask, () => done(complete));
  }
}

function incompleteUnless(complete: boolean): { readonly incomplete?: true } {
  return complete ? {} : { incomplete: true };
}
