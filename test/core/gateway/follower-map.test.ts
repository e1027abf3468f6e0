import { describe, expect, it } from "vitest";
import type { RelayEntry } from "../../../src/contract/relay-batch.ts";
import { json } from "../api/channel-config.ts";
import { at, entry, read, subscribed } from "./support/followed-channel.ts";

/** The first change of a stream, which names the stream. */
function firstChange(epoch: string): RelayEntry {
  const publication = { data: json("1"), offset: 1, epoch, key: "k" };
  return { type: "publication", publication };
}

const removed = { type: "removed" } as const;

describe("a gateway that follows a map which is cleared", () => {
  it("[Z5] tells its subscribers when a batch has changes of the stream that has ended", () => {
    const { channel, subscriber } = subscribed(at(0));
    channel.take(1, [firstChange("e"), removed], { top: at(0, "f") });
    expect(subscriber.received).toEqual(["lost"]);
  });

  it("[Z5] tells its subscribers when such a batch has lost the change that names the stream", () => {
    const { channel, subscriber } = subscribed(at(0));
    channel.take(1, [entry(2), removed, firstChange("f")], { top: at(1, "f") });
    expect(subscriber.received).toEqual(["lost"]);
  });

  it("[Z5] tells its subscribers that have changes of that stream", () => {
    const { channel, subscriber } = subscribed(at(1));
    channel.take(1, [removed], { top: at(0, "f") });
    expect(subscriber.received).toEqual(["lost"]);
  });

  it("[Z5] goes on with the next stream if its subscribers have nothing yet", () => {
    const { channel, subscriber } = subscribed(at(0));
    channel.take(1, [removed, firstChange("f")], { top: at(1, "f") });
    expect(subscriber.received).toEqual(["1"]);
    expect(channel.follower.position).toEqual(at(1, "f"));
  });

  it("[Z5] tells restored subscribers whose position is unknown", () => {
    const { channel, subscriber } = subscribed(at(5), {}, 0, { attachmentFull: true });
    channel.hibernate(subscriber);
    channel.take(3, [entry(6), removed], { top: at(0, "f") });
    expect(subscriber.received).toEqual(["lost"]);
  });

  it("[Z5] takes nothing of that stream from a late batch of an earlier instance", () => {
    const { channel, subscriber } = subscribed(at(1));
    channel.takeStream(1, [2], { instance: 2 });
    // Before the map was cleared, the stream had changes with the numbers that the next one has now.
    const late = [entry(2), entry(3), removed, firstChange("e"), entry(2)];
    channel.take(1, late, { top: at(2) });
    expect(subscriber.received).toEqual(["2"]);
    channel.take(1, [...late, entry(3)], { top: at(3) });
    expect(subscriber.received).toEqual(["2", "3"]);
    channel.take(1, [entry(4), entry(5), removed], { top: at(4) });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(3), whole: true }]);
    channel.port.answer(read([4], at(4)));
    channel.settle();
    expect(subscriber.received).toEqual(["2", "3", "4"]);
  });
});

describe("a piece of a value that grows", () => {
  const splice = { text: "b", at: 2, baseBytes: 3, sum: 0 };
  const piece = (base: number): RelayEntry => {
    return { type: "piece", piece: { key: "k", number: 1, base, splice } };
  };

  it("[Z39] comes to subscribers with deltas", () => {
    const { channel, subscriber } = subscribed(at(5), {}, 0, { delta: true });
    channel.take(1, [piece(5)], { top: at(5) });
    channel.settle();
    expect(subscriber.received).toHaveLength(1);
  });

  it.each([false, true])(
    "[Z39] doesn't come to restored ones, who may have it already (unknown cursor: %s)",
    (attachmentFull) => {
      const traits = { delta: true, attachmentFull };
      const { channel, subscriber } = subscribed(at(5), {}, 0, traits);
      channel.hibernate(subscriber);
      channel.take(1, [piece(5)], { top: at(5) });
      channel.settle();
      expect(subscriber.received).toEqual([]);
      channel.take(2, [entry(6), piece(6)], { top: at(6) });
      channel.settle();
      expect(subscriber.received).toHaveLength(2);
    },
  );
});
