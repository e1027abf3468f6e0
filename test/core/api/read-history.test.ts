import { describe, expect, it } from "vitest";
import { parseEntry } from "../../../src/api/methods.ts";
import { caller } from "./channel-config.ts";

const backend = caller();
const parse = (request: string) => parseEntry("history", request, backend);

describe("a history request", () => {
  it.each([
    [`{"channel":"news"}`, { limit: 0, reverse: false }],
    [`{"channel":"news","limit":null,"since":null,"reverse":null}`, { limit: 0, reverse: false }],
    [`{"channel":"news","limit":-1}`, { limit: -1, reverse: false }],
    [
      `{"channel":"news","limit":10,"since":{"offset":4,"epoch":"e"},"reverse":true}`,
      { limit: 10, since: { offset: 4, epoch: "e" }, reverse: true },
    ],
    [
      `{"channel":"news","since":{}}`,
      { limit: 0, since: { offset: 0, epoch: "" }, reverse: false },
    ],
    [`{"channel":"news","limit":2147483647,"reverse":true}`, { limit: 2147483647, reverse: true }],
  ])("[W1] %s asks for what it says", (request, query) => {
    expect(parse(request)).toStrictEqual({
      outcome: "call",
      channel: "news",
      command: { method: "history", request: query },
    });
  });

  it.each([
    [`{"limit":1}`, 107, "channel is required"],
    [`{"channel":"strange:a"}`, 102, "channel.namespaces doesn't have strange"],
    [`{"channel":"news","limit":-2}`, 107, "limit must be -1 or more"],
    [
      `{"channel":"news","limit":1,"reverse":true,"since":{"epoch":"e"}}`,
      107,
      "since.offset must be above 0 when reverse is set",
    ],
  ])("[W1] %s is refused", (request, code, detail) => {
    expect(parse(request)).toMatchObject({ outcome: "refused", error: { code }, detail });
  });

  it.each([
    [`{"channel":"news","limit":2147483648}`, "the field limit must be a 32 bit integer"],
    [`{"channel":"news","since":{"epoch":1}}`, "the field since.epoch must be a string"],
    [
      `{"channel":"news","since":{"offset":-1}}`,
      "the field since.offset must be an unsigned 64 bit integer",
    ],
  ])("[W4] %s is malformed", (request, detail) => {
    expect(parse(request)).toStrictEqual({ outcome: "malformed", detail });
  });
});
