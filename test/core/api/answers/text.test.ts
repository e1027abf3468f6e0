import { describe, expect, it } from "vitest";
import {
  commandAnswer,
  commandAnswers,
  encodeAnswer,
  encodeError,
  encodeLines,
  encodeReplies,
  headerDetail,
} from "../../../../src/api/answers.ts";
import type { ApiCommand, Entry } from "../../../../src/api/command.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";

const entry: Entry = { outcome: "call", channel: "a", command: { method: "presence" } };
const presence: ApiCommand = { form: "single", method: "presence", entry };
const broadcast: ApiCommand = { form: "broadcast", entries: [entry, entry] };
const failure = { error: errorCodes.unknownChannel, detail: "for people" };

describe("an answer's text", () => {
  it("[W1] has the result exactly as the object wrote it", () => {
    expect(encodeAnswer({ result: `{"n":1.00,"n":12345678901234567890}` })).toBe(
      `{"result":{"n":1.00,"n":12345678901234567890}}`,
    );
  });

  it("[W1] has code and message of an error and nothing else", () => {
    expect(encodeAnswer({ error: errorCodes.internal, detail: "for people" })).toBe(
      `{"error":{"code":100,"message":"internal server error"}}`,
    );
    expect(encodeError({ error: errorCodes.badRequest })).toBe(
      `{"code":107,"message":"bad request"}`,
    );
  });

  it("[W12] has the detail of an error, also in a list, where that is asked for", () => {
    const answer = { error: errorCodes.internal, detail: "for people" };
    const written = `{"code":100,"message":"internal server error","detail":"for people"}`;
    expect(encodeError(answer, true)).toBe(written);
    expect(encodeAnswer(commandAnswer(broadcast, [answer], true), true)).toBe(
      `{"result":{"responses":[{"error":${written}}]}}`,
    );
    expect(encodeLines([7], [answer], true)).toBe(`{"id":7,"error":${written}}\n`);
    expect(encodeReplies([presence], [answer], true)).toBe(`{"replies":[{"error":${written}}]}`);
    expect(encodeError({ error: errorCodes.internal }, true)).not.toContain("detail");
  });

  it("[W3] lists a broadcast's answers in order", () => {
    expect(encodeAnswer(commandAnswer(broadcast, [{ result: `{"offset":1}` }, failure]))).toBe(
      `{"result":{"responses":[{"result":{"offset":1}},{"error":{"code":102,"message":"unknown channel"}}]}}`,
    );
  });

  it("[W1] has no result around a batch's replies, but the methods' names in them", () => {
    const answers = [{ result: "1" }, { result: "2" }, { result: "3" }, failure];
    expect(encodeReplies([presence, broadcast, presence], answers)).toBe(
      `{"replies":[{"presence":1},{"broadcast":{"responses":[{"result":2},{"result":3}]}},{"error":{"code":102,"message":"unknown channel"}}]}`,
    );
    expect(encodeReplies([], [])).toBe(`{"replies":[]}`);
  });

  it("[W1] is a line with its command's id in the legacy form", () => {
    const answers = commandAnswers([presence, presence], [{ result: "{}" }, failure]);
    expect(encodeLines([1, 7], answers)).toBe(
      `{"id":1,"result":{}}\n{"id":7,"error":{"code":102,"message":"unknown channel"}}\n`,
    );
  });
});

describe("a detail in a header", () => {
  it("[W1] is one line of printable ASCII", () => {
    expect(headerDetail("a\r\nSet-Cookie: é\u{1f600}\t~ \u007f")).toBe("a??Set-Cookie: ????~ ?");
  });

  it("[B1] has at most 200 characters", () => {
    expect(headerDetail("x".repeat(1_000))).toHaveLength(200);
  });
});
