import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hub } from "../../../src/hub/hub.ts";
import { limits } from "../../../src/limits.ts";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { publishing } from "../../contract/open-channel.ts";
import { recordingSubscribers, RecordingSubscriber } from "./recording-subscriber.ts";
import { textOf } from "../../support/text-of.ts";

describe("encoding", () => {
  it("[F1] happens once for each publication and frame, whatever the subscribers", () => {
    const { codec, counts } = countingCodec();
    const { hub, subscribers } = opened(300, codec);
    for (let data = 1; data <= 3; data++) hub.publish(publication(data));
    hub.flush();
    expect(counts).toEqual({ pushes: 3, frames: 1 });
    const [first] = subscribers;
    expect(first?.received).toEqual(["1", "2", "3"]);
    for (const { frames } of subscribers) expect(frames).toEqual(first?.frames);
  });

  it("[F1] doesn't happen without subscribers", () => {
    const { codec, counts } = countingCodec();
    const { hub } = opened(0);
    hub.publish(publication(1));
    expect(hub.collecting).toBe(false);
    expect(hub.settle(0)).toBeUndefined();
    hub.announce("join", { user: "42", client: "c1" });
    hub.add(new RecordingSubscriber("uninterested", { codec }));
    hub.announce("join", { user: "42", client: "c1" });
    expect(counts).toEqual({ pushes: 0, frames: 0 });
  });

  it("[F1] happens once for each join and leave", () => {
    const { codec, counts } = countingCodec();
    const { hub } = opened(0);
    const interested = [1, 2, 3].map(
      (id) => new RecordingSubscriber(`${id}`, { codec, hearsJoinLeave: true }),
    );
    const uninterested = new RecordingSubscriber("uninterested", { codec });
    for (const subscriber of [...interested, uninterested]) hub.add(subscriber);
    hub.announce("join", { user: "42", client: "c1" });
    hub.announce("leave", { user: "42", client: "c1" });
    expect(counts).toEqual({ pushes: 2, frames: 0 });
    for (const subscriber of interested)
      expect(subscriber.received).toEqual(["join 42", "leave 42"]);
    expect(uninterested.frames).toEqual([]);
  });
});

describe("settling", () => {
  it("[F2] sends at once to few subscribers, however fast publications come", () => {
    const { hub, subscribers } = opened(39);
    for (let data = 1; data <= 3; data++) {
      hub.publish(publication(data));
      expect(hub.settle(0)).toBeUndefined();
      expect(subscribers[0]?.frames).toHaveLength(data);
    }
  });

  it("[F2] collects for many subscribers during a frame, and as long as publications follow without a pause", () => {
    const { hub, subscribers } = opened(400);
    const framesAt = (nowMs: number, ...datas: number[]) => {
      for (const data of datas) hub.publish(publication(data));
      return { waitMs: hub.settle(nowMs), frames: subscribers[399]?.frames.length };
    };
    expect(framesAt(100, 1)).toEqual({ waitMs: undefined, frames: 1 });
    expect(framesAt(101, 2)).toEqual({ waitMs: 9, frames: 1 });
    expect(framesAt(103, 3, 4)).toEqual({ waitMs: 7, frames: 1 });
    expect(hub.collecting).toBe(true);
    expect(framesAt(110)).toEqual({ waitMs: 3, frames: 1 });
    expect(framesAt(112, 5)).toEqual({ waitMs: 3, frames: 1 });
    expect(framesAt(115)).toEqual({ waitMs: undefined, frames: 2 });
    expect(hub.collecting).toBe(false);
    expect(framesAt(116)).toEqual({ waitMs: undefined, frames: 2 });
    expect(framesAt(120, 6)).toEqual({ waitMs: 5, frames: 2 });
    expect(framesAt(128)).toEqual({ waitMs: undefined, frames: 3 });
    expect(framesAt(153, 7)).toEqual({ waitMs: undefined, frames: 4 });
    expect(subscribers[0]?.received).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
  });

  it("[F2] doesn't wait for subscribers that left", () => {
    const { hub, subscribers } = opened(400);
    hub.publish(publication(1));
    hub.settle(0);
    for (const subscriber of subscribers.slice(200)) hub.remove(subscriber);
    hub.publish(publication(2));
    expect(hub.settle(1)).toBe(5);
    for (const subscriber of subscribers.slice(25)) hub.remove(subscriber);
    hub.publish(publication(3));
    expect(hub.settle(1)).toBeUndefined();
    expect(subscribers[0]?.received).toEqual(["1", "2", "3"]);
  });

  it("[F2] doesn't wait longer when the clock is set back", () => {
    const { hub, subscribers } = opened(400);
    hub.publish(publication(1));
    hub.settle(1_000_000);
    hub.publish(publication(2));
    expect(hub.settle(500)).toBe(10);
    expect(hub.settle(503)).toBe(7);
    expect(hub.settle(510)).toBe(3);
    expect(hub.settle(513)).toBeUndefined();
    expect(subscribers[0]?.received).toEqual(["1", "2"]);
  });

  it("[O4] notifies a subscriber that waits for the next frame, once", () => {
    const { hub, subscribers } = opened(2);
    const [waiting, other] = [at(subscribers, 0), at(subscribers, 1)];
    waiting.onFlushed = () => expect([waiting.received, other.received]).toEqual([["1"], ["1"]]);
    hub.publish(publication(1));
    hub.callAfterFlush(waiting);
    hub.callAfterFlush(waiting);
    expect(waiting.flushes).toBe(0);
    hub.flush();
    expect([waiting.flushes, other.flushes]).toEqual([1, 0]);
    hub.publish(publication(2));
    hub.flush();
    expect(waiting.flushes).toBe(1);
  });
});

describe("a frame", () => {
  it("[F3] holds at most 256 publications", () => {
    const { hub, subscribers } = opened(1);
    for (let data = 0; data < 600; data++) hub.publish(publication(data));
    hub.flush();
    const { frames, received } = at(subscribers, 0);
    expect(frames.map((frame) => textOf(frame).split("\n").length)).toEqual([256, 256, 88]);
    expect(received).toEqual(Array.from({ length: 600 }, (_, data) => String(data)));
  });

  it("[F3] holds 64 KiB with all that is in it, and not a byte more", () => {
    const overhead = jsonCodec.encodePush({
      type: "publication",
      channel: "room",
      publication: publication('""'),
    }).length;
    const half = text(limits.batchBytesMax / 2 - overhead);
    for (const [rest, frames] of [
      [-1, 1],
      [0, 2],
    ] as const) {
      const { hub, subscribers } = opened(1);
      hub.publish(half);
      hub.publish(text(limits.batchBytesMax / 2 - overhead + rest));
      hub.flush();
      expect(at(subscribers, 0).frames).toHaveLength(frames);
    }
  });

  it("[F3] holds a larger publication alone", () => {
    const { hub, subscribers } = opened(1);
    hub.publish(publication(1));
    hub.publish(text(limits.batchBytesMax));
    hub.publish(publication(3));
    hub.flush();
    const counts = at(subscribers, 0).frames.map((frame) => textOf(frame).split("\n").length);
    expect(counts).toEqual([1, 1, 1]);
  });

  it("[F3] loses nothing at its limits, whatever the sizes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(200), fc.nat(40_000), fc.nat(70_000)), { maxLength: 40 }),
        (sizes) => {
          const { hub, subscribers } = opened(1);
          for (const size of sizes) hub.publish(text(size));
          hub.flush();
          const { frames, received } = at(subscribers, 0);
          expect(received.map((data) => data.length - 2)).toEqual(sizes);
          for (const frame of frames) {
            expect(frame.length <= limits.batchBytesMax || !textOf(frame).includes("\n")).toBe(
              true,
            );
          }
        },
      ),
      { seed: 20_261_120, numRuns: 100 },
    );
  });
});

describe("coming and going while publications are collected", () => {
  it("[F5] sends the collected ones first", () => {
    const { hub, subscribers } = opened(2);
    const [staying, leaving] = [at(subscribers, 0), at(subscribers, 1)];
    const late = new RecordingSubscriber("late", { hearsJoinLeave: true });
    hub.publish(publication(1));
    hub.add(late);
    hub.publish(publication(2));
    hub.remove(leaving);
    hub.publish(publication(3));
    hub.announce("leave", leaving.info);
    hub.publish(publication(4));
    hub.flush();
    expect(staying.received).toEqual(["1", "2", "3", "4"]);
    expect(leaving.received).toEqual(["1", "2"]);
    expect(late.received).toEqual(["2", "3", "leave user1", "4"]);
    expect(hub.size).toBe(2);
  });

  it("[F5] isn't triggered by the removal of an unknown subscriber", () => {
    const { hub, subscribers } = opened(1);
    hub.publish(publication(1));
    hub.remove(new RecordingSubscriber("stranger"));
    expect(hub.collecting).toBe(true);
    expect(at(subscribers, 0).frames).toEqual([]);
  });
});

describe("a user's only connection", () => {
  it("[C10] reaches all connections of the user, which may leave meanwhile", () => {
    const { hub, subscribers } = opened(2);
    const first = new RecordingSubscriber("42");
    const second = new RecordingSubscriber("42");
    for (const subscriber of [first, second]) {
      subscriber.onReplaced = () => hub.remove(subscriber);
      hub.add(subscriber);
    }
    hub.makeExclusive("42", "c9");
    expect([first.replacements, second.replacements]).toEqual([["c9"], ["c9"]]);
    expect(subscribers.map(({ replacements }) => replacements)).toEqual([[], []]);
    expect(hub.size).toBe(2);
  });
});

function opened(size: number, codec: Codec = jsonCodec) {
  const hub = new Hub("room", 1_048_576);
  const subscribers = recordingSubscribers(size, { codec });
  for (const subscriber of subscribers) hub.add(subscriber);
  return { hub, subscribers };
}

/** The real codec, counted. */
function countingCodec() {
  const counts = { pushes: 0, frames: 0 };
  const codec: Codec = {
    ...jsonCodec,
    encodePush: (push) => {
      counts.pushes++;
      return jsonCodec.encodePush(push);
    },
    joinFrame: (messages) => {
      counts.frames++;
      return jsonCodec.joinFrame(messages);
    },
  };
  return { codec, counts };
}

function publication(data: string | number): Publication {
  return { data: publishing(data).data, offset: 0 };
}

/** A publication of a string of so many characters. */
function text(size: number): Publication {
  return publication(JSON.stringify("x".repeat(size)));
}

function at(subscribers: readonly RecordingSubscriber[], index: number): RecordingSubscriber {
  const subscriber = subscribers[index];
  if (subscriber === undefined) throw new Error(`no listener ${index}`);
  return subscriber;
}
