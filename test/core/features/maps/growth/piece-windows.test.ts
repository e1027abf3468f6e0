import { describe, expect, it } from "vitest";
import { GrowingValue } from "../../../../../src/features/maps/growth/growing-value.ts";
import { Hub } from "../../../../../src/hub/hub.ts";
import { trustedJsonText } from "../../../../../src/protocol/json/text.ts";
import type { Piece } from "../../../../../src/protocol/piece.ts";
import type { Publication } from "../../../../../src/protocol/publication.ts";
import { sendAll } from "../../../../support/send-all.ts";
import { RecordingSubscriber } from "../../../hub/recording-subscriber.ts";

/** A hub with a subscriber with deltas, and the pieces by which the value "a" of a key grows to "abc". */
function opened() {
  const hub = new Hub("room", 1_000_000);
  const subscriber = new RecordingSubscriber("reader", { delta: true });
  hub.add(subscriber);
  const value = GrowingValue.of(trustedJsonText('"a"'), "");
  if (value === undefined) throw new Error("not a text");
  const pieces = ["b", "c"].map((text, index): Piece => ({
    key: "k",
    number: index + 1,
    splice: value.append(text),
  }));
  const grown = { pieces: 2, splice: value.sinceSettled, rest: value.append("") };
  const end: Publication = { key: "k", data: value.data, offset: 2, mayBePatch: true, grown };
  return { hub, subscriber, pieces, end };
}

/** What was sent: the offset of each publication, and whether it is a delta. */
function sent(hub: Hub, { frames }: RecordingSubscriber): readonly (readonly [number?, true?])[] {
  sendAll(hub);
  const lines = frames.flatMap((frame) => String(frame).split("\n"));
  return lines.map((line) => {
    const { offset, delta } = JSON.parse(line).push.pub;
    return [offset, delta];
  });
}

describe("the change that ends a window", () => {
  it("[Z39] is a delta for those who have all of its pieces", () => {
    const { hub, subscriber, pieces, end } = opened();
    for (const piece of pieces) {
      hub.grow(piece);
      sendAll(hub);
    }
    hub.publish(end);
    expect(sent(hub, subscriber)).toEqual([
      [undefined, true],
      [undefined, true],
      [2, true],
    ]);
  });

  it.each([
    ["the first", [1]],
    ["the last", [0]],
    ["all", []],
  ])("[Z39] goes in full to those who lack a piece: %s", (_, told) => {
    const { hub, subscriber, pieces, end } = opened();
    for (const index of told) {
      const piece = pieces[index];
      if (piece !== undefined) hub.grow(piece);
    }
    hub.publish(end);
    expect(sent(hub, subscriber).at(-1)).toEqual([2, undefined]);
    // What comes after a missing piece isn't told.
    expect(sent(hub, subscriber)).toHaveLength(told.includes(0) ? 2 : 1);
  });

  it("[Z39] is in full if it is another change, whose delta is from what was durable", () => {
    const { hub, subscriber, pieces } = opened();
    for (const piece of pieces) {
      hub.grow(piece);
      sendAll(hub);
    }
    const long = "long ".repeat(20);
    const before = trustedJsonText(`"${long}"`);
    const data = trustedJsonText(`"${long}!"`);
    hub.publish({ key: "k", data, offset: 2, mayBePatch: true, before });
    hub.publish({ key: "k", data, offset: 3, mayBePatch: true, before });
    expect(sent(hub, subscriber).slice(2)).toEqual([
      [2, undefined],
      [3, true],
    ]);
  });
});
