import { compileGlob, type NameGlob } from "../access/name-glob.ts";
import {
  type ChannelCount,
  type ChannelsQuery,
  compareNames,
  firstChannels,
} from "../contract/listing.ts";

/**
 * Finds the first channels of a gateway that have subscribers, by their names (rule U24). A gateway may have 60,000
 * channels, which would take 50 to 90 ms at a time, so it looks at some, and others get their turn in between. Channels
 * that come or go meanwhile may be counted or not.
 */
export class ChannelListing {
  readonly #query: ChannelsQuery;
  readonly #glob: NameGlob | undefined;
  readonly #channels: Iterator<readonly [string, CountedChannel]>;
  #first: readonly ChannelCount[] = [];

  /** @param channels by their names, in any order */
  constructor(channels: Iterable<readonly [string, CountedChannel]>, query: ChannelsQuery) {
    this.#query = query;
    this.#glob = compileGlob(query.pattern);
    this.#channels = channels[Symbol.iterator]();
  }

  /** Looks at so many more channels. @returns the first ones of all, or undefined if there are more to look at */
  next(count: number): readonly ChannelCount[] | undefined {
    const { after, limit } = this.#query;
    const found = [...this.#first];
    for (let looked = 0; looked < count; looked++) {
      const { done, value } = this.#channels.next();
      if (done === true || this.#glob === undefined) return firstChannels(found, limit);
      const [name, { subscriberCount: subscribers }] = value;
      const isAsked = compareNames(name, after) > 0 && this.#glob.matches(name);
      if (isAsked && subscribers > 0) found.push({ name, subscribers });
    }
    this.#first = firstChannels(found, limit);
    return undefined;
  }
}

/** A channel, as far as it is counted. */
interface CountedChannel {
  readonly subscriberCount: number;
}
