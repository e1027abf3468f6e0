import { sendAll } from "../../support/send-all.ts";
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
  it("[F1] doesn't happen without subscribers", () => {
    const { codec, counts } = countingCodec();
    const { hub } = opened(0);
    hub.publish(publication(1));
    hub.announce("join", { user: "42", client: "c1" });
    expect([hub.collecting, begin(hub)]).toEqual([false, false]);
    hub.add(new RecordingSubscriber("first", { codec }));
    expect(counts).toEqual({ pushes: 0, frames: 0 });
  });
});

describe("a frame to few", () => {
  it("[F2] is sent at once, however fast publications come", () => {
    const { hub, subscribers } = opened(limits.immediateSubscribersMax);
    for (let data = 1; data <= 3; data++) {
      hub.publish(publication(data));
      expect(begin(hub)).toBe(false);
      for (const { frames } of subscribers) expect(frames).toHaveLength(data);
    }
  });
});

describe("a frame to many", () => {
  it("[F2] is sent in slices, and what is published meanwhile shares the next one", () => {
    const { hub, subscribers } = opened(60);
    const counts = () => subscribers.map(({ frames }) => frames.length);
    const slice = limits.sliceSubscribersMax;
    hub.publish(publication(1));
    expect([hub.sending, begin(hub)]).toEqual([false, true]);
    expect(counts()).toEqual(framesOf([slice, 1], [60 - slice, 0]));
    hub.publish(publication(2));
    expect(begin(hub)).toBe(true);
    expect(counts()).toEqual(framesOf([slice, 1], [60 - slice, 0]));
    hub.sendSlice();
    hub.publish(publication(3));
    expect(counts()).toEqual(framesOf([2 * slice, 1], [60 - 2 * slice, 0]));
    while (hub.sending) hub.sendSlice();
    expect(hub.collecting).toBe(true);
    expect(counts()).toEqual(framesOf([60, 1]));
    expect(begin(hub)).toBe(true);
    expect(counts()).toEqual(framesOf([slice, 2], [60 - slice, 1]));
    while (hub.sending) hub.sendSlice();
    expect([hub.collecting, begin(hub)]).toEqual([false, false]);
    for (const { received, frames } of subscribers) {
      expect(received).toEqual(["1", "2", "3"]);
      expect(frames).toHaveLength(2);
    }
  });

  it("[F2] is waited for from its first offset, as long as somebody hasn't been sent it", () => {
    const { hub } = opened(limits.immediateSubscribersMax + limits.sliceSubscribersMax * 2);
    expect(hub.firstWaitingOffset).toBeUndefined();
    hub.publish({ ...publication(7), offset: 7 });
    expect(hub.firstWaitingOffset).toBe(7);
    hub.begin();
    expect(hub.sending).toBe(true);
    hub.publish({ ...publication(8), offset: 8 });
    expect(hub.firstWaitingOffset).toBe(7);
    while (hub.firstWaitingOffset === 7) hub.sendSlice();
    expect(hub.firstWaitingOffset).toBe(8);
    sendAll(hub);
    expect(hub.firstWaitingOffset).toBeUndefined();
  });

  it("[F2] ends a slice when its bytes are enough", () => {
    const { hub, subscribers } = opened(60);
    hub.publish(text(limits.sliceBytesMax / 4));
    hub.begin();
    expect(subscribers.filter(({ frames }) => frames.length > 0)).toHaveLength(4);
    sendAll(hub);
    for (const { frames } of subscribers) expect(frames).toHaveLength(1);
  });

  it("[F2] gives the loop a turn after many for whom it holds nothing, too", () => {
    const { hub } = opened(3_000);
    const last = new RecordingSubscriber("last", { hearsJoinLeave: true });
    hub.add(last);
    hub.announce("join", { user: "42", client: "c1" });
    hub.begin();
    let turns = 0;
    for (; hub.sending; turns++) hub.sendSlice();
    expect(turns).toBeGreaterThan(2);
    expect(turns).toBeLessThan(20);
    expect(last.received).toEqual(["join 42"]);
  });

  it("[F6] lets so many batches wait, and so many bytes, before publishers have to", () => {
    const { hub } = opened(60);
    hub.publish(publication(0));
    hub.begin();
    const most = limits.batchesWaitingMax * limits.batchPushesMax;
    for (let data = 1; data <= most; data++) hub.publish(publication(data));
    expect(hub.full).toBe(false);
    hub.publish(publication(most + 1));
    expect(hub.full).toBe(true);
    sendAll(hub);
    expect(hub.full).toBe(false);
    hub.publish(publication(0));
    hub.begin();
    hub.publish(text(limits.batchesWaitingBytesMax));
    expect(hub.full).toBe(true);
  });

  it("[F7] [F11] tells that it takes a while yet, and that much is collected behind it", () => {
    const { hub } = opened(limits.longRestSubscribers + limits.sliceSubscribersMax + 1);
    expect(hub.sendsLong).toBe(false);
    hub.publish(publication(0));
    hub.begin();
    expect(hub.sendsLong).toBe(true);
    hub.sendSlice();
    expect(hub.sendsLong).toBe(false);
    const most = limits.batchesAheadMax * limits.batchPushesMax;
    for (let data = 1; data <= most; data++) hub.publish(publication(data));
    expect(hub.isBehind).toBe(false);
    hub.publish(publication(0));
    expect(hub.isBehind).toBe(true);
    expect(hub.full).toBe(false);
  });

  it("[F10] is sent without a turn when more is collected than memory should hold", () => {
    const { hub, subscribers } = opened(60);
    const all = (limits.batchesCollectedMax + 1) * limits.batchPushesMax;
    for (let data = 0; data < all; data++) hub.publish(publication(data));
    expect(at(subscribers, 59).received).toHaveLength(limits.batchPushesMax);
    sendAll(hub);
    const datas = Array.from({ length: all }, (_, data) => String(data));
    for (const { received } of subscribers.slice(58)) expect(received).toEqual(datas);
    for (const { frames } of subscribers)
      expect(frames).toHaveLength(limits.batchesCollectedMax + 1);
  });

  it("[O5] sends the leaves of those that its last slice cut", () => {
    const { hub, subscribers } = opened(60);
    const slow = at(subscribers, 59);
    const observer = new RecordingSubscriber("observer", { hearsJoinLeave: true });
    hub.add(observer);
    slow.behindBytes = Number.POSITIVE_INFINITY;
    slow.onDisconnect = () => {
      hub.remove(slow);
      hub.announce("leave", slow.info);
    };
    hub.publish(publication(1));
    sendAll(hub);
    expect(observer.received).toEqual(["1", "leave user59"]);
  });
});

describe("a frame", () => {
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
      sendAll(hub);
      expect(at(subscribers, 0).frames).toHaveLength(frames);
    }
  });

  it("[F3] loses nothing at its limits, whatever the sizes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(200), fc.nat(40_000), fc.nat(70_000)), { maxLength: 40 }),
        (sizes) => {
          const { hub, subscribers } = opened(1);
          for (const size of sizes) hub.publish(text(size));
          sendAll(hub);
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

describe("coming and going while a frame is on its way", () => {
  it("[S3] leaves nothing to send when the last one has gone", () => {
    const { hub, subscribers } = opened(51);
    hub.publish(publication(1));
    hub.begin();
    hub.publish(publication(2));
    for (const subscriber of subscribers) hub.remove(subscriber);
    for (const { received } of subscribers) expect(received).toEqual(["1", "2"]);
    expect([hub.sending, hub.collecting, begin(hub)]).toEqual([false, false, false]);
  });

  it("[B3] counts what is sent to one alone", () => {
    const { hub, subscribers } = opened(100);
    hub.publish(text(1_000_000));
    for (const subscriber of subscribers) {
      hub.catchUp(subscriber);
      subscriber.behindBytes = 1_000_000;
    }
    expect(hub.overloaded(0)).toBe(true);
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

/** So many subscribers with so many frames, and so on. */
function framesOf(
  ...parts: readonly (readonly [size: number, frames: number])[]
): readonly number[] {
  return parts.flatMap(([size, frames]) => Array<number>(size).fill(frames));
}

function opened(size: number, codec: Codec = jsonCodec) {
  const hub = new Hub("room", 1_048_576);
  const subscribers = recordingSubscribers(size, { codec });
  for (const subscriber of subscribers) hub.add(subscriber);
  return { hub, subscribers };
}

/** Starts the next frame, and gives whether a frame is on its way then. */
function begin(hub: Hub): boolean {
  hub.begin();
  return hub.sending;
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
