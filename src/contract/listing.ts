/**
 * What the directory and the objects that it lists report to each other, and to the edge (rules U22 to U24). The directory lists
 * each object that holds connections. During a deploy the sides may be one release apart (rule V1): fields are only
 * added, and the absence of an added field has a meaning.
 */

/** Which channels with subscribers are asked for. */
export interface ChannelsQuery {
  /** A glob for their names, see `compileGlob`; "" for all. */
  readonly pattern: string;
  /** Only names after this one, by their code points; "" for all. */
  readonly after: string;
  /** How many names are listed at most, the first ones. */
  readonly limit: number;
}

/** A channel, and how many subscribers it has. */
export interface ChannelCount {
  readonly name: string;
  readonly subscribers: number;
}

/** The answer of an object that the directory lists. */
export interface ListedAnswer {
  /** Whether the object still holds connections. If not, the directory forgets it. */
  readonly left: boolean;
}

/** The channels that a gateway has subscribers of, in the order of their names. */
export interface GatewayChannels extends ListedAnswer {
  readonly channels: readonly ChannelCount[];
}

/** The subscribers on the sockets of a channel's own object. */
export interface OwnSubscribers extends ListedAnswer {
  readonly subscribers: number;
}

/** A gateway as backends are shown it. */
export interface GatewayInfo extends ListedAnswer {
  /** Its name. */
  readonly name: string;
  /** The release that it runs. */
  readonly version: string;
  /** Connections whose connect has been answered. */
  readonly clients: number;
  /** The different users of these, of which the anonymous user is one. */
  readonly users: number;
  readonly channels: number;
  readonly subscriptions: number;
  /** How long the gateway has been awake, in seconds. */
  readonly uptimeSeconds: number;
}

/** One shard's part of the channels that have subscribers. */
export interface ListedChannels {
  /** On its gateways, the first ones by their names. */
  readonly channels: readonly ChannelCount[];
  /** The names of channels whose own objects it lists, the first ones. They may have no subscriber any more. */
  readonly own: readonly string[];
  /** Whether something is missing, because an object didn't answer in time; absent: nothing is. */
  readonly incomplete?: true;
}

/** The subscribers on the own objects of some channels. */
export interface CountedChannels {
  readonly channels: readonly ChannelCount[];
  readonly incomplete?: true;
}

/** Some gateways, as far as they hold connections. */
export interface GatewayInfos {
  readonly gateways: readonly GatewayInfo[];
  readonly incomplete?: true;
}

/** Compares two names by their code points, as SQLite orders them: below 0 if the left one comes first. */
export function compareNames(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one === other) continue;
    // Half of a character beyond U+FFFF comes after every character that is one unit, also after U+E000.
    const [isHalf, isOtherHalf] = [isSurrogate(one), isSurrogate(other)];
    if (isHalf !== isOtherHalf) return isHalf ? 1 : -1;
    return one - other;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdf_ff;
}

/**
 * The first channels of several lists by their names, each once, with its subscribers added up. If each list has at
 * least its own first `limit` names, the counts are exact: a list that lacks one of the names has that many before it.
 */
export function firstChannels(
  lists: Iterable<ChannelCount>,
  limit: number,
): readonly ChannelCount[] {
  const counts = new Map<string, number>();
  let last: string | undefined;
  for (const { name, subscribers } of lists) {
    if (last !== undefined && compareNames(name, last) > 0) continue;
    counts.set(name, (counts.get(name) ?? 0) + subscribers);
    // A gateway may have 60,000 channels: what comes after the first ones so far is dropped on the way.
    if (counts.size <= 4 * limit) continue;
    const names = firstNames(counts, limit);
    last = names.at(-1);
    const kept = new Set(names);
    for (const other of counts.keys()) if (!kept.has(other)) counts.delete(other);
  }
  return firstNames(counts, limit).map((name) => ({ name, subscribers: counts.get(name) ?? 0 }));
}

function firstNames(counts: ReadonlyMap<string, number>, limit: number): readonly string[] {
  return [...counts.keys()].sort(compareNames).slice(0, limit);
}
