import { describe, expect, it } from "vitest";
import type { KeyChange } from "../../../../src/features/shared-polls/poll-batch.ts";
import { pollLimits } from "../../../../src/features/shared-polls/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import {
  channel,
  instance,
  Fixture,
  Tracker,
  change,
  long,
  shownRequest,
} from "./tracking-fixture.ts";

/** A fixture with a connection that tracks these keys. */
function tracked(...keys: readonly string[]) {
  const fixture = new Fixture();
  const tracker = new Tracker("c1", fixture);
  tracker.track(...keys);
  fixture.answer();
  fixture.tracking.settle();
  return { fixture, tracker };
}

describe("a gateway whose clients track keys", () => {
  it("[SP7] tells the channel's object of them, and of keys that nobody tracks any more", () => {
    const { fixture, tracker } = tracked("a", "b");
    const other = new Tracker("c2", fixture);
    other.track(["b", 3n]);
    expect(fixture.requests.map(([request]) => shownRequest(request))).toEqual(["track b@3"]);
    fixture.answer();
    fixture.tracking.untrack(tracker.subscription, ["a", "b", "x"]);
    expect(fixture.asked()).toEqual(["untrack a"]);
    fixture.tracking.leave(other.subscription);
    expect(fixture.asked()).toEqual(["untrack b"]);
    expect(fixture.take([change("b", 4)])).toEqual({ outcome: "left" });
  });

  it("[SP2][SP7] sends each change to those who track the key and have an older version", () => {
    const { fixture, tracker } = tracked("a");
    const other = new Tracker("c2", fixture);
    other.track("b", ["a", 7n]);
    fixture.answer([change("b", 2)]);
    expect(other.replies).toEqual([{ outcome: "tracking", newer: [change("b", 2)] }]);
    expect(fixture.take([change("a", 5), change("b", 2), change("z", 1)])).toEqual({
      outcome: "taken",
      since: 0,
      untracked: ["z"],
    });
    expect(fixture.take([change("a", 8), change("b", 3)])).toEqual({ outcome: "taken", since: 0 });
    // A call that is repeated does nothing more.
    fixture.take([change("a", 8), change("b", 3)]);
    expect([tracker.received, other.received]).toEqual([
      ["a@5", "a@8"],
      ["a@8", "b@3"],
    ]);
    const removal = { key: "a", data: new Uint8Array(), offset: 0, removed: true } as const;
    expect(fixture.take([removal])).toEqual({ outcome: "taken", since: 0 });
    expect([tracker.received.at(-1), other.received.at(-1)]).toEqual(["a@removed", "a@removed"]);
  });

  it("[SP6] passes on changes that come before the reply, and not what the reply has of them", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture);
    tracker.track("a", "b");
    fixture.take([change("a", 5)]);
    expect(tracker.received).toEqual(["a@5"]);
    fixture.answer([change("a", 4), change("b", 1)]);
    expect(tracker.replies).toEqual([{ outcome: "tracking", newer: [change("b", 1)] }]);
  });

  it("[SP6] replaces what waits to be sent by what the reply has", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture);
    tracker.track("a");
    const batch = { v: 1, channel, instance, epoch: "e", changes: [change("a", 5)] } as const;
    fixture.tracking.receive(batch, 0);
    fixture.answer([change("a", 6)]);
    expect(fixture.tracking.sending).toBe(false);
    expect([tracker.received, tracker.replies]).toEqual([
      [],
      [{ outcome: "tracking", newer: [change("a", 6)] }],
    ]);
  });

  it("[SP9] tracks nothing that the channel's object refuses, and goes on with what it did before", () => {
    const { fixture, tracker } = tracked("a");
    tracker.track("a", "b");
    fixture.fail();
    expect(tracker.replies[1]).toEqual({ outcome: "failed", error: errorCodes.tooManyRequests });
    expect(fixture.take([change("a", 1), change("b", 1)])).toMatchObject({ untracked: ["b"] });
    expect(tracker.received).toEqual(["a@1"]);
  });

  it("[SP9] refuses more than limits.tracksMax keys of all connections together, with 111", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture);
    const many = Array.from({ length: pollLimits.tracksMax / 4 }, (_, index) => `${index}`);
    const others = ["c2", "c3", "c4", "c5"].map((client) => new Tracker(client, fixture));
    for (const other of others) other.track(...many);
    tracker.track("a");
    expect(tracker.replies).toEqual([{ outcome: "failed", error: errorCodes.tooManyRequests }]);
    if (others[0] !== undefined) fixture.tracking.leave(others[0].subscription);
    fixture.asked();
    tracker.track("a");
    expect(fixture.asked()).toEqual(["track a@0"]);
  });

  it("[SP9] refuses more than limits.tracksLengthMax characters of keys of all connections, with 111", () => {
    const fixture = new Fixture();
    const length = limits.mapKeyBytesMax;
    const each = pollLimits.trackRowLengthMax / length;
    for (
      let client = 0;
      client < pollLimits.tracksLengthMax / pollLimits.trackRowLengthMax;
      client++
    ) {
      const keys = Array.from({ length: each }, (_, index) => `${index}`.padEnd(length, "x"));
      new Tracker(`${client}`, fixture).track(...keys);
    }
    const tracker = new Tracker("last", fixture);
    tracker.track("a");
    expect(tracker.replies).toEqual([{ outcome: "failed", error: errorCodes.tooManyRequests }]);
  });

  it("[SP7] takes nothing more while limits.keyFramesLengthMax characters wait to be sent", () => {
    const { fixture } = tracked("a", "b");
    const data = json(`"${"x".repeat(pollLimits.keyFramesLengthMax / 2)}"`);
    const batch = { v: 1, channel, instance, epoch: "e" } as const;
    fixture.tracking.receive({ ...batch, changes: [{ ...change("a", 1), data }] }, 0);
    expect(fixture.tracking.full).toBe(false);
    fixture.tracking.receive({ ...batch, changes: [{ ...change("b", 1), data }] }, 0);
    expect(fixture.tracking.full).toBe(true);
    while (fixture.tracking.sending) fixture.tracking.sendSlice();
    expect(fixture.tracking.full).toBe(false);
  });

  it("[SP9] refuses keys that are longer together than fits into a row, with 106", () => {
    const tracker = new Tracker("c1", new Fixture());
    const length = limits.mapKeyBytesMax;
    const count = pollLimits.trackRowLengthMax / length;
    const longest = Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, "x"));
    tracker.track(...longest);
    expect(tracker.replies).toEqual([]);
    tracker.track("y");
    expect(tracker.replies.at(-1)).toEqual({ outcome: "failed", error: errorCodes.limitExceeded });
  });
});

describe("a gateway that hibernates", () => {
  it("[SP20] knows what its clients track, from one row for each of them", () => {
    const { fixture, tracker } = tracked("a", "b");
    fixture.tracking.untrack(tracker.subscription, ["b"]);
    fixture.tracking.settle();
    expect([fixture.stores, fixture.rows.get("c1")?.keys.map(({ key }) => key)]).toEqual([
      2,
      ["a"],
    ]);
    fixture.asked();
    fixture.hibernate(tracker);
    expect(fixture.asked()).toEqual([]);
    fixture.take([change("a", 3), change("b", 3)]);
    expect(tracker.received).toEqual(["a@3"]);
    expect(fixture.stores).toBe(2);
    fixture.tracking.leave(tracker.subscription);
    expect(fixture.rows.size).toBe(0);
  });

  it("[SP2] doesn't track a key again that was removed", () => {
    const { fixture, tracker } = tracked("a", "b");
    const removal = { key: "a", data: new Uint8Array(), offset: 0, removed: true } as const;
    fixture.take([removal]);
    fixture.tracking.settle();
    fixture.hibernate(tracker);
    expect(fixture.take([change("a", 1), change("b", 1)])).toMatchObject({ untracked: ["a"] });
    expect(tracker.received).toEqual(["a@removed", "b@1"]);
  });

  it("[SP8] tells a client nothing that tracks no key any more", () => {
    const { fixture, tracker } = tracked("a");
    fixture.tracking.untrack(tracker.subscription, ["a"]);
    fixture.tracking.settle();
    fixture.hibernate(tracker);
    expect(tracker.received).toEqual([]);
  });

  it("[SP8] tells a client whose row is lost to track its keys again", () => {
    const { fixture, tracker } = tracked("a");
    fixture.rows.clear();
    fixture.hibernate(tracker);
    expect(tracker.received).toEqual(["lost"]);
  });

  it("[SP8] stores nothing before the channel's object has replied", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture);
    tracker.track("a", "b");
    fixture.tracking.untrack(tracker.subscription, ["b"]);
    fixture.tracking.settle();
    fixture.hibernate(tracker);
    expect(tracker.received).toEqual(["lost"]);
  });
});

describe("[SP13] a gateway with clients that get deltas", () => {
  it("sends the difference from what a client was sent last, and the value after it has hibernated", () => {
    const fixture = new Fixture();
    const [one, other] = [new Tracker("c1", fixture, true), new Tracker("c2", fixture)];
    for (const tracker of [one, other]) {
      tracker.track("a");
      fixture.answer();
    }
    fixture.tracking.settle();
    const versions = [1, 2];
    for (const version of versions) fixture.take([long(version)]);
    fixture.hibernate(one, other);
    expect(fixture.take([long(3)], { since: 1 })).toEqual({ outcome: "taken", since: 0 });
    // Now the channel's object has heard of this instance.
    for (const version of [4, 5]) fixture.take([long(version)], { since: 0 });
    expect(one.deltas).toEqual([false, true, false, false, true]);
    expect(other.deltas).toEqual([false, false, false, false, false]);
  });

  it("makes no delta of what a call brought that was made before the gateway hibernated", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture, true);
    tracker.track("a");
    fixture.answer();
    fixture.tracking.settle();
    for (const version of [4, 5]) fixture.take([long(version)], { since: 0 });
    fixture.hibernate(tracker);
    // A client that has version 5 ignores version 4.
    fixture.take([long(4)], { since: 7 });
    fixture.take([long(6)], { since: 0 });
    expect(tracker.deltas.slice(2)).toEqual([false, false]);
    // Nor of it, if the client says what it has.
    fixture.hibernate(tracker);
    tracker.track(["a", 6n]);
    fixture.answer();
    for (const version of [5, 7, 8]) fixture.take([long(version)], { since: 7 });
    expect(tracker.deltas.slice(4)).toEqual([false, true]);
  });

  it("makes deltas of what replies had, and of nothing that others were sent", () => {
    const fixture = new Fixture();
    const [one, late] = [new Tracker("c1", fixture, true), new Tracker("c2", fixture, true)];
    one.track("a");
    fixture.answer([long(1)]);
    // The late client has version 2 in its reply, which the gateway is told of afterwards.
    late.track("a");
    fixture.answer([long(2)]);
    for (const version of [2, 3, 4]) fixture.take([long(version)]);
    expect([one.deltas, late.deltas]).toEqual([
      [true, true, true],
      [false, true],
    ]);
    const another = new Tracker("c3", fixture, true);
    another.track("a");
    fixture.answer([long(5)]);
    fixture.take([long(6)]);
    expect([another.deltas, one.deltas.at(-1)]).toEqual([[false], true]);
  });

  it("[SP21] keeps limits.keyBasesLengthMax characters of values, and sends others in full", () => {
    const fixture = new Fixture();
    const tracker = new Tracker("c1", fixture, true);
    tracker.track("a", "b", "c");
    const half = "x".repeat(pollLimits.keyBasesLengthMax / 2 - 30);
    const value = (key: string, version: number): KeyChange => ({
      ...change(key, version),
      data: json(`{"value":${version % 10},"text":"${half}"}`),
    });
    const send = (version: number): void => {
      for (const key of ["a", "b", "c"]) fixture.take([value(key, version)]);
    };
    // The first value of one key is in a reply, and too long for it.
    fixture.answer([value("a", 1)]);
    fixture.take([value("b", 1), value("c", 1)]);
    send(2);
    expect(tracker.deltas).toEqual([false, false, false, true, true, false]);
    // What is tracked no more leaves room for others.
    fixture.tracking.untrack(tracker.subscription, ["a"]);
    for (const version of [3, 4]) fixture.take([value("c", version)]);
    expect(tracker.deltas.slice(6)).toEqual([false, true]);
  });
});

describe("a channel's object that has lost its memory", () => {
  it("[SP8] makes the clients of a gateway track their keys again, by its first call", () => {
    const { fixture, tracker } = tracked("a");
    fixture.hibernate(tracker);
    expect(fixture.take([], { instance: 6 })).toEqual({ outcome: "left" });
    expect(tracker.received).toEqual(["lost"]);
    tracker.wake(fixture.tracking);
    tracker.track("a");
    fixture.asked();
    expect(fixture.take([change("a", 1)], { instance: 6 })).toEqual({ outcome: "taken", since: 0 });
    expect(tracker.received).toEqual(["lost", "a@1"]);
  });

  it("[SP8] or by its reply, and the client is told", () => {
    const { fixture, tracker } = tracked("a");
    const other = new Tracker("c2", fixture);
    other.track("b");
    fixture.answer([change("b", 1)], { instance: 6 });
    expect([tracker.received, other.received]).toEqual([["lost"], ["lost"]]);
    expect(other.replies).toEqual([{ outcome: "failed", error: errorCodes.unrecoverablePosition }]);
  });

  it("[SP8] tells those that began before it had heard of an epoch again", () => {
    const { fixture, tracker } = tracked("a");
    fixture.take([], { epoch: "e" });
    const early = new Tracker("c2", fixture, false, "");
    early.track("b");
    fixture.answer([], { instance: 6, epoch: "" });
    expect([tracker.received, early.received]).toEqual([["lost"], ["lost"]]);
    early.wake(fixture.tracking);
    early.track("b");
    fixture.answer([], { instance: 6, epoch: "" });
    fixture.take([change("b", 1)], { instance: 6, epoch: "e" });
    expect(early.received).toEqual(["lost", "lost"]);
  });

  it.each([
    ["its call", (fixture: Fixture) => fixture.take([change("a", 1)], { epoch: "other" })],
    ["its reply", (fixture: Fixture) => fixture.answer([], { epoch: "other" })],
  ])("[SP8] or whose backend has begun another epoch, by %s", (_, told) => {
    const { fixture, tracker } = tracked("a");
    tracker.track("b");
    told(fixture);
    expect(tracker.received).toEqual(["lost"]);
  });
});
