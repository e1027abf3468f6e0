import { describe, expect, it } from "vitest";
import { Hub } from "../../../src/hub/hub.ts";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { publishing } from "../../contract/open-channel.ts";
import { crowd, RecordingRecipient } from "./recording-subscriber.ts";

const queueMaxBytes = 1_048_576;

describe("a slow reader", () => {
  it("[F4] is cut with 3008 when it is more than the queue behind, and the others get the frame", () => {
    const { hub, publish } = opened();
    const [slow, border, quick] = [
      joiner(hub, "slow"),
      joiner(hub, "border"),
      joiner(hub, "quick"),
    ];
    slow.behindBytes = queueMaxBytes + 1;
    border.behindBytes = queueMaxBytes;
    publish(1);
    expect(slow.disconnects).toEqual([disconnectCodes.slow]);
    expect(disconnectCodes.slow.code).toBe(3008);
    expect(slow.frames).toEqual([]);
    for (const recipient of [border, quick]) {
      expect(recipient.heard).toEqual(["1"]);
      expect(recipient.disconnects).toEqual([]);
    }
  });

  it("[F4] is cut by a join or leave too", () => {
    const { hub } = opened();
    const slow = joiner(hub, "slow", { hearsJoinLeave: true });
    const deaf = joiner(hub, "deaf");
    for (const recipient of [slow, deaf]) recipient.behindBytes = queueMaxBytes + 1;
    hub.announce("join", { user: "42", client: "c1" });
    expect(slow.disconnects).toEqual([disconnectCodes.slow]);
    expect(deaf.disconnects).toEqual([]);
  });

  it("[O5] has its leave told in the middle of it all, once, after the publication", () => {
    const { hub, publish } = opened();
    const traits = { announced: true, hearsJoinLeave: true };
    const [first, slow, last] = [
      joiner(hub, "first", traits),
      joiner(hub, "slow", traits),
      joiner(hub, "last", traits),
    ];
    leavesWhenCut(hub, slow);
    slow.behindBytes = queueMaxBytes + 1;
    publish(1);
    publish(2);
    expect(slow.disconnects).toHaveLength(1);
    expect(slow.frames).toEqual([]);
    for (const { heard } of [first, last]) expect(heard).toEqual(["1", "leave slow", "2"]);
    expect(hub.subscribers).toEqual([first, last]);
  });

  it.each([2, 5_000])("[F4] is cut once, also when it is one of %i", (size) => {
    const { hub, publish } = opened();
    const quick = joiner(hub, "quick", { hearsJoinLeave: true });
    const slow = Array.from({ length: size }, (_, index) =>
      joiner(hub, `slow${index}`, { announced: true, hearsJoinLeave: true }),
    );
    for (const recipient of slow) {
      leavesWhenCut(hub, recipient);
      recipient.behindBytes = queueMaxBytes + 1;
    }
    publish(1);
    expect(hub.subscribers).toEqual([quick]);
    expect(quick.heard).toEqual(["1", ...slow.map(({ info }) => `leave ${info.user}`)]);
    for (const { disconnects, frames } of slow) {
      expect(disconnects).toHaveLength(1);
      expect(frames).toEqual([]);
    }
  });

  it("[F4] that only falls behind on another's leave is cut as well", () => {
    const { hub, publish } = opened();
    const slow = joiner(hub, "slow", { announced: true });
    const other = joiner(hub, "other", { hearsJoinLeave: true });
    leavesWhenCut(hub, slow);
    leavesWhenCut(hub, other);
    slow.behindBytes = queueMaxBytes + 1;
    other.onSend = (frame) => (other.behindBytes += queueMaxBytes + frame.length);
    publish(1);
    expect(other.heard).toEqual(["1"]);
    expect([slow.disconnects, other.disconnects]).toEqual([
      [disconnectCodes.slow],
      [disconnectCodes.slow],
    ]);
    expect(hub.size).toBe(0);
  });

  it("[F4] doesn't keep the next one from being cut when its own closing fails", () => {
    const { hub, publish } = opened();
    const [broken, slow] = [joiner(hub, "broken"), joiner(hub, "slow")];
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

  it("[O3] may make room for somebody who then gets only what follows", () => {
    const { hub, publish } = opened();
    const [slow, late] = [joiner(hub, "slow"), new RecordingRecipient("late")];
    slow.behindBytes = queueMaxBytes + 1;
    slow.onDisconnect = () => {
      hub.remove(slow);
      hub.add(late);
    };
    publish(1);
    publish(2);
    expect(late.heard).toEqual(["2"]);
  });
});

describe("the backlog of all sockets", () => {
  it("[B3] is too much beyond 64 MiB, until the peers have taken it", () => {
    const { hub, publish } = opened();
    const listeners = heldUp(hub, publish);
    expect(hub.overloaded(0)).toBe(true);
    expect(hub.overloaded(limits.overloadMsMax - 1)).toBe(true);
    for (const recipient of listeners) recipient.behindBytes = limits.backlogBytesMax / 80;
    expect(hub.overloaded(limits.overloadMsMax)).toBe(false);
    expect(listeners.flatMap((recipient) => recipient.disconnects)).toEqual([]);
  });

  it("[B3] lasts at most 5 s: then whoever is behind its share is cut", () => {
    const { hub, publish } = opened();
    const listeners = heldUp(hub, publish);
    expect(hub.overloaded(1_000)).toBe(true);
    const [caughtUp, ...stalled] = listeners;
    if (caughtUp !== undefined) caughtUp.behindBytes = 0;
    expect(hub.overloaded(1_000 + limits.overloadMsMax)).toBe(false);
    expect(caughtUp?.disconnects).toEqual([]);
    for (const recipient of stalled) expect(recipient.disconnects).toEqual([disconnectCodes.slow]);
  });

  it("[B3] is counted anew after it was over: the 5 s begin again", () => {
    const { hub, publish } = opened();
    const listeners = heldUp(hub, publish);
    expect(hub.overloaded(0)).toBe(true);
    for (const recipient of listeners) recipient.behindBytes = 0;
    expect(hub.overloaded(1)).toBe(false);
    for (const recipient of listeners) recipient.behindBytes = 900_000;
    publish(2);
    expect(hub.overloaded(limits.overloadMsMax)).toBe(true);
  });

  it("[B3] doesn't count those who are cut", () => {
    const { hub, publish } = opened();
    const slow = joiner(hub, "slow");
    leavesWhenCut(hub, slow);
    slow.behindBytes = limits.backlogBytesMax + 1;
    publish(1);
    expect(hub.overloaded(0)).toBe(false);
  });
});

/** Eighty readers, each within its own queue, and together more behind than memory bears. */
function heldUp(hub: Hub, publish: (data: number) => void): RecordingRecipient[] {
  const listeners = crowd(80);
  for (const recipient of listeners) {
    hub.add(recipient);
    recipient.behindBytes = 900_000;
  }
  publish(1);
  return listeners;
}

function opened() {
  const hub = new Hub("room", queueMaxBytes);
  const publish = (data: number): void => {
    hub.publish({ data: publishing(data).data, offset: 0 });
    hub.flush();
  };
  return { hub, publish };
}

function joiner(
  hub: Hub,
  user: string,
  traits: ConstructorParameters<typeof RecordingRecipient>[1] = {},
): RecordingRecipient {
  const recipient = new RecordingRecipient(user, traits);
  hub.add(recipient);
  return recipient;
}

/** What a session does when it is cut: it leaves the channel, and that is announced. */
function leavesWhenCut(hub: Hub, recipient: RecordingRecipient): void {
  recipient.onDisconnect = () => {
    hub.remove(recipient);
    if (recipient.announced) hub.announce("leave", recipient.info);
  };
}
