import { at, FollowedChannel, publication } from "./followed-channel.ts";
import { RecordingSubscription } from "./recording-subscription.ts";

/** Followed, with one subscriber, at offset 5. */
export function subscribedAtFive(client: object = {}): FollowedChannel {
  const channel = new FollowedChannel(client);
  channel.subscribed(new RecordingSubscription("42"), at(5));
  return channel;
}

/** The first subscriber, whose subscribe isn't answered yet. */
export function subscribing(options: Parameters<FollowedChannel["subscribe"]>[1] = {}): {
  channel: FollowedChannel;
  subscriber: RecordingSubscription;
} {
  const channel = new FollowedChannel();
  const subscriber = new RecordingSubscription("7");
  channel.subscribe(subscriber, options);
  return { channel, subscriber };
}

/** The immediate reply to a subscribe. */
export function replyTo(
  channel: FollowedChannel,
  options: Parameters<FollowedChannel["subscribe"]>[1],
): unknown {
  const subscriber = new RecordingSubscription("9");
  channel.subscribe(subscriber, options);
  return subscriber.answers[0];
}

/** It isn't recovered, and begins there. */
export function freshAt(offset: number): object {
  return { outcome: "subscribed", position: at(offset), recovered: false, publications: [] };
}

/** The reply with recovered publications. */
export function recoveredAt(offset: number, ...offsets: readonly number[]): object {
  const publications = offsets.map(publication);
  return { outcome: "subscribed", position: at(offset), recovered: true, publications };
}
