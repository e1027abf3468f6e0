import { describe, expect, it } from "vitest";
import { FrameTrail } from "../../../../src/features/why/frame-trail.ts";
import { Hub } from "../../../../src/hub/hub.ts";
import { RowRing } from "../../../../src/features/why/row-ring.ts";
import { limits } from "../../../../src/limits.ts";
import type { Tags } from "../../../../src/protocol/publication.ts";
import { tagsFilter } from "../../../../src/protocol/tags-filter.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { recordingSubscribers, RecordingSubscriber } from "../../hub/recording-subscriber.ts";

describe("a ring of rows", () => {
  it("[Y9] [B1] keeps the newest rows, exactly as many as it may", () => {
    const ring = new RowRing(2, 40);
    for (let row = 0; row < 40; row++) {
      expect(ring.append()).toBe(row);
      ring.set(row, 0, 7);
      ring.set(row, 1, row + 100);
    }
    expect([ring.first, ring.next, ring.get(0, 1), ring.get(39, 1)]).toEqual([0, 40, 100, 139]);
    ring.set(ring.append(), 1, 140);
    expect([ring.first, ring.next]).toEqual([1, 41]);
    expect([ring.get(0, 1), ring.get(1, 1), ring.get(40, 0), ring.get(40, 1)]).toEqual([
      0, 101, 0, 140,
    ]);
    // A row that was overwritten doesn't change the one in its place.
    ring.set(0, 1, 7);
    expect(ring.get(40, 1)).toBe(140);
  });
});

function opened(framesMax = 8) {
  let nowMs = 1_000;
  const trail = new FrameTrail({ nowMs: () => nowMs++ }, framesMax);
  const hub = new Hub("room", 1_000, { frames: trail });
  const publish = (offset: number, tags?: Tags) =>
    hub.publish({ data: publishing(offset).data, offset, ...(tags && { tags }) });
  return { hub, trail, publish };
}

function filterOf(val: string) {
  const filter = tagsFilter({ op: "", key: "k", cmp: "eq", val, vals: [], nodes: [] });
  if (filter === undefined) throw new Error("no filter");
  return filter;
}

describe("the trail of a hub's frames", () => {
  it("[Y9] counts who was sent a frame, who was left out, and who was too far behind", () => {
    const { hub, trail, publish } = opened();
    for (const subscriber of recordingSubscribers(3)) hub.add(subscriber);
    hub.add(new RecordingSubscriber("red", { filter: filterOf("red") }));
    hub.add(new RecordingSubscriber("blue", { filter: filterOf("blue") }));
    const slow = new RecordingSubscriber("slow");
    slow.behindBytes = 1_001;
    slow.onDisconnect = () => hub.remove(slow);
    hub.add(slow);
    publish(1, { k: "red" });
    expect(trail.find("room", 1)).toBeUndefined();
    hub.begin();
    expect(trail.find("room", 1)).toEqual({
      publications: 1,
      begunAtMs: 1_000,
      sentAtMs: 1_001,
      subscribers: 3,
      filtered: 1,
      leftOut: 1,
      slow: 1,
    });
    expect(trail.find("room", 2)).toBeUndefined();
    expect(trail.find("other", 1)).toBeUndefined();
  });

  it("[Y9] says while a frame is on its way how far it is", () => {
    const { hub, trail, publish } = opened();
    for (const subscriber of recordingSubscribers(60)) hub.add(subscriber);
    publish(1);
    publish(2);
    hub.begin();
    const { sentAtMs, ...begun } = trail.find("room", 2) ?? {};
    expect(sentAtMs).toBeUndefined();
    expect(begun).toMatchObject({ publications: 2, subscribers: limits.sliceSubscribersMax });
    while (hub.sending) hub.sendSlice();
    expect(trail.find("room", 1)).toMatchObject({ subscribers: 60, begunAtMs: 1_000 });
    expect(trail.find("room", 1)?.sentAtMs).toBeGreaterThan(1_000);
  });

  it("[Y9] knows what the last subscriber was sent when it left", () => {
    const { hub, trail, publish } = opened();
    const [only] = recordingSubscribers(1);
    if (only === undefined) throw new Error("nobody");
    hub.add(only);
    publish(1);
    hub.remove(only);
    expect(only.received).toEqual(["1"]);
    expect(trail.find("room", 1)).toMatchObject({ subscribers: 1, sentAtMs: 1_001 });
  });

  it("[Y9] forgets the oldest frames, and says since when it remembers", () => {
    const { hub, trail, publish } = opened(2);
    for (const subscriber of recordingSubscribers(1)) hub.add(subscriber);
    for (const offset of [1, 2]) {
      publish(offset);
      hub.begin();
    }
    expect([trail.sinceMs, trail.find("room", 1)?.begunAtMs]).toEqual([undefined, 1_000]);
    publish(3);
    hub.begin();
    expect([trail.sinceMs, trail.find("room", 1)]).toEqual([1_002, undefined]);
  });

  it("[Y9] leaves out what has no offset", () => {
    const { hub, trail, publish } = opened();
    for (const subscriber of recordingSubscribers(1, { hearsJoinLeave: true })) hub.add(subscriber);
    publish(0);
    hub.announce("join", { user: "42", client: "c" });
    hub.begin();
    expect(trail.find("room", 0)).toBeUndefined();
  });
});
