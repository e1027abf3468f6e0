import { describe, expect, it } from "vitest";
import { Messages } from "../../../package/react/messages.ts";

/** Publications of a channel with these offsets, the newest last. */
const of = (...offsets: readonly number[]) =>
  offsets.map((offset) => ({ channel: "news", data: offset, offset }));

/** What the history answers: its newest publications, newest first. */
const history = (epoch: string, ...offsets: readonly number[]) => ({
  publications: of(...offsets).toReversed(),
  offset: Math.max(0, ...offsets),
  epoch,
});

const shown = (messages: Messages) => messages.all.map(({ data }) => Number(data));

/** A channel of which 1 to 3 are known. */
function known(): Messages {
  const messages = new Messages();
  messages.subscribed("a", false);
  messages.readHistory(history("a", 1, 2, 3));
  return messages;
}

describe("the messages that a component shows", () => {
  it("are there once and in order, whether the history or the channel is faster", () => {
    const messages = new Messages();
    messages.subscribed("a", false);
    messages.add(...of(3));
    messages.readHistory(history("a", 2, 3, 4, 5));
    messages.add(...of(4));
    messages.add(...of(6));
    expect(shown(messages)).toEqual([2, 3, 4, 5, 6]);
    expect(new Set(messages.all.map(({ key }) => key)).size).toBe(5);
  });

  it("keep their keys when more of the history is read", () => {
    const messages = new Messages();
    messages.subscribed("a", false);
    messages.readHistory(history("a", 2, 3));
    const before = messages.all;
    messages.readHistory(history("a", 1, 2, 3));
    expect(shown(messages)).toEqual([1, 2, 3]);
    expect(messages.all.slice(1)).toEqual(before);
  });

  it("go on without a hole, if the history reaches back to what is known", () => {
    const messages = known();
    messages.subscribed("a", true);
    messages.add(...of(6));
    expect([shown(messages), messages.hasGap]).toEqual([[1, 2, 3, 6], true]);
    messages.readHistory(history("a", 4, 5, 6));
    expect([shown(messages), messages.hasGap]).toEqual([[1, 2, 3, 4, 5, 6], false]);
  });

  it("go on if nothing was missed, and the history is over", () => {
    const messages = known();
    messages.subscribed("a", true);
    messages.readHistory({ ...history("a"), offset: 3 });
    expect([shown(messages), messages.hasGap]).toEqual([[1, 2, 3], false]);
  });

  it.for([
    ["the history doesn't reach back", history("a", 5, 6), [5, 6]],
    ["it is empty, and there were others", { ...history("a"), offset: 5 }, []],
    ["it began anew", history("b", 1, 2, 3, 4), [1, 2, 3, 4]],
  ] as const)("begin anew, if %s", ([, answer, expected]) => {
    const messages = known();
    messages.subscribed(answer.epoch, true);
    messages.readHistory(answer);
    expect([shown(messages), messages.hasGap]).toEqual([expected, false]);
  });

  it("begin anew after a second absence, if the first hole was never filled", () => {
    const messages = known();
    messages.subscribed("a", true);
    messages.add(...of(6));
    messages.subscribed("a", true);
    messages.readHistory(history("a", 7, 8));
    expect(shown(messages)).toEqual([7, 8]);
  });

  it("of a channel without a history stay in the order in which they came", () => {
    const messages = new Messages();
    messages.subscribed(undefined, false);
    for (const data of [2, 1]) messages.add({ channel: "news", data });
    messages.subscribed(undefined, true);
    messages.add({ channel: "news", data: 3 });
    expect([shown(messages), messages.hasGap]).toEqual([[2, 1, 3], true]);
  });

  it("are the newest ones, of those that are kept", () => {
    const messages = known();
    messages.subscribed("a", true);
    messages.add(...of(6, 7));
    messages.keep(3);
    expect([shown(messages), messages.hasGap]).toEqual([[3, 6, 7], true]);
    messages.keep(2);
    expect([shown(messages), messages.hasGap]).toEqual([[6, 7], false]);
  });
});
