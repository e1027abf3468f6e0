import { describe, expect, it } from "vitest";
import { planCalls } from "../../../src/api/calls.ts";
import type { Entry } from "../../../src/api/command.ts";
import { parseEntry } from "../../../src/api/methods.ts";
import { availableEntry } from "../../../src/api/order-methods.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const connections = (request: object, from = caller()) =>
  parseEntry("connections", JSON.stringify(request), from);
const asked: Entry = { outcome: "question", question: { method: "connections", user: "ada" } };

/** The entry of a request for a page. */
function page(method: "info" | "channels", limit?: number) {
  return parseEntry(method, JSON.stringify({ limit }), caller());
}

describe.each(["info", "channels"] as const)("a page of %s", (method) => {
  it("[B2] has as many entries as may be, and a request for more is answered 107", () => {
    for (const limit of [undefined, 0, limits.pageSizeMax])
      expect(page(method, limit)).toMatchObject({
        question: { page: { limit: limits.pageSizeMax } },
      });
    expect(page(method, limits.pageSizeMax + 1)).toMatchObject({
      error: { code: 107 },
      detail: `limit must be at most ${limits.pageSizeMax}`,
    });
  });
});

describe("a connections request", () => {
  it("[U20] names a user", () => {
    expect(connections({ user: "ada", expression: "" })).toStrictEqual(asked);
    for (const request of [{}, { user: "" }]) {
      expect(connections(request)).toMatchObject({
        error: { code: 107 },
        detail: "user is required",
      });
    }
  });

  it("[U20] refuses an expression by name", () => {
    expect(connections({ user: "ada", expression: "true" })).toMatchObject({
      error: { code: 107 },
      detail: "expression is not supported: connections are found by user alone",
    });
  });

  it("[B2] is answered 107 for a user whose ID is too long", () => {
    const longest = "x".repeat(limits.userCharactersMax);
    expect(connections({ user: longest })).toMatchObject({ outcome: "question" });
    expect(connections({ user: `${longest}x` })).toMatchObject({ error: { code: 107 } });
  });

  it("[U1] is answered 107 for a user whose ID isn't well-formed", () => {
    const detail = "user is not well-formed Unicode";
    expect(connections({ user: "a\uDC00" })).toMatchObject({ error: { code: 107 }, detail });
    expect(connections({ user: "a\u{1F600}" })).toMatchObject({ outcome: "question" });
  });

  it("[A14] is admitted by a key for all channels only", () => {
    const one = caller({ methods: ["connections"], channels: ["news"] });
    expect(connections({ user: "ada" }, one)).toMatchObject({ error: { code: 103 } });
    const other = caller({ methods: ["disconnect"], channels: ["*"] });
    expect(connections({ user: "ada" }, other)).toMatchObject({ error: { code: 103 } });
    const all = caller({ methods: ["connections"], channels: ["*"] });
    expect(connections({ user: "ada" }, all)).toStrictEqual(asked);
  });

  it("[U20] is answered 108 where users have no homes", () => {
    expect(availableEntry(asked, { enabled: true, status: false })).toBe(asked);
    const off = { enabled: false, status: false };
    expect(availableEntry(asked, off)).toMatchObject({ error: { code: 108 } });
  });

  it("[W3] has a call of its own in a batch", () => {
    const plan = planCalls([asked, asked]);
    if (plan.outcome !== "plan") throw new Error("refused");
    expect(plan.calls.map(({ entryIndexes }) => entryIndexes)).toStrictEqual([[0], [1]]);
    const tooMany = Array.from({ length: limits.requestChannelsMax + 1 }, () => asked);
    expect(planCalls(tooMany)).toMatchObject({ outcome: "refused", error: { code: 107 } });
  });
});
