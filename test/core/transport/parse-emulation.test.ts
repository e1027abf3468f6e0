import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEmulationRequest } from "../../../src/transport/emulation.ts";

describe("what a client posts", () => {
  it("[T4] is a frame for a session on a node", () => {
    const post = { session: "s", node: "channel:news", data: `{"id":1}\n{}` };
    expect(parseEmulationRequest(JSON.stringify({ more: 1, ...post }))).toStrictEqual(post);
  });

  it.each([
    "",
    "null",
    "[]",
    "1",
    "{}",
    `{"session":"s","node":"n"}`,
    `{"session":1,"node":"n","data":""}`,
  ])("[T4] is nothing else: %s", (text) => {
    expect(parseEmulationRequest(text)).toBeUndefined();
  });

  it("[T4] may be anything without harm", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseEmulationRequest(text)).toBeUndefined();
      }),
    );
  });
});
