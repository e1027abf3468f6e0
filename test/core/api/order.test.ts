import { describe, expect, it } from "vitest";
import { availableEntry } from "../../../src/api/order.ts";
import { planCalls } from "../../../src/api/calls.ts";
import { parseEntry } from "../../../src/api/methods.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const disconnect = (request: object) => parseEntry("disconnect", JSON.stringify(request), caller());
const forced = { code: 3503, reason: "force disconnect" };

describe("a disconnect request", () => {
  it("[U1] names a user, and may name one of the user's connections", () => {
    expect(disconnect({ user: "ada" })).toStrictEqual({
      outcome: "order",
      user: "ada",
      order: { method: "disconnect", code: forced },
    });
    const narrow = { user: "ada", client: "c1", session: "s1", whitelist: ["c2"] };
    expect(disconnect(narrow)).toMatchObject({
      order: { client: "c1", session: "s1", whitelist: ["c2"] },
    });
  });

  it.each([
    [
      { code: 4321, reason: "no more" },
      { code: 4321, reason: "no more" },
    ],
    [{ code: 3000 }, { code: 3000, reason: "" }],
    [{ code: 4999 }, { code: 4999, reason: "" }],
    [{ reason: "no more" }, { code: 3503, reason: "no more" }],
    [{}, forced],
    [null, forced],
  ])("[U1] takes the code %j", (asked, code) => {
    expect(disconnect({ user: "ada", disconnect: asked })).toMatchObject({ order: { code } });
  });

  it.each([
    [{ disconnect: { code: 2999 } }, "disconnect.code must be 3000 to 4999"],
    [{ disconnect: { code: 5000 } }, "disconnect.code must be 3000 to 4999"],
    [{ disconnect: { reason: "é".repeat(62) } }, "disconnect.reason has more than 123 bytes"],
    [{ disconnect: { reason: "123" } }, "disconnect.reason must not be valid JSON"],
    [
      { whitelist: Array.from({ length: limits.orderWhitelistMax + 1 }, () => "c") },
      "whitelist has more than 1000 entries",
    ],
    [{ user: "x".repeat(limits.userCharactersMax + 1) }, "user has more than 16384 characters"],
  ])("[B2] is answered 107 for %.60j", (more, detail) => {
    expect(disconnect({ user: "ada", ...more })).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
      detail,
    });
  });

  it("[B2] takes a reason of exactly the bytes that a close frame has room for", () => {
    const reason = `${"é".repeat(61)}x`;
    expect(disconnect({ user: "ada", disconnect: { reason } })).toMatchObject({
      order: { code: { reason } },
    });
    const whitelist = Array.from({ length: limits.orderWhitelistMax }, () => "c");
    expect(disconnect({ user: "ada", whitelist }).outcome).toBe("order");
    expect(disconnect({ user: "x".repeat(limits.userCharactersMax) }).outcome).toBe("order");
  });

  it("[A17] names what is wrong with the tags filter of a subscribe", () => {
    const filter = { key: "lang", cmp: "eq", val: "en" };
    expect(subscribe(filter)).toMatchObject({ order: { subscription: { serverFilter: filter } } });
    expect(subscribe(null)).toMatchObject({ outcome: "order" });
    expect(subscribe({ key: "lang", cmp: "nosuch" })).toMatchObject({
      error: { code: 107 },
      detail: "server_tags_filter is no valid filter",
    });
    expect(subscribe("text")).toMatchObject({ error: { code: 107 } });
  });

  it("[U6] without a user has to name one anonymous connection", () => {
    expect(disconnect({})).toMatchObject({ outcome: "refused", error: { code: 108 } });
    expect(disconnect({ client: "c1" })).toMatchObject({ outcome: "order", user: "" });
    expect(disconnect({ session: "s1" })).toMatchObject({ outcome: "order", user: "" });
  });

  it("[U5] is answered 108 where users have no homes", () => {
    const entry = disconnect({ user: "ada" });
    if (entry.outcome === "malformed") throw new Error(entry.detail);
    expect(availableEntry(entry, { enabled: true })).toBe(entry);
    expect(availableEntry(entry, { enabled: false })).toMatchObject({
      error: { code: 108 },
      detail: "client.users.enabled is false",
    });
  });
});

function subscribe(server_tags_filter: unknown) {
  const request = JSON.stringify({ user: "ada", channel: "news", server_tags_filter });
  return parseEntry("subscribe", request, caller());
}

function unsubscribe(user: string, channel: string) {
  const entry = parseEntry("unsubscribe", JSON.stringify({ user, channel }), caller());
  if (entry.outcome === "malformed") throw new Error(entry.detail);
  return entry;
}

describe("the orders of one request", () => {
  it("[W3] share a call for each user, in their order", () => {
    const entries = [unsubscribe("ada", "a"), unsubscribe("bob", "a"), unsubscribe("ada", "b")];
    const plan = planCalls(entries);
    if (plan.outcome === "refused") throw new Error(plan.detail);
    expect(plan.calls).toMatchObject([
      { user: "ada", orders: [{ channel: "a" }, { channel: "b" }], entryIndexes: [0, 2] },
      { user: "bob", orders: [{ channel: "a" }], entryIndexes: [1] },
    ]);
    expect(unsubscribe("ada", "unknown:a")).toMatchObject({ error: { code: 102 } });
  });
});
