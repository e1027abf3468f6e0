import { describe, expect, it } from "vitest";
import type { RelayEntry } from "../../../src/contract/relay-batch.ts";
import { json } from "../api/channel-config.ts";
import { at, entry, subscribed } from "./support/followed-channel.ts";

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
});
