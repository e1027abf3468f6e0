import { type Centrifuge, type PublicationContext, SubscriptionState as Sdk } from "centrifuge";
import type { Feed, Running } from "./feed.ts";
import { type Message, Messages, type Sent } from "./messages.ts";
import {
  isTemporary,
  parseProblem,
  subscribe,
  subscribing,
  type SubscriptionState,
  type TokenGetter,
  tokenOptions,
} from "./subscription.ts";

/** What is known of a channel. Once it is `subscribed`, the history that was asked for is there, too. */
export interface ChannelState<Data> extends SubscriptionState {
  /** The newest last. */
  readonly messages: readonly Message<Data>[];
  /** Whether messages may be missing between those of the list, which no history has filled. */
  readonly hasGap: boolean;
}

/** What a component wants of a channel. Of several components the largest numbers count. */
export interface ChannelOptions extends TokenGetter {
  /** How many older messages are read from the history; none by default. A larger number reads more. */
  readonly history?: number | undefined;
  /** How many messages stay in the page, 1,000 by default. */
  readonly keep?: number | undefined;
}

export interface ChannelCalls {
  readonly publish: (data: JsonData) => Promise<void>;
}

/** What can be published. */
export type JsonData = object | string | number | boolean | null;

export const idleChannel: ChannelState<Sent> = { ...subscribing, messages: [], hasGap: false };

/** Subscribes to a channel, and reads its history where nothing was recovered. */
export function beginChannel(
  client: Centrifuge,
  channel: string,
  feed: Feed<ChannelState<Sent>, ChannelOptions, ChannelCalls>,
): Running<ChannelCalls> {
  const subscription = client.newSubscription(channel, tokenOptions(feed));
  const messages = new Messages();
  const wanted = () => Math.max(0, ...feed.wishes.map(({ history = 0 }) => history));
  let isFirst = true;
  let mustRead = false;
  let asked = 0;

  const show = (change: Partial<ChannelState<Sent>>) => {
    messages.keep(Math.max(1, ...feed.wishes.map(({ keep = keptMax }) => keep)));
    feed.show({ ...change, messages: messages.all, hasGap: messages.hasGap });
  };
  const read = async () => {
    asked = wanted();
    try {
      messages.readHistory(await subscription.history({ limit: asked, reverse: true }));
      mustRead = false;
      show({ state: "subscribed", problem: undefined });
    } catch (error) {
      // When it is subscribed anew, it reads anew.
      if (subscription.state !== Sdk.Subscribed) return;
      const problem = parseProblem(error);
      show({ state: "subscribed", problem });
      if (isTemporary(problem)) setTimeout(() => mustRead && void read(), retryMs);
    }
  };
  subscription.on("subscribed", ({ recovered, streamPosition }) => {
    messages.subscribed(streamPosition?.epoch, !recovered && !isFirst);
    if (!recovered) mustRead = wanted() > 0;
    isFirst = false;
    if (mustRead) void read();
    else show({ state: "subscribed" });
  });
  subscription.on("publication", (publication: PublicationContext) => {
    messages.add(publication);
    show({});
  });
  const again = subscribe(subscription, (change) => feed.show(change));
  return {
    calls: { publish: async (data) => void (await subscription.publish(data)) },
    joined: () => {
      again();
      if (wanted() <= asked) return;
      mustRead = true;
      if (subscription.state === Sdk.Subscribed) void read();
    },
    end: () => {
      subscription.removeAllListeners();
      client.removeSubscription(subscription);
    },
  };
}

const keptMax = 1_000;
const retryMs = 1_000;
