import { describe, expect, it } from "vitest";
import { execute } from "../../../../src/api/execute.ts";
import { ChannelCursors } from "../../../../src/features/cursors/channel-cursors.ts";
import type { Coverage } from "../../../../src/features/cursors/coverage.ts";
import { noteAtPing, provenBy } from "../../../../src/features/cursors/subscriber-notes.ts";
import { ChannelFixture } from "../../session/channel-fixture.ts";

function open() {
  const fixture = new ChannelFixture({
    options: { history_size: 100, history_ttl: "24h", cursors: { enabled: true } },
  });
  for (const data of ["1", "2", "3"]) fixture.publish(data);
  const { epoch = "" } = fixture.channel.top ?? {};
  const proofOf = (since: number, offset: number): Coverage => ({
    epoch,
    since,
    offset,
    by: "ping",
    atMs: 7,
  });
  return { fixture, epoch, proofOf };
}

function cursorsOf({ channel }: ChannelFixture): ChannelCursors {
  const part = channel.parts.find((one) => one instanceof ChannelCursors);
  if (part === undefined) throw new Error("the channel has no cursors");
  return part;
}

function delivered({ channel, nowMs }: ChannelFixture, user = "ann"): unknown {
  return execute(channel, { method: "delivered", request: { user } }, nowMs);
}

const known = (epoch: string, offset: number) => ({
  result: `{"offset":${offset},"epoch":"${epoch}","by":"ping","at_ms":7}`,
});

describe("a proof that reaches the channel's object", () => {
  it("[CU10] [CU14] is kept in the user's row, through hibernation", () => {
    const { fixture, epoch, proofOf } = open();
    const { nowMs } = fixture;
    cursorsOf(fixture).announced({ type: "arrived", user: "ann", proof: proofOf(0, 1) }, nowMs);
    fixture.hibernate();
    cursorsOf(fixture).announced({ type: "arrived", user: "ann", proof: proofOf(1, 2) }, nowMs);
    fixture.hibernate();
    expect(delivered(fixture)).toStrictEqual(known(epoch, 2));
  });

  it("[CU10] counts for nothing if it is of another epoch, of nobody, or beyond the newest offset", () => {
    const { fixture, epoch, proofOf } = open();
    const cursors = cursorsOf(fixture);
    cursors.prove("ann", { ...proofOf(0, 2), epoch: "other" }, fixture.nowMs);
    cursors.prove("ann", proofOf(0, 4), fixture.nowMs);
    cursors.prove("", proofOf(0, 3), fixture.nowMs);
    const nothing = { result: `{"offset":0,"epoch":"${epoch}"}` };
    expect(delivered(fixture)).toStrictEqual(nothing);
    expect(delivered(fixture, "")).toStrictEqual(nothing);
    expect(cursors.isEmpty).toBe(true);
  });

  it("[CU11] [CU14] leaves the user's mark as it is, and the mark leaves the proof", () => {
    const { fixture, epoch, proofOf } = open();
    const { channel, nowMs } = fixture;
    const mark = (offset: number) =>
      execute(channel, { method: "mark_read", request: { user: "ann", offset, epoch } }, nowMs);
    mark(1);
    cursorsOf(fixture).prove("ann", proofOf(0, 2), nowMs);
    const unread = { method: "unread", request: { user: "ann" } } as const;
    expect(execute(channel, unread, nowMs)).toMatchObject({
      result: expect.stringContaining(`"unread":2,"read":1`),
    });
    mark(3);
    expect(delivered(fixture)).toStrictEqual(known(epoch, 2));
  });
});

describe("a note of an epoch that is gone", () => {
  it("[CU13] begins anew where the object can't know what was sent before", () => {
    const before = { epoch: "a", since: 1, offset: 4, atMs: 1, sent: 9, recovered: false };
    const at = { epoch: "b", top: 6, sent: 5, begun: 6 };
    const note = noteAtPing(before, 2, at, true, 3);
    expect(provenBy(note, 4)).toBeUndefined();
    const next = noteAtPing(note, 4, { ...at, top: 8, sent: 8, begun: 8 }, true, 5);
    expect(provenBy(next, undefined)).toBeUndefined();
    expect(provenBy(next, 6)).toMatchObject({ epoch: "b", since: 6, offset: 8 });
  });
});
