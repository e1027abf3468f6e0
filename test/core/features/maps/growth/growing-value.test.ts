import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../../../src/protocol/json/text.ts";
import { GrowingValue } from "../../../../../src/features/maps/growth/growing-value.ts";

/** A value that grows, of a string that is there already. */
function valueOf(json: string): GrowingValue {
  const value = GrowingValue.of(parseJsonText(json), "");
  if (value === undefined) throw new Error("the value can't grow");
  return value;
}

describe("taking back what was appended to a value", () => {
  it("[Z40] takes it out of the text, and out of what wasn't settled", () => {
    const value = valueOf('"a"');
    value.append("b");
    const undo = value.save();
    value.append("lost");
    undo();
    value.append("c");
    expect(value.data).toBe('"abc"');
    expect(value.sinceSettled).toMatchObject({ text: "bc", at: 2 });
    value.settle();
    expect(value.sinceSettled).toMatchObject({ text: "" });
  });
});
