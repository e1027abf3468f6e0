import { sendAll } from "../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import { Hub } from "../../../src/hub/hub.ts";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { publishing } from "../../contract/open-channel.ts";
import { recordingSubscribers, RecordingSubscriber } from "./recording-subscriber.ts";

const queueMaxBytes = 1_048_576;

describe("a slow reader", () => {
  it("[F4] is cut with 3008 when it is more than the queue behind, and the others get the frame", () => {
    const { hub, publish } = opened();
    const [slow, border, quick] = [
      nextSubscriber(hub, "slow"),
      nextSubscriber(hub, "border"),
      nextSubscriber(hub, "quick"),
    ];
    slow.behindBytes = queueMaxBytes + 1;
    border.behindBytes = queueMaxBytes;
    publish(1);
    expect(slow.disconnects).toEqual([disconnectCodes.slow]);
    expect(disconnectCodes.slow.code).toBe(3008);
    expect(slow.frames).toEqual([]);
    for (const subscriber of [border, quick]) {
      expect(subscriber.received).toEqual(["1"]);
      expect(subscriber.disconnects).toEqual([]);
    }
  });

  it("[F4] is cut by a join or leave too", () => {
    const { hub } = opened();
    const slow = nextSubscriber(hub, "slow", { hearsJoinLeave: true });
    const uninterested = nextSubscriber(hub, "uninterested");
    for (const subscriber of [slow, uninterested]) subscriber.behindBytes = queueMaxBytes + 1;
    hub.announce("join", { user: "42", client: "c1" });
    sendAll(hub);
    expect(slow.disconnects).toEqual([disconnectCodes.slow]);
    expect(uninterested.disconnects).toEqual([]);
  });

  it.each([2, 5_000])("[F4] is cut once, also when it is one of %i", (size) => {
    const { hub, publish } = opened();
    const quick = nextSubscriber(hub, "quick", { hearsJoinLeave: true });
    const slow = Array.from({ length: size }, (_, index) =>
      nextSubscriber(hub, `slow${index}`, { announced: true, hearsJoinLeave: true }),
    );
    for (const subscriber of slow) {
      leavesWhenCut(hub, subscriber);
      subscriber.behindBytes = queueMaxBytes + 1;
    }
    publish(1);
    expect(hub.subscribers).toEqual([quick]);
    expect(quick.received).toEqual(["1", ...slow.map(({ info }) => `leave ${info.user}`)]);
    for (const { disconnects, frames } of slow) {
      expect(disconnects).toHaveLength(1);
      expect(frames).toEqual([]);
    }
  });

  it("[F4] whose backlog exceeds the limit with another's leave is cut as well", () => {
    const { hub, publish } = opened();
    const slow = nextSubscriber(hub, "slow", { announced: true });
    const other = nextSubscriber(hub, "other", { hearsJoinLeave: true });
    leavesWhenCut(hub, slow);
    leavesWhenCut(hub, other);
    slow.behindBytes = queueMaxBytes + 1;
    other.onSend = (frame) => (other.behindBytes += queueMaxBytes + frame.length);
    publish(1);
    expect(other.received).toEqual(["1"]);
    expect([slow.disconnects, other.disconnects]).toEqual([
      [disconnectCodes.slow],
      [disconnectCodes.slow],
    ]);
    expect(hub.size).toBe(0);
  });

  it("[F4] doesn't keep the next one from being cut when its own closing fails", () => {
    const { hub, publish } = opened();
    const [broken, slow] = [nextSubscriber(hub, "broken"), nextSubscriber(hub, "slow")];
    broken.behindBytes = queueMaxBytes + 1;
    broken.onDisconnect = () => {
      hub.remove(broken);
      throw new Error("closing failed");
    };
    expect(() => publish(1)).toThrow("closing failed");
    slow.behindBytes = queueMaxBytes + 1;
    publish(2);
    expect(slow.disconnects).toEqual([disconnectCodes.slow]);
    expect(broken.disconnects).toHaveLength(1);
  });
});

describe("the backlog of all sockets", () => {
  it("[B27] cuts those that don't read, and nobody who reads", () => {
    const { hub, publish } = opened();
    const [reading, ...stalled] = heldUp(hub, publish);
    if (reading === undefined) throw new Error("nobody is held up");
    expect(hub.overloaded(1_000)).toBe(true);
    reading.behindBytes *= 0.8;
    expect(hub.overloaded(1_000 + limits.stalledMs)).toBe(false);
    expect(reading.disconnects).toEqual([]);
    const cut = stalled.filter(({ disconnects }) => disconnects.length > 0);
    expect(cut.length).toBeGreaterThan(20);
    expect(cut.length).toBeLessThan(30);
    for (const { disconnects } of cut) expect(disconnects).toEqual([disconnectCodes.slow]);
  });

  it("[B3] doesn't count connections that are cut", () => {
    const { hub, publish } = opened();
    const slow = nextSubscriber(hub, "slow");
    leavesWhenCut(hub, slow);
    slow.behindBytes = limits.backlogBytesMax + 1;
    publish(1);
    expect(hub.overloaded(0)).toBe(false);
  });
});

/** Eighty readers, each within its own queue, and together more behind than memory bears. */
function heldUp(hub: Hub, publish: (data: number) => void): RecordingSubscriber[] {
  const subscribers = recordingSubscribers(80);
  for (const subscriber of subscribers) {
    hub.add(subscriber);
    subscriber.behindBytes = 900_000;
  }
  publish(1);
  return subscribers;
}

function opened() {
  const hub = new Hub("room", queueMaxBytes);
  const publish = (data: number): void => {
    hub.publish({ data: publishing(data).data, offset: 0 });
    sendAll(hub);
  };
  return { hub, publish };
}

function nextSubscriber(
  hub: Hub,
  user: string,
  traits: ConstructorParameters<typeof RecordingSubscriber>[1] = {},
): RecordingSubscriber {
  const subscriber = new RecordingSubscriber(user, traits);
  hub.add(subscriber);
  return subscriber;
}

/** A session that is closed leaves the channel, and the leave is announced. */
function leavesWhenCut(hub: Hub, subscriber: RecordingSubscriber): void {
  subscriber.onDisconnect = () => {
    hub.remove(subscriber);
    if (subscriber.announced) hub.announce("leave", subscriber.info);
  };
}
