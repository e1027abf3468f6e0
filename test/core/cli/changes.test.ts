import { describe, expect, it } from "vitest";
import { runWith } from "./answering-server.ts";

const changed = { offset: 13, epoch: "e", version: 2 };

describe("a change from the command line", () => {
  it.each([
    [
      ["edit", "room:7", "12", '{"a":1.50}', "--tag", "kind=note", "--if-version", "1"],
      "update_publication",
      { channel: "room:7", offset: 12, if_version: 1, data: { a: 1.5 }, tags: { kind: "note" } },
      "12 is edited, version 2: 13:e",
    ],
    [
      ["edit", "room:7", "12", "hello", "--text", "--key", "k", "--epoch", "e"],
      "update_publication",
      { channel: "room:7", offset: 12, epoch: "e", idempotency_key: "k", data: "hello" },
      "12 is edited, version 2: 13:e",
    ],
    [
      ["delete", "room:7", "12", "--reason", "spam"],
      "delete_publication",
      { channel: "room:7", offset: 12, reason: "spam" },
      "12 is deleted, version 2: 13:e",
    ],
  ])("asks the API: %j", async (args, method, params, expected) => {
    const { asked, printed, code } = await runWith(changed, ...args);
    expect(asked).toStrictEqual([[`/api/${method}`, params]]);
    expect(printed).toBe(expected);
    expect(code).toBe(0);
  });

  it("says why nothing was changed, with the exit code 1", async () => {
    const refused = { ...changed, suppressed: true, suppress_reason: "version_mismatch" };
    const { printed, code } = await runWith(refused, "delete", "a", "12", "--if-version", "1");
    expect(printed).toBe("12 is not changed: version_mismatch, its version is 2");
    expect(code).toBe(1);
  });

  it("prints the answer as JSON", async () => {
    const { printed } = await runWith(changed, "edit", "a", "12", "1", "--json");
    expect(JSON.parse(printed)).toStrictEqual(changed);
  });
});

describe("an erasure from the command line", () => {
  it.each([
    [["erase", "room:7", "12"], { channel: "room:7", offset: 12 }],
    [["erase", "room:7", "--user", "ada"], { channel: "room:7", user: "ada" }],
    [
      ["erase", "room:7", "12", "--user", "ada", "--epoch", "e"],
      { channel: "room:7", offset: 12, user: "ada", epoch: "e" },
    ],
  ])("asks the API: %j", async (args, params) => {
    const { asked, printed, code } = await runWith({ offset: 9, epoch: "e", erased: 3 }, ...args);
    expect(asked).toStrictEqual([["/api/erase", params]]);
    expect(printed).toBe("room:7: 3 erased");
    expect(code).toBe(0);
  });

  it("needs an offset or a user", async () => {
    const { asked, code } = await runWith({}, "erase", "room:7");
    expect([asked, code]).toStrictEqual([[], 2]);
  });

  it("of a user's publications everywhere names what wasn't searched", async () => {
    const result = { unsearched: ["", "news"], incomplete: true };
    const { asked, printed } = await runWith(result, "forget", "ada", "--publications");
    expect(asked).toStrictEqual([["/api/forget_user", { user: "ada", publications: true }]]);
    expect(printed.split("\n")).toStrictEqual([
      "ada is forgotten",
      "namespaces that weren't searched: channels without one, news",
      "the user has published to more channels than are known",
    ]);
    const without = await runWith({}, "forget", "ada");
    expect(without.asked).toStrictEqual([["/api/forget_user", { user: "ada" }]]);
    expect(without.printed).toBe("ada is forgotten");
  });
});
