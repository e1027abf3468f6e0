import { describe, expect, it } from "vitest";
import type { KeyChange } from "../../../../src/features/shared-polls/poll-batch.ts";
import { limits } from "../../../../src/limits.ts";
import type { Codec } from "../../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { KeyFrames } from "../../../../src/features/shared-polls/key-frames.ts";
import { longValue } from "../../../support/long-value.ts";
import { textOf } from "../../../support/text-of.ts";
import { json } from "../../api/channel-config.ts";

class Receiver {
  readonly frames: string[] = [];
  readonly codec: Codec;
  readonly delta: boolean;
  behind = 0;
  closed: number | undefined;

  constructor(codec: Codec = jsonCodec, delta = false) {
    this.codec = codec;
    this.delta = delta;
  }

  send(frame: string | Uint8Array): void {
    this.frames.push(textOf(frame));
  }

  backlogBytes(): number {
    return this.behind;
  }

  disconnect({ code }: { readonly code: number }): void {
    this.closed = code;
  }

  /** The keys and versions of all frames, one text for each frame. */
  get received(): readonly string[] {
    return this.frames.map((frame) =>
      Array.from(
        frame.matchAll(/"key":"(\w+)","version":(\d+)/g),
        ([, key, version]) => `${key}@${version}`,
      ).join(),
    );
  }
}

const change = (key: string, version: number, data = `${version}`): KeyChange => ({
  key,
  version: BigInt(version),
  data: json(data),
  offset: 0,
});

const receivers = (count: number) => Array.from({ length: count }, () => new Receiver());

describe("the frames to those who track keys", () => {
  it("[F2] go out in slices, with all changes of a connection in one frame", () => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const all = receivers(limits.sliceSubscribersMax + 1);
    for (const each of all) {
      frames.collect(each, change("a", 1));
      frames.collect(each, change("b", 2));
    }
    frames.sendSlice();
    expect(all.map(({ frames: sent }) => sent.length)).toEqual([...all.slice(1).map(() => 1), 0]);
    expect(frames.sending).toBe(true);
    frames.sendSlice();
    expect([frames.sending, all.at(-1)?.received]).toEqual([false, ["a@1,b@2"]]);
  });

  it("[F2] end a slice when it has limits.sliceBytesMax", () => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const all = receivers(3);
    const large = change("a", 1, `"${"x".repeat(limits.sliceBytesMax / 2)}"`);
    for (const each of all) frames.collect(each, large);
    frames.sendSlice();
    expect(all.map(({ frames: sent }) => sent.length)).toEqual([1, 1, 0]);
  });

  it("[SP7] hold the newest change of each key only, and none of what a connection tracks no more", () => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const [one, other, third] = receivers(3);
    if (one === undefined || other === undefined || third === undefined) throw new Error("none");
    for (const each of [one, other, third]) frames.collect(each, change("a", 1));
    frames.collect(one, change("b", 2));
    frames.collect(one, change("a", 3));
    frames.drop(one, "b");
    frames.drop(other, "a");
    frames.leave(third);
    frames.sendSlice();
    expect([one.received, other.frames, third.frames, frames.length]).toEqual([["a@3"], [], [], 0]);
  });

  it("[F1] encode each change once for each codec", () => {
    let encoded = 0;
    const counting: Codec = {
      ...jsonCodec,
      encodePush: (pushed) => {
        encoded++;
        return jsonCodec.encodePush(pushed);
      },
    };
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const one = change("a", 1);
    for (let count = 0; count < 5; count++) frames.collect(new Receiver(counting), one);
    frames.sendSlice();
    expect(encoded).toBe(1);
  });

  it.each([
    ["limits.batchPushesMax", limits.batchPushesMax + 1, "1"],
    ["limits.batchBytesMax", 2, `"${"x".repeat(limits.batchBytesMax)}"`],
  ])("[F3] are divided at %s", (_, count, data) => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const receiver = new Receiver();
    for (let key = 0; key < count; key++) frames.collect(receiver, change(`k${key}`, 1, data));
    frames.sendSlice();
    expect(receiver.frames).toHaveLength(2);
  });

  it("[F4] aren't sent to a connection that is too far behind, which is disconnected", () => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const [slow, good] = receivers(2);
    if (slow === undefined || good === undefined) throw new Error("none");
    slow.behind = 1_001;
    good.behind = 1_000;
    for (const each of [slow, good]) frames.collect(each, change("a", 1));
    frames.sendSlice();
    expect([slow.frames, slow.closed, good.received, good.closed]).toEqual([
      [],
      3_008,
      ["a@1"],
      undefined,
    ]);
  });
});

describe("[SP13] the frames to those who get deltas", () => {
  const values = [1, 2, 3, 4].map((version) => change("a", version, longValue(version)));
  const [first, second, third, fourth] = values;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    throw new Error("none");

  it("[D5] [SP21] are made of limits.deltaBasesMax bases at most, and in full from any other", () => {
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    const all = Array.from(
      { length: limits.deltaBasesMax + 1 },
      () => new Receiver(jsonCodec, true),
    );
    for (const [index, each] of all.entries())
      frames.collect(each, first, json(longValue(index + 10)));
    while (frames.sending) frames.sendSlice();
    const isDelta = all.map(({ frames: [frame = ""] }) => frame.includes('"delta":true'));
    expect(isDelta).toEqual([...all.slice(1).map(() => true), false]);
  });

  it("[F1] are made once for each base", () => {
    let encoded = 0;
    const counting: Codec = {
      ...jsonCodec,
      encodePush: (pushed) => {
        encoded++;
        return jsonCodec.encodePush(pushed);
      },
    };
    const frames = new KeyFrames<Receiver>("prices:eu", 1_000);
    for (let count = 0; count < 3; count++) {
      frames.collect(new Receiver(counting, true), second, first.data);
      frames.collect(new Receiver(counting, true), second);
    }
    expect(frames.length).toBe(first.data.length + second.data.length);
    frames.sendSlice();
    expect([encoded, frames.length]).toEqual([2, 0]);
  });
});
