import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "./parsed.ts";

const withPattern = (pattern: string) => ({
  channel: { without_namespace: { channel_regex: pattern } },
});

describe("a pattern in the configuration", () => {
  it.each(["^([a-z]+)+$", "(a|aa)+", "^a*a*a*b$", "^[a-z]+$"])("[B9] may be %s", (pattern) => {
    const { channelRegex } = configOf(withPattern(pattern)).channel.withoutNamespace;
    expect(channelRegex?.test("aaa")).toBe(pattern !== "^a*a*a*b$");
  });

  it.each([
    ["a(?=b)", "has a lookaround, which is not supported"],
    [String.raw`(a)\1`, "has a backreference, which is not supported"],
    ["(", "is not a valid JavaScript regular expression"],
    ["a{9999}", "takes more than 2000 steps when its repetitions are written out"],
  ])("[A8] [B9] may not be %s, which is named", (pattern, problem) => {
    const [said, ...others] = problemsOf(withPattern(pattern));
    expect(said).toContain("channel.without_namespace.channel_regex");
    expect(said).toContain(problem);
    expect(others).toEqual([]);
  });
});
