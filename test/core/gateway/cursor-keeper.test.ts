import { describe, expect, it } from "vitest";
import { at, entry, following, read, said, subscribed } from "./support/followed-channel.ts";
import { RecordingSubscription } from "./support/recording-subscription.ts";

describe("a gateway's cursor across hibernation", () => {
  it("[L7] saves it in another attachment when its holder leaves, or has no space", () => {
    const { channel, subscriber } = subscribed(at(5));
    const cramped = new RecordingSubscription("7", { attachmentFull: true });
    const third = new RecordingSubscription("8");
    channel.subscribe(cramped);
    channel.subscribe(third);
    expect([subscriber.cursorSaves, cramped.cursorSaves, third.cursorSaves]).toEqual([1, 0, 0]);
    channel.follower.unsubscribe(subscriber.subscription);
    expect([cramped.cursorSaves, third.cursorSaves]).toEqual([1, 1]);
    channel.takeStream(1, [6]);
    channel.follower.unsubscribe(third.subscription);
    channel.takeStream(2, [7]);
    // The subscription is asked again, because it may have space by now.
    expect([cramped.cursorSaves, third.cursorSaves]).toEqual([3, 2]);
    expect(third.savedCursor).toEqual({ instance: 1, sequence: 1, position: at(6) });
    const fourth = new RecordingSubscription("9");
    channel.subscribe(fourth);
    expect(fourth.savedCursor).toEqual({ instance: 1, sequence: 2, position: at(7) });
  });

  it("[L7] saves it again when there is space, without asking all subscribers for each batch", () => {
    const { channel } = subscribed(at(5), {}, 0, { attachmentFull: true });
    const traits = { attachmentFull: true };
    const subscribers = Array.from(
      { length: 200 },
      (_, index) => new RecordingSubscription(`${index}`, traits),
    );
    for (const subscriber of subscribers) channel.subscribe(subscriber);
    const asked = (): number => subscribers.reduce((sum, { cursorSaves: keeps }) => sum + keeps, 0);
    const before = asked();
    for (let offset = 6; offset < 16; offset++) channel.takeStream(offset - 5, [offset]);
    expect(asked() - before).toBeLessThanOrEqual(10 * 4);
    traits.attachmentFull = false;
    channel.takeStream(11, [16]);
    expect(
      subscribers.filter(({ savedCursor }) => savedCursor?.position?.offset === 16),
    ).toHaveLength(1);
  });

  it.each([0, 1])(
    "[L7] continues after hibernation from the last saved cursor, order %i",
    (order) => {
      const { channel, subscriber } = subscribed(at(5));
      channel.takeStream(1, [6]);
      const another = new RecordingSubscription("7");
      channel.subscribe(another);
      another.savedCursor = { instance: 1, sequence: 0, position: at(5) };
      channel.hibernate(...(order === 0 ? [another, subscriber] : [subscriber, another]));
      channel.takeStream(1, [6, 7], { certain: false });
      expect(subscriber.received).toEqual(["6", "7"]);
      expect(another.received).toEqual(["7"]);
      expect(channel.port.calls).toEqual(["follow"]);
    },
  );

  it("[L7] reads the missed publications after hibernation", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.hibernate(subscriber);
    channel.takeStream(1, [8], { instance: 2, certain: false });
    channel.port.answer(read([6, 7, 8], at(8)));
    channel.settle();
    expect(subscriber.received).toEqual(["6", "7", "8"]);
  });

  it("[L7] takes a certain batch as its cursor if none was saved", () => {
    const { channel, subscriber } = subscribed(at(5), {}, 0, { attachmentFull: true });
    channel.hibernate(subscriber);
    channel.takeStream(3, [8, 9]);
    channel.takeStream(5, [11]);
    channel.port.answer(read([10, 11], at(11)));
    channel.settle();
    expect(subscriber.received).toEqual(["8", "9", "10", "11"]);
  });

  it.each([
    ["with history", at(5)],
    ["without history", undefined],
  ])(
    "[L7] signals insufficient state to the subscribers %s if a batch may repeat or skip entries",
    (_, stood) => {
      const { channel, subscriber } = subscribed(stood, {}, 0, { attachmentFull: true });
      channel.hibernate(subscriber);
      channel.take(3, [stood === undefined ? said("1") : entry(6)], {
        certain: false,
        ...(stood === undefined ? {} : { top: at(6) }),
      });
      expect(subscriber.received).toEqual(["lost"]);
    },
  );

  it("[L7] signals insufficient state to restored subscribers when another one subscribes and no cursor was saved", () => {
    const { channel, subscriber } = subscribed(at(5), {}, 0, { attachmentFull: true });
    channel.hibernate(subscriber);
    const another = new RecordingSubscription("7");
    channel.subscribe(another);
    channel.port.answer(following(at(9), 4));
    channel.takeStream(5, [10]);
    expect(subscriber.received).toEqual(["lost"]);
    expect(another.received).toEqual(["10"]);
  });
});
