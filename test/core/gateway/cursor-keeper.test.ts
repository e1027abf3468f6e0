import { describe, expect, it } from "vitest";
import { at, entry, following, read, said, subscribed } from "./followed-channel.ts";
import { Listener } from "./recording-subscription.ts";

describe("where a gateway stands, across its sleep", () => {
  it("[L7] notes how far it is in one attachment, after each batch", () => {
    const { channel, listener } = subscribed(at(5), {}, 3);
    expect(listener.cursor).toEqual({ instance: 1, sequence: 3, position: at(5) });
    const another = new Listener("7");
    channel.join(another);
    channel.takeStream(4, [6, 7]);
    expect(listener.cursor).toEqual({ instance: 1, sequence: 5, position: at(7) });
    expect(another.cursor).toBeUndefined();
  });

  it("[L7] notes it in another's attachment when the one that had it leaves, or has no room", () => {
    const { channel, listener } = subscribed(at(5));
    const cramped = new Listener("7", { noRoom: true });
    const third = new Listener("8");
    channel.join(cramped);
    channel.join(third);
    expect([listener.keeps, cramped.keeps, third.keeps]).toEqual([1, 0, 0]);
    channel.follower.unsubscribe(listener.subscription);
    expect([cramped.keeps, third.keeps]).toEqual([1, 1]);
    channel.takeStream(1, [6]);
    channel.follower.unsubscribe(third.subscription);
    channel.takeStream(2, [7]);
    // It is asked again, for it may have room by now.
    expect([cramped.keeps, third.keeps]).toEqual([3, 2]);
    expect(third.cursor).toEqual({ instance: 1, sequence: 1, position: at(6) });
    const fourth = new Listener("9");
    channel.join(fourth);
    expect(fourth.cursor).toEqual({ instance: 1, sequence: 2, position: at(7) });
  });

  it("[L7] notes it again where there is room again, without asking a crowd for each batch", () => {
    const { channel } = subscribed(at(5), {}, 0, { noRoom: true });
    const traits = { noRoom: true };
    const crowd = Array.from({ length: 200 }, (_, index) => new Listener(`${index}`, traits));
    for (const listener of crowd) channel.join(listener);
    const asked = (): number => crowd.reduce((sum, { keeps }) => sum + keeps, 0);
    const before = asked();
    for (let offset = 6; offset < 16; offset++) channel.takeStream(offset - 5, [offset]);
    expect(asked() - before).toBeLessThanOrEqual(10 * 4);
    traits.noRoom = false;
    channel.takeStream(11, [16]);
    expect(crowd.filter(({ cursor }) => cursor?.position?.offset === 16)).toHaveLength(1);
  });

  it.each([0, 1])("[L7] goes on after sleep from what was noted last, order %i", (order) => {
    const { channel, listener } = subscribed(at(5));
    channel.takeStream(1, [6]);
    const another = new Listener("7");
    channel.join(another);
    another.cursor = { instance: 1, sequence: 0, position: at(5) };
    channel.sleep(...(order === 0 ? [another, listener] : [listener, another]));
    channel.takeStream(1, [6, 7], { certain: false });
    expect(listener.heard).toEqual(["6", "7"]);
    expect(another.heard).toEqual(["7"]);
    expect(channel.port.calls).toEqual(["follow"]);
  });

  it("[L7] reads after sleep what it didn't hear of", () => {
    const { channel, listener } = subscribed(at(5));
    channel.sleep(listener);
    channel.takeStream(1, [8], { instance: 2, certain: false });
    channel.port.answer(read([6, 7, 8], at(8)));
    channel.settle();
    expect(listener.heard).toEqual(["6", "7", "8"]);
  });

  it("[L7] believes a batch that follows on what was taken, when nothing was noted", () => {
    const { channel, listener } = subscribed(at(5), {}, 0, { noRoom: true });
    channel.sleep(listener);
    channel.takeStream(3, [8, 9]);
    channel.takeStream(5, [11]);
    channel.port.answer(read([10, 11], at(11)));
    channel.settle();
    expect(listener.heard).toEqual(["8", "9", "10", "11"]);
  });

  it.each([
    ["with history", at(5)],
    ["without history", undefined],
  ])(
    "[L7] tells the subscribers %s when a batch might repeat something or leave it out",
    (_, stood) => {
      const { channel, listener } = subscribed(stood, {}, 0, { noRoom: true });
      channel.sleep(listener);
      channel.take(3, [stood === undefined ? said("1") : entry(6)], {
        certain: false,
        ...(stood === undefined ? {} : { top: at(6) }),
      });
      expect(listener.heard).toEqual(["lost"]);
    },
  );

  it("[L7] tells those who slept, when somebody joins and nothing was noted", () => {
    const { channel, listener } = subscribed(at(5), {}, 0, { noRoom: true });
    channel.sleep(listener);
    const another = new Listener("7");
    channel.join(another);
    channel.port.answer(following(at(9), 4));
    channel.takeStream(5, [10]);
    expect(listener.heard).toEqual(["lost"]);
    expect(another.heard).toEqual(["10"]);
  });
});
