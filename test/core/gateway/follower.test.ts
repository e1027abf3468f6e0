import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { replyToRequests } from "../../../src/channel/relay-replies.ts";
import type { RelayEntry } from "../../../src/contract/relay-batch.ts";
import { openChannel, positionOf, publishing } from "../../contract/open-channel.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { json } from "../api/channel-config.ts";
import {
  at,
  entry,
  FollowedChannel,
  following,
  read,
  said,
  subscribed,
} from "./support/followed-channel.ts";
import { RecordingSubscription } from "./support/recording-subscription.ts";
import { textOf } from "../../support/text-of.ts";

describe("a channel without history", () => {
  it("[L1] passes on entries with higher numbers than the last one, once", () => {
    const { channel, subscriber } = subscribed();
    expect(channel.take(1, [said("1"), said("2")])).toEqual({ outcome: "taken" });
    channel.take(1, [said("1"), said("2"), said("3")], { certain: false });
    channel.take(2, [said("2")], { certain: false });
    expect(subscriber.received).toEqual(["1", "2", "3"]);
  });

  it("[P2] passes on joins and leaves to the subscribers that receive them", () => {
    const { channel, subscriber } = subscribed();
    const uninterested = new RecordingSubscription("7");
    channel.subscribe(uninterested);
    const info = { user: "1", client: "c" };
    channel.take(1, [
      { type: "join", info },
      { type: "leave", info },
    ]);
    expect(subscriber.received).toEqual(["join 1", "leave 1"]);
    expect(uninterested.received).toEqual([]);
  });

  it("[C10] disconnects a user's other connections for one that wants to be the only one", () => {
    const { channel, subscriber } = subscribed();
    const another = new RecordingSubscription("7");
    channel.subscribe(another);
    channel.take(1, [{ type: "sole", user: "42", client: "another" }]);
    expect(subscriber.disconnects.map(({ code }) => code)).toEqual([3504]);
    expect(another.disconnects).toEqual([]);
  });

  it("[L3] signals insufficient state when history was switched on meanwhile", () => {
    const { channel, subscriber } = subscribed();
    channel.takeStream(1, [1], { instance: 2 });
    expect(subscriber.received).toEqual(["lost"]);
  });
});

describe("a channel with history", () => {
  it("[L3] reads missing publications, and passes them on before later ones", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.take(1, [entry(6), said(`"a"`), entry(8), said(`"b"`)], { top: at(8) });
    expect(subscriber.received).toEqual(["6", `"a"`]);
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(6), whole: true }]);
    channel.takeStream(5, [9, 10]);
    channel.port.answer(read([7, 8, 9], at(9)));
    channel.settle();
    expect(subscriber.received).toEqual(["6", `"a"`, "7", "8", "9", `"b"`, "10"]);
  });

  it("[L4] reads missing publications when the channel sends only its top", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.take(1, [], { instance: 2, certain: false, top: at(6) });
    channel.port.answer(read([6], at(6)));
    channel.settle();
    expect(subscriber.received).toEqual(["6"]);
  });

  it.each([
    ["is gone", { outcome: "unrecoverable", position: at(9) } as const],
    [
      "can't be read",
      { outcome: "failed", error: { code: 111, message: "", temporary: true } } as const,
    ],
    ["has a hole at the beginning", read([8, 9], at(9))],
    ["has a hole in the middle", read([6, 7, 9], at(9))],
    ["ends before the top", read([6, 7, 8], at(9))],
    ["is of another stream", { ...read([6, 7, 8, 9], at(9, "f")) }],
  ])("[L3] signals insufficient state when the missing part %s", (_, answer) => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(4, [9]);
    channel.port.answer(answer);
    // A reply that looks like a page is continued.
    if (channel.port.open > 0) channel.port.answer(answer);
    channel.settle();
    expect(subscriber.received.at(-1)).toBe("lost");
    expect(channel.port.open).toBe(0);
    expect(subscriber.received).not.toContain("9");
  });

  it("[L3] begins anew for a subscriber after missing publications were gone", () => {
    const { channel, subscriber } = subscribed(at(5));
    const data = json(`"${"x".repeat(limits.followerBufferBytesMax - 2_000)}"`);
    channel.takeStream(2, [7]);
    channel.take(3, [{ type: "publication", publication: { data, offset: 8 } }], { top: at(8) });
    const another = new RecordingSubscription("7");
    channel.subscribe(another);
    channel.port.answer({ outcome: "unrecoverable", position: at(8) });
    expect(subscriber.received).toEqual(["lost"]);
    const small = json(`"${"x".repeat(2_000)}"`);
    channel.take(4, [{ type: "publication", publication: { data: small, offset: 6 } }], {
      top: at(6),
    });
    channel.port.answer(following(at(5), 3));
    expect(another.answers).toMatchObject([{ position: at(6) }]);
    channel.takeStream(6, [8]);
    channel.port.answer(read([7, 8], at(8)));
    channel.settle();
    expect(another.received).toEqual(["7", "8"]);
  });

  it("[L3] reads missing publications after a loss, once a subscriber has a position again", () => {
    const { channel } = subscribed(at(5));
    channel.takeStream(2, [7]);
    channel.port.answer({ outcome: "unrecoverable", position: at(7) });
    const again = new RecordingSubscription("42");
    channel.subscribed(again, at(5));
    channel.takeStream(2, [7]);
    channel.port.answer(read([6, 7], at(7)));
    channel.settle();
    expect(again.received).toEqual(["6", "7"]);
  });

  it("[L3] reads missing publications page by page, and then passes on the later ones", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(6, [11]);
    channel.port.answer(read([6, 7], at(10)));
    channel.settle();
    channel.takeStream(7, [12]);
    expect(subscriber.received).toEqual(["6", "7"]);
    expect(subscriber.savedCursor?.position).toMatchObject({ offset: 7 });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(7), whole: true }]);
    channel.port.answer(read([8, 9], at(12)));
    channel.port.answer(read([10, 11, 12], at(12)));
    channel.settle();
    expect(subscriber.received).toEqual(["6", "7", "8", "9", "10", "11", "12"]);
    channel.takeStream(8, [13]);
    expect(subscriber.received.at(-1)).toBe("13");
    expect(channel.port.open).toBe(0);
  });

  it("[L3] asks for no further page without subscribers", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(6, [11]);
    channel.follower.unsubscribe(subscriber.subscription);
    channel.port.answer(read([6, 7], at(10)));
    expect(channel.port.open).toBe(0);
  });

  it("[F4] keeps a reader that drains its backlog while the next page is read", () => {
    const sql = new NodeSql();
    const asked = openChannel(sql, { options: { historySize: 2_000, historyTtlMs: 3_600_000 } });
    const queueBytes = 1_048_576;
    const { channel, subscriber } = subscribed({ ...positionOf(asked), offset: 0 });
    const text = JSON.stringify("x".repeat(4_000));
    for (let count = 0; count < 1_000; count++) asked.publish(publishing(text), undefined, 0);
    let mostBytes = 0;
    subscriber.onReceived = (what) => {
      subscriber.behindBytes += what.length + 80;
      mostBytes = Math.max(mostBytes, subscriber.behindBytes);
    };
    channel.take(1_001, [], { top: positionOf(asked), certain: false });
    let calls = 0;
    let number = 1_001;
    while (channel.port.open > 0) {
      calls++;
      const { requests } = channel.port;
      // More is published while the gateway catches up, and the gateway is told.
      for (let count = 0; count < 5; count++) {
        asked.publish(publishing(text), undefined, 0);
        const publication = { data: json(text), offset: positionOf(asked).offset };
        channel.take(number++, [{ type: "publication", publication }], { top: positionOf(asked) });
      }
      subscriber.behindBytes = 0;
      channel.port.answer(...replyToRequests(asked, "eu/1", requests, 0));
      channel.settle();
    }
    expect(subscriber.disconnects).toEqual([]);
    expect(subscriber.received).toHaveLength(positionOf(asked).offset);
    expect(calls).toBeGreaterThan(7);
    expect(mostBytes).toBeLessThanOrEqual(queueBytes);
  });

  it("[L3] signals insufficient state if the read ends before the known top", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(4, [9]);
    channel.port.answer(read([], at(5)));
    expect(subscriber.received).toEqual(["lost"]);
    expect(channel.port.open).toBe(0);
  });

  it("[O1] adopts another epoch before the first publication, when nothing is at stake", () => {
    const { channel, subscriber } = subscribed(at(0));
    channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    channel.takeStream(2, [2], { instance: 2, top: at(2, "f") });
    expect(subscriber.received).toEqual(["1", "2"]);
  });

  it("[L1] takes from a former instance the publications that are new, and nothing else", () => {
    const channel = new FollowedChannel();
    const subscriber = new RecordingSubscription("42");
    channel.subscribe(subscriber);
    channel.port.answer(following(at(3), 0, 2));
    channel.take(7, [said(`"a"`), entry(3), entry(4)], { top: at(4) });
    expect(subscriber.received).toEqual(["4"]);
  });

  it("[W1] says the epoch with the first publication, also when that was read", () => {
    const { channel, subscriber } = subscribed(at(0));
    const frames: string[] = [];
    subscriber.subscription.send = (frame) => frames.push(textOf(frame));
    channel.take(2, [entry(2)], { top: at(2) });
    channel.port.answer(read([1, 2], at(2)));
    channel.settle();
    expect(frames.join("\n")).toContain(`{"data":1,"offset":1,"epoch":"e"}`);
    expect(frames.join("\n")).toContain(`{"data":2,"offset":2}`);
  });

  it("[B1] holds only so much while it waits, and reads the rest from the history", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(2, [7]);
    // Half of the limit of a reader's backlog; the other half is for reads.
    const data = json(`"${"x".repeat(1_048_576 / 4)}"`);
    const large = (offset: number): RelayEntry => ({
      type: "publication",
      publication: { data, offset },
    });
    channel.take(3, [large(8)], { top: at(8) });
    channel.take(4, [large(9)], { top: at(9) });
    channel.take(5, [large(10)], { top: at(10) });
    channel.port.answer(read([6, 7], at(7)));
    channel.settle();
    expect(subscriber.received).toEqual(["6", "7", data]);
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(8), whole: true }]);
    channel.port.answer(read([9, 10], at(10)));
    channel.settle();
    expect(subscriber.received.slice(3)).toEqual(["9", "10"]);
  });

  it("[B1] signals insufficient state without history if entries didn't fit", () => {
    const channel = new FollowedChannel();
    const subscriber = new RecordingSubscription("42");
    channel.subscribe(subscriber);
    const data = json(`"${"x".repeat(limits.followerBufferBytesMax)}"`);
    channel.take(1, [{ type: "publication", publication: { data, offset: 0 } }]);
    channel.take(1, [said("1")], { instance: 2 });
    channel.port.answer(following());
    channel.settle();
    // The subscriber isn't live yet when the hole is noticed, so its subscription begins after the hole.
    channel.port.answer(following(undefined, 1, 2));
    channel.take(2, [said("2")], { instance: 2 });
    expect(subscriber.answers).toHaveLength(1);
    expect(subscriber.received).toEqual(["2"]);
  });
});

describe("a follower", () => {
  it("[L5] answers that it has no subscribers, and drops the entries", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.follower.unsubscribe(subscriber.subscription);
    expect(channel.takeStream(1, [6])).toEqual({ outcome: "left" });
    expect(channel.follower.idle).toBe(true);
    expect(subscriber.received).toEqual([]);
  });

  it("[B3] takes nothing while its sockets are too far behind, and takes it later", () => {
    const { channel, subscriber } = subscribed(undefined, {
      queue_max_size: limits.backlogBytesMax * 2,
    });
    subscriber.behindBytes = limits.backlogBytesMax + 1;
    channel.take(1, [said("1")]);
    expect(channel.take(2, [said("2")])).toEqual({ outcome: "busy" });
    subscriber.behindBytes = 0;
    channel.take(2, [said("2")]);
    expect(subscriber.received).toEqual(["1", "2"]);
  });

  it("[L3] begins anew with the next subscriber after all got a signal", () => {
    const { channel, subscriber } = subscribed(at(5));
    channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    expect(channel.follower.idle).toBe(true);
    const again = new RecordingSubscription("42");
    channel.subscribe(again);
    channel.port.answer(following(at(1, "f"), 1, 2));
    channel.takeStream(2, [2], { instance: 2, top: at(2, "f") });
    expect([subscriber.received, again.received]).toEqual([["lost"], ["2"]]);
    expect(again.savedCursor).toEqual({ instance: 2, sequence: 2, position: at(2, "f") });
  });
});
