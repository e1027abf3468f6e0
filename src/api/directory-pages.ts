/**
 * Pages of what the directory's shards list: the gateways of `info`, and the channels of `channels` (rules U23 and U24).
 * A page is made in two steps. The shards name what comes next, and the edge asks them for the rest of those that
 * are on the page.
 */
import type { ShownPlacement } from "../config/placement.ts";
import {
  type ChannelCount,
  type CountedChannels,
  type GatewayInfo,
  type GatewayInfos,
  type ListedChannels,
  compareNames,
  firstChannels,
} from "../contract/listing.ts";
import { gatewayNode, parseNodeName, regionOf } from "../contract/object-names.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { version } from "../version.ts";
import type { Page } from "./command.ts";

/** How many names each shard has to give, so that the edge knows whether another page follows. */
export function namesForPage({ limit }: Page): number {
  return limit + 1;
}

/** The answer of each shard to the first step, by its number; undefined for none in time. */
type ShardAnswers<Answer> = readonly (Answer | undefined)[];

/** The names to be asked about in the second step, by the number of the shard that named them. */
export type AskedShards = ReadonlyMap<number, readonly string[]>;

/** The gateways of a page. */
export interface GatewaysPage {
  readonly asked: AskedShards;
  /** The last name of the page, if another page follows. */
  readonly cursor?: string;
  readonly incomplete: boolean;
}

/** The first step of `info`. */
export function pageOfGateways(
  answers: ShardAnswers<readonly string[]>,
  { limit }: Page,
): GatewaysPage {
  const names = answers.flatMap((answer) => answer ?? []).sort(compareNames);
  const page = new Set(names.slice(0, limit));
  return {
    asked: shardsOf(answers, (answer) => answer.filter((name) => page.has(name))),
    ...cursorAfter(names, limit),
    incomplete: answers.includes(undefined),
  };
}

/**
 * Writes the result of `info`: Centrifugo's nodes are the gateways.
 *
 * @param isWhole whether no page came before. If there is no gateway, the edge stands for the first node then, because
 *                monitoring of Centrifugo reads the first node without checking that it exists
 * @param placement where the objects of each kind are; absent if the configuration doesn't say
 */
export function encodeInfo(
  page: GatewaysPage,
  infos: ShardAnswers<GatewayInfos>,
  isWhole = false,
  placement?: Readonly<Record<string, ShownPlacement>>,
): JsonText {
  const gateways = infos.flatMap((answer) => answer?.gateways ?? []);
  const nodes = gateways
    .sort((left, right) => compareNames(left.name, right.name))
    .map((one) => nodeOf(one));
  const incomplete = page.incomplete || infos.some(isIncomplete);
  if (isWhole && nodes.length === 0 && page.cursor === undefined)
    nodes.push(nodeOf({ name: "edge", version, ...nothing }, "edge"));
  return trustedJsonText(
    JSON.stringify({ nodes, ...(placement && { placement }), ...endOf(page.cursor, incomplete) }),
  );
}

/** Of no gateway, without a region. */
const nothing = {
  clients: 0,
  users: 0,
  channels: 0,
  subscriptions: 0,
  uptimeSeconds: 0,
  left: false,
};

function nodeOf(gateway: GatewayInfo, uid = gatewayNode(gateway.name)): object {
  return {
    uid,
    name: gateway.name,
    version: gateway.version,
    num_clients: gateway.clients,
    num_users: gateway.users,
    num_channels: gateway.channels,
    num_subs: gateway.subscriptions,
    uptime: gateway.uptimeSeconds,
    region: regionOf(parseNodeName(uid)),
  };
}

/** The channels of a page. */
export interface ChannelsPage {
  /** With their subscribers on gateways. */
  readonly channels: readonly ChannelCount[];
  /** The channels whose own objects have to be asked. */
  readonly asked: AskedShards;
  readonly cursor?: string;
  readonly incomplete: boolean;
}

/** The first step of `channels`. */
export function pageOfChannels(
  answers: ShardAnswers<ListedChannels>,
  { limit }: Page,
): ChannelsPage {
  const known = answers.filter((answer) => answer !== undefined);
  const own = known.flatMap((answer) => answer.own.map((name) => ({ name, subscribers: 0 })));
  const all = [...known.flatMap(({ channels }) => channels), ...own];
  const channels = firstChannels(all, limit + 1);
  const page = new Set(channels.slice(0, limit).map(({ name }) => name));
  return {
    channels: channels.slice(0, limit),
    asked: shardsOf(answers, (answer) => answer.own.filter((name) => page.has(name))),
    ...cursorAfter(
      channels.map(({ name }) => name),
      limit,
    ),
    incomplete: answers.some(isIncomplete),
  };
}

/** Writes the result of `channels`. */
export function encodeChannels(
  page: ChannelsPage,
  counted: ShardAnswers<CountedChannels>,
): JsonText {
  const own = counted.flatMap((answer) => answer?.channels ?? []);
  const channels = firstChannels([...page.channels, ...own], page.channels.length);
  // Not an object: JavaScript sorts keys that look like numbers, and "__proto__" isn't a key.
  const members = channels
    .filter(({ subscribers }) => subscribers > 0)
    .map(({ name, subscribers }) => `${JSON.stringify(name)}:{"num_clients":${subscribers}}`);
  const incomplete = page.incomplete || counted.some(isIncomplete);
  const end = JSON.stringify(endOf(page.cursor, incomplete)).slice(1, -1);
  return trustedJsonText(`{"channels":{${members.join(",")}}${end === "" ? "" : `,${end}`}}`);
}

function isIncomplete(answer: { readonly incomplete?: true } | undefined): boolean {
  return answer === undefined || answer.incomplete === true;
}

function shardsOf<Answer>(
  answers: ShardAnswers<Answer>,
  namesOf: (answer: Answer) => readonly string[],
): AskedShards {
  const asked = new Map<number, readonly string[]>();
  for (const [shard, answer] of answers.entries()) {
    const names = answer === undefined ? [] : namesOf(answer);
    if (names.length > 0) asked.set(shard, names);
  }
  return asked;
}

function cursorAfter(names: readonly string[], limit: number): { readonly cursor?: string } {
  const cursor = names[limit - 1];
  return names.length > limit && cursor !== undefined ? { cursor } : {};
}

function endOf(cursor: string | undefined, incomplete: boolean): object {
  return { cursor, ...(incomplete ? { incomplete } : {}) };
}
