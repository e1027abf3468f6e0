import { describe, expect, it } from "vitest";
import {
  answeredChange,
  changeNote,
  changesOf,
  hasNoPayload,
} from "../../../workers/page/changes.ts";

const erased = (count: number) =>
  ({ outcome: "result", result: { offset: 9, erased: count } }) as const;
const unchanged = (reason: string) =>
  ({ outcome: "result", result: { offset: 9, version: 7, suppress_reason: reason } }) as const;
const failed = (code: number) =>
  ({ outcome: "failed", message: `as it came ${code}`, code }) as const;

const at = { "dormouse.at": "1", "dormouse.by": "mo" };
const version = (number: number) => ({ ...at, "dormouse.version": String(number) });

describe("what the console says of changed publications", () => {
  it.each([
    [{}, "", false, "edit delete erase"],
    [{ "dormouse.updated": "5", ...version(2) }, "Edited by mo", false, "edit delete erase"],
    [
      { "dormouse.deleted": "5", ...version(2), "dormouse.reason": "spam" },
      "Deleted by mo",
      true,
      "erase",
    ],
    [{ "dormouse.erased": "5", ...version(2) }, "Erased by mo", true, ""],
    [{ "dormouse.update": "1", ...version(2) }, "Edits 1 by mo", false, ""],
    [{ "dormouse.replaced": "9" }, "An edit that 9 has replaced", true, ""],
    [
      { "dormouse.delete": "1", ...version(2), "dormouse.reason": "spam" },
      "Deletes 1 by mo",
      true,
      "",
    ],
    [{ "dormouse.erase": "1,3-7", ...at }, "Erases 1, 3-7 by mo", true, ""],
  ] as const)("[N31] tags %j", (tags, note, isEmpty, changes) => {
    const publication = { offset: 1, data: "x", tags };
    expect(changeNote(publication)).toMatch(new RegExp(`^${note}`));
    expect(changeNote(publication).endsWith(": spam")).toBe("dormouse.reason" in tags);
    expect(hasNoPayload(publication)).toBe(isEmpty);
    expect(changesOf(publication).join(" ")).toBe(changes);
  });

  it("[N31] bytes have no field in which they could be edited", () => {
    expect(changesOf({ offset: 1 })).toEqual(["delete", "erase"]);
  });

  const seen = { offset: 4, data: "x", tags: version(2) };
  it.each([
    [unchanged("version_mismatch"), "failed", "it has version 7 now, and you saw version 2"],
    [unchanged("not_found"), "failed", "The history doesn't keep publication 4 any more."],
    [unchanged("deleted"), "failed", "has been deleted or erased meanwhile"],
    [failed(112), "failed", "The history has begun anew"],
    [failed(108), "failed", "allow_change isn't set"],
    [failed(100), "failed", "Ask again until it is"],
    [failed(107), "failed", "as it came 107"],
    [erased(0), "failed", "Nothing of publication 4 is left to erase."],
    [erased(1), "result", "Publication 4 is erased everywhere."],
  ] as const)("[N31] answer %j", (answer, outcome, sentence) => {
    const answered = answeredChange(answer, seen);
    expect(answered.outcome).toBe(outcome);
    expect(JSON.stringify(answered)).toContain(sentence);
  });
});
