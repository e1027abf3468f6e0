import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { parsePollRequest } from "../../../src/transport/poll.ts";

function parse(query: string) {
  const parameters = new URLSearchParams(query);
  return parsePollRequest((name) => parameters.get(name) ?? undefined);
}

describe("a long poll's query", () => {
  it.each<[string, object]>([
    ["", { timeoutMs: 25_000 }],
    ["timeout=0", { timeoutMs: 0 }],
    [
      "timeout=55&offset=0",
      { timeoutMs: limits.pollSecondsMax * 1_000, since: { offset: 0, epoch: "" } },
    ],
    ["offset=7&epoch=abc", { timeoutMs: 25_000, since: { offset: 7, epoch: "abc" } }],
    [
      "offset=9007199254740991",
      { timeoutMs: 25_000, since: { offset: Number.MAX_SAFE_INTEGER, epoch: "" } },
    ],
  ])("[T9] is understood: %s", (query, request) => {
    expect(parse(query)).toStrictEqual({ outcome: "poll", request });
  });

  it.each([
    "offset=",
    "offset=-1",
    "offset=1e3",
    "offset=0x1",
    "offset=9007199254740992",
    "epoch=a",
  ])("[T9][W4] is refused rather than guessed: %s", (query) => {
    expect(parse(query).outcome).toBe("malformed");
  });

  it.each(["", "-1", "56", "1s", "025", "1.5"])(
    "[T9][W4] has a timeout up to 55 s, not %s",
    (text) => {
      const whole = text === "" ? "timeout=" : `timeout=${text}`;
      expect(parse(whole).outcome).toBe("malformed");
    },
  );
});
