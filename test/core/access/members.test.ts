import { describe, expect, it } from "vitest";
import { parseMembers } from "../../../src/access/members.ts";
import { parseSubscriptionClaims } from "../../../src/access/parse-claims.ts";
import { parseSubscribeResult } from "../../../src/features/hooks/response.ts";
import { limits } from "../../../src/limits.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";

const many = Array.from({ length: limits.membersNamedMax }, (_, index) => `u${index}`);

describe("[CU29] the members that a token or a backend names", () => {
  it("are read, each once", () => {
    expect(parseMembers({})).toStrictEqual({ outcome: "read" });
    expect(parseMembers({ members: [] })).toStrictEqual({ outcome: "read" });
    expect(parseMembers({ members: ["b", "a", "b"] })).toStrictEqual({
      outcome: "read",
      members: ["b", "a"],
    });
    expect(parseMembers({ members: many })).toStrictEqual({ outcome: "read", members: many });
  });

  it.each([
    ["ann"],
    [{}],
    [[5]],
    [[""]],
    [["\ud800"]],
    [["u".repeat(limits.userCharactersMax + 1)]],
    [[...many, "one more"]],
  ])("are refused, and not quoted: %#", (members) => {
    const parsed = parseMembers({ members });
    expect(parsed.outcome).toBe("invalid");
    const text = JSON.stringify({ sub: "ann", channel: "room", members });
    const rules = { userIdClaim: "sub" };
    const verdict = parseSubscriptionClaims(text, rules, 0);
    expect(verdict).toStrictEqual(parsed);
    expect(parseSubscribeResult(trustedJsonText(text))).toStrictEqual(parsed);
    expect(JSON.stringify(parsed)).not.toContain("one more");
  });

  it("are in the terms of a subscribe hook's result", () => {
    const result = parseSubscribeResult(trustedJsonText('{"members":["ann"]}'));
    expect(result).toMatchObject({ outcome: "read", terms: { members: ["ann"] } });
  });
});
