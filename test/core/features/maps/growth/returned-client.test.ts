import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../../../src/protocol/json/codec.ts";
import { positioned } from "../../../../contract/open-channel.ts";
import { NodeSql } from "../../../../../package/test/node-sql.ts";
import { wirePublications } from "../../../hub/client-decoder.ts";
import { RecordingSubscriber } from "../../../hub/recording-subscriber.ts";
import { type GrowingMap, growingMap } from "./growing-map.ts";

/** A client that comes back with all values up to the top, and perhaps with pieces. */
function returned({ channel, nowMs }: GrowingMap): RecordingSubscriber {
  const recoveredTo = channel.top?.offset ?? 0;
  const subscriber = new RecordingSubscriber("returned", { delta: true, recoveredTo });
  channel.subscribe(subscriber, positioned, nowMs);
  return subscriber;
}

const told = ({ frames }: RecordingSubscriber) =>
  frames.flatMap((frame) => wirePublications(jsonCodec, frame));

const full = (text: string) => ({ data: JSON.stringify(text), delta: false });

describe("a client that comes back within a window", () => {
  it("[Z39] is told none of the window's pieces, and gets the value in full at its end", () => {
    const growing = growingMap(new NodeSql());
    for (const text of "ab") growing.append(text);
    const back = returned(growing);
    growing.append("c");
    expect(told(back)).toEqual([]);
    growing.pass(250);
    expect(told(back)).toEqual([full("abc")]);
    growing.append("d");
    expect(told(back)[1]).toMatchObject({ delta: true });
  });

  it("[Z39] isn't told the first piece either, which it may have got elsewhere", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    const [back, other] = [returned(growing), growing.reader()];
    growing.append("b");
    expect([told(back), other.value()]).toEqual([[], "ab"]);
    growing.pass(250);
    expect([told(back), other.value()]).toEqual([[full("ab")], "ab"]);
  });

  it("[Z39] gets deltas of a window that begins later", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    growing.pass(250);
    const back = returned(growing);
    for (const text of "bc") growing.append(text);
    expect(told(back).map(({ delta }) => delta)).toEqual([true, true]);
  });
});

it("[Z39] subscribers that were restored within a window get the value in full at its end", () => {
  const growing = growingMap(new NodeSql());
  growing.append("a");
  const reader = growing.reader();
  growing.channel.hub.restoredAt = growing.channel.top?.offset;
  growing.append("b");
  expect(reader.count()).toBe(0);
  growing.pass(250);
  expect(told(reader.subscriber)).toEqual([full("ab")]);
  growing.append("c");
  expect([reader.count(), reader.value()]).toEqual([2, "abc"]);
});
