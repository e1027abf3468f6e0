import { at, FollowedChannel, publication } from "./followed-channel.ts";
import { Listener } from "./recording-subscription.ts";

/** Followed, with one subscriber, at offset 5. */
export function standing(client: object = {}): FollowedChannel {
  const channel = new FollowedChannel(client);
  channel.subscribed(new Listener("42"), at(5));
  return channel;
}

/** A first one who joins, and isn't answered yet. */
export function joining(wish: Parameters<FollowedChannel["join"]>[1] = {}): {
  channel: FollowedChannel;
  listener: Listener;
} {
  const channel = new FollowedChannel();
  const listener = new Listener("7");
  channel.join(listener, wish);
  return { channel, listener };
}

/** What somebody is answered at once. */
export function answerOf(
  channel: FollowedChannel,
  wish: Parameters<FollowedChannel["join"]>[1],
): unknown {
  const listener = new Listener("9");
  channel.join(listener, wish);
  return listener.answers[0];
}

/** It isn't recovered, and begins there. */
export function joinedAt(offset: number): object {
  return { outcome: "subscribed", position: at(offset), recovered: false, publications: [] };
}

/** It begins there, with what it missed. */
export function recoveredAt(offset: number, ...offsets: readonly number[]): object {
  const publications = offsets.map(publication);
  return { outcome: "subscribed", position: at(offset), recovered: true, publications };
}
