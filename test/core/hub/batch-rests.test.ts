import { expect, it } from "vitest";
import { BatchFrames } from "../../../src/hub/batch-frames.ts";
import { limits } from "../../../src/limits.ts";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { json } from "../api/channel-config.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

it("[B1] [F5] the frames of a batch's rests are kept up to a number, and then made again", () => {
  let made = 0;
  const codec: Codec = {
    ...jsonCodec,
    joinFrame: (messages) => {
      made++;
      return jsonCodec.joinFrame(messages);
    },
  };
  const batch = new BatchFrames(codec);
  const add = (offset: number) =>
    batch.append({
      type: "publication",
      channel: "room",
      publication: { data: json("1"), offset },
    });
  add(1);
  const came = Array.from({ length: limits.batchRestsMax + 1 }, (_, index) => {
    const subscriber = new RecordingSubscriber(`user ${index}`, { codec });
    batch.skipSoFar(subscriber);
    add(index + 2);
    return subscriber;
  });
  const [first, ...others] = came;
  if (first === undefined) throw new Error("nobody came");
  const kept = [first, ...others.slice(1)];
  for (let times = 0; times < 2; times++) for (const one of kept) batch.frameFor(one);
  expect(made).toBe(limits.batchRestsMax);
  for (const one of came) batch.frameFor(one);
  const before = made;
  batch.frameFor(first);
  expect(made).toBe(before + 1);
});
